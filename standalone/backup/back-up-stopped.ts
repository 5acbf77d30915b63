// Backup of a stopped service: the files of its data directory, whose lock is taken meanwhile. The
// data of further ClickHouse servers is not there.
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BACKUPS_FOLDER } from '../clickhouse-server.js';
import { type DataDirectory, requireAccountOf } from '../data-directory.js';
import { InstanceLock, LOCK_FILE } from '../instance-lock.js';
import { StartProblem } from '../problem.js';
import { writeArchive } from './archive.js';
import type { BackupProgress } from './back-up-running.js';
import { nameShardsOfStopped } from './further-shards.js';
import { STAGE_FOLDER } from './left-copies.js';

const LEFT_OUT = ['logs', LOCK_FILE, STAGE_FOLDER, join('clickhouse', BACKUPS_FOLDER)];

/** Resolves with the names of the further ClickHouse servers, undefined when there are none. */
export async function backUpStopped(
  directory: DataDirectory,
  archive: string,
  { progress, signal }: BackupProgress,
): Promise<string | undefined> {
  requireAccountOf(directory);
  if (archive.startsWith(join(directory.path, '/'))) {
    throw new StartProblem(`${archive} is in ${directory.path}, all of which it would contain: name a file elsewhere.`);
  }
  requireNoLinks(directory);
  const lock = await InstanceLock.take(directory.path);
  try {
    const missing = await nameShardsOfStopped(directory, lock);
    const total = sizeOf(directory.path);
    let done = 0;
    const onBytes = (bytes: number) => {
      done += bytes;
      progress.update({ step: `writing ${basename(archive)}`, done, total, unit: 'bytes' });
    };
    const excluded = LEFT_OUT.flatMap((name) => ['--exclude', `./${name}`]);
    await writeArchive(archive, [...excluded, '-C', directory.path, '.'], { onBytes, signal });
    return missing;
  } finally {
    lock.release();
  }
}

/** The archive would contain the link, not the data behind it. */
function requireNoLinks({ postgres, redis, clickhouse }: DataDirectory): void {
  const link = [postgres, redis, clickhouse].find((path) =>
    lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink(),
  );
  if (link === undefined) return;
  throw new StartProblem(`${link} is a link, whose data the file would lack: run the backup while the service runs.`);
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !LEFT_OUT.some((left) => name === left || name.startsWith(`${left}/`)))
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false }))
    .reduce((sum, stats) => sum + (stats?.isFile() ? stats.size : 0), 0);
