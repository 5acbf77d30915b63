// Redis in a backup: its append-only files up to the length that they have at the point in time.
// Redis only appends to the last of them and never changes the others, and cuts off a command that
// is not complete when it starts.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from '../../src/platform/redis/client.js';

/** Folder in the directory of Redis. */
const APPEND_FOLDER = 'appendonlydir';
const ATTEMPTS_MAX = 100;
// While the disk is slow, Redis replies before it writes, for two seconds at most.
const POSTPONED_MAX_MS = 2500;

/** Resolves when Redis has written everything to its file that it replied to before the call. */
export async function waitForWrites(redis: Redis): Promise<void> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < POSTPONED_MAX_MS) {
    if (/^aof_buffer_length:0\s*$/m.test(await redis.info('persistence'))) return;
    await delay(20);
  }
}

/** Copies the append-only files. `from` and `to` are directories of a Redis. */
export async function copyAppendOnlyFiles(from: string, to: string): Promise<void> {
  const source = join(from, APPEND_FOLDER);
  const target = join(to, APPEND_FOLDER);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (tryCopy(source, target)) return;
    await delay(100);
  }
  throw new Error(`the files of Redis in ${source} were replaced during ${ATTEMPTS_MAX} attempts to copy them`);
}

/** False when Redis has replaced its files meanwhile, which it lists in the manifest. */
function tryCopy(source: string, target: string): boolean {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true, mode: 0o700 });
  const manifest = readdirSync(source).find((name) => name.endsWith('.manifest'));
  if (manifest === undefined) return false;
  const listed = readFileSync(join(source, manifest), 'utf8');
  for (const [, name = ''] of listed.matchAll(/^file (\S+) /gm)) {
    const path = join(source, name);
    if (!existsSync(path)) return false;
    try {
      copyFileSync(path, join(target, name));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
      throw error;
    }
  }
  copyFileSync(join(source, manifest), join(target, manifest));
  return readFileSync(join(target, manifest), 'utf8') === listed;
}
