// Byte search over a folder that engines write: they create, rename and delete folders meanwhile.
// The recursive form of readdir fails when one is gone that it has just listed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Path and bytes of each file under a folder, without those that are gone when they are read. */
export function* readFilesUnder(folder: string): Generator<{ path: string; bytes: Buffer }> {
  for (const entry of unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* readFilesUnder(path);
    if (!entry.isFile()) continue;
    const bytes = unlessGone(() => readFileSync(path));
    if (bytes !== undefined) yield { path, bytes };
  }
}

function unlessGone<Read>(read: () => Read): Read | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return;
    throw error;
  }
}
