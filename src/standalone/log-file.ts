// The log of one child process: a file of bounded size, the last of which are kept under `.1`, `.2`.
import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';

const FILE_BYTES_MAX = 10 * 1024 * 1024;
const FILES_KEPT = 3;

export class LogFile {
  readonly #path: string;
  #stream: WriteStream;
  #bytes: number;

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true });
    this.#path = path;
    this.#bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    this.#stream = this.#open();
  }

  write(line: string): void {
    if (this.#bytes > FILE_BYTES_MAX) this.#rotate();
    this.#bytes += Buffer.byteLength(line) + 1;
    this.#stream.write(`${line}\n`);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#stream.end(resolve));
  }

  #rotate(): void {
    this.#stream.end();
    for (let number = FILES_KEPT - 1; number >= 1; number -= 1) {
      const from = number === 1 ? this.#path : `${this.#path}.${number - 1}`;
      if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${this.#path}.${number}`);
    }
    this.#bytes = 0;
    this.#stream = this.#open();
  }

  #open(): WriteStream {
    // A full disk must not take the supervisor with it: the line is lost, the processes go on.
    return createWriteStream(this.#path, { flags: 'a', mode: 0o600 }).on('error', () => undefined);
  }
}
