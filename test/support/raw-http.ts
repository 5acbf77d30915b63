// Raw HTTP requests that no client library would send: odd paths, malformed headers, inconsistent
// bodies.
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** By lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends the bytes and reads until the connection closes. Rejects when there is no response. */
export function sendRaw(url: string, bytes: string, timeoutMs = 20_000): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'));
    let text = '';
    const timer = setTimeout(() => socket.destroy(new Error(`no end within ${timeoutMs} ms`)), timeoutMs);
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.once('error', reject);
    socket.once('close', () => {
      clearTimeout(timer);
      if (text === '') reject(new Error('the connection was closed without an answer'));
      else resolve(parseAnswer(text));
    });
  });
}

/** A request with an exact target, which is not normalized. */
export function sendTarget(
  url: string,
  request: { method: string; target: string; headers?: Readonly<Record<string, string>> },
): Promise<RawAnswer> {
  const { method, target, headers = {} } = request;
  const sent = { Host: 'localhost', Connection: 'close', 'Content-Length': '2', ...headers };
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  return sendRaw(url, `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n{}`);
}

function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status: Number(first.split(' ')[1]), headers: new Map(headers), body: text.slice(end + 4) };
}
