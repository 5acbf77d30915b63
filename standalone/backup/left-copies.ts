// Copies of the stores that a killed backup has left in the data directory. They have people's
// data, also of those who are erased later, and take as much room as the data.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { BACKUPS_FOLDER } from '../clickhouse-server.js';
import type { DataDirectory } from '../data-directory.js';
import { tryReadLock } from '../instance-lock.js';
import { isRunning } from '../process-identity.js';

/** In the data directory, while a backup is written; with a lock of its own. */
export const STAGE_FOLDER = 'backup.unfinished';

/** Where ClickHouse writes its own copy. */
export const engineStageOf = ({ clickhouse }: DataDirectory): string => join(clickhouse, BACKUPS_FOLDER);

/** Leaves those of a running backup alone. */
export function removeLeftCopies(directory: DataDirectory): void {
  const stage = join(directory.path, STAGE_FOLDER);
  const lock = tryReadLock(stage);
  if (lock !== undefined && isRunning(lock.holder)) return;
  for (const copy of [engineStageOf(directory), stage]) {
    try {
      rmSync(copy, { recursive: true, force: true });
    } catch {
      // Of another account, or in use. The start goes on, and says itself whose folder it is.
    }
  }
}
