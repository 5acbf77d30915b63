// Binary bodies of inserts as files, because the engine reads these formats from files only. In memory where the machine
// offers it and there is room, else beside the data.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const MEMORY_FILES = '/dev/shm';

export class StagingFolder {
  /** In order of preference. */
  readonly #folders: readonly string[];

  private constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  static async open(engineDirectory: string): Promise<StagingFolder> {
    const directory = resolve(engineDirectory);
    const name = `event-analytics-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`;
    const folders = [join(directory, 'staging')];
    if (existsSync(MEMORY_FILES)) folders.unshift(join(MEMORY_FILES, name));
    for (const folder of folders) {
      // One process at a time has this engine directory, so whatever is here was left by a crash.
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    return new StagingFolder(folders);
  }

  /** Lends a file with these bytes to `use`, and removes it. */
  async withFile<T>(bytes: Buffer, use: (path: string) => Promise<T>): Promise<T> {
    const path = await this.#write(bytes);
    try {
      return await use(path);
    } finally {
      await rm(path, { force: true });
    }
  }

  async close(): Promise<void> {
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }

  async #write(bytes: Buffer): Promise<string> {
    let problem: unknown;
    for (const folder of this.#folders) {
      const path = join(folder, randomUUID());
      try {
        await writeFile(path, bytes, { mode: 0o600 });
        return path;
      } catch (error) {
        // A container's /dev/shm is often only 64 MB.
        await rm(path, { force: true });
        problem = error;
      }
    }
    throw new Error('the body of an insert could not be written to a file', { cause: problem });
  }
}
