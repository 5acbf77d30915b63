// Log file of a child process with size-based rotation; the previous files are kept as `.1` and
// `.2`.
import { closeSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const FILE_BYTES_MAX = 10 * 1024 * 1024;
const FILES_KEPT = 3;

export class LogFile {
  readonly #path: string;
  #file: number;
  #bytes: number;

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.#path = path;
    this.#bytes = sizeOf(path) ?? 0;
    this.#file = openSync(path, 'a', 0o600);
  }

  /** Synchronous, so that the last lines are written even when the supervisor is killed. */
  write(line: string): void {
    try {
      if (this.#bytes > FILE_BYTES_MAX) this.#rotate();
      this.#bytes += writeSync(this.#file, `${line}\n`);
    } catch {
      // A full disk must not stop the supervisor: the line is lost.
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  /**
   * Closes the file last: when a step fails, its descriptor still belongs to this log, and the next
   * line tries again.
   */
  #rotate(): void {
    for (let number = FILES_KEPT - 1; number >= 1; number -= 1) {
      const from = number === 1 ? this.#path : `${this.#path}.${number - 1}`;
      if (sizeOf(from) !== undefined) renameSync(from, `${this.#path}.${number}`);
    }
    const full = this.#file;
    this.#file = openSync(this.#path, 'a', 0o600);
    this.#bytes = 0;
    closeSync(full);
  }
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;
