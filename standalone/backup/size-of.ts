// Size of a folder that an engine writes, for progress: it creates, renames and deletes folders
// meanwhile. The recursive form of readdir fails when one is gone that it has just listed.
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of all files under a folder; 0 when there is none. */
export function sizeOf(folder: string): number {
  let bytes = 0;
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += sizeOf(path);
    else if (entry.isFile()) bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return [];
    throw error;
  }
}
