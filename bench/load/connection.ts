// Minimal HTTP client: one keep-alive connection that sends prepared bytes and reads responses. A
// client library would use as much CPU as the service, on a machine with two cores.
import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * States: idle → waiting for one response → idle, or closed. Closing rejects the pending response.
 */
export class Connection {
  readonly #socket: Socket;
  #received = '';
  #waiting: { resolve(answer: Answer): void; reject(cause: Error): void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    // The service answers in ASCII, so one character is one byte of Content-Length.
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#receive(text));
    socket.on('error', (cause) => this.#fail(cause));
    socket.on('close', () => this.#fail(new Error('the connection was closed')));
  }

  static open(host: string, port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, host);
      socket.once('error', reject);
      socket.once('connect', () => resolve(new Connection(socket)));
    });
  }

  exchange(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1] ?? 0);
    const end = headEnd + 4 + length;
    if (this.#received.length < end) return;
    const answer = { status: Number(this.#received.slice(9, 12)), body: this.#received.slice(headEnd + 4, end) };
    this.#received = this.#received.slice(end);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(answer);
  }

  #fail(cause: Error): void {
    this.#waiting?.reject(cause);
    this.#waiting = undefined;
  }
}
