// Restores an archive into an empty data directory. Everything happens in a folder beside it, which
// is renamed when it is complete: an interrupted restore leaves no half of a directory, and the
// same command begins again.
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { messageOf } from '../../src/platform/errors.js';
import { withPostgres } from '../../src/platform/postgres/client.js';
import { applyMigrations } from '../../src/platform/postgres/migrate.js';
import { SERVICE_USER } from '../clickhouse-config.js';
import { BACKUPS_FOLDER, embeddedClickHouse } from '../clickhouse-server.js';
import {
  createFolder,
  type DataDirectory,
  openDataDirectory,
  readOrCreateSecrets,
  SECRETS_FILE,
} from '../data-directory.js';
import { InstanceLock, LOCK_FILE } from '../instance-lock.js';
import { ensureDatabase, ensureServiceRole, grantLogMaintenance } from '../postgres-accounts.js';
import { StartProblem } from '../problem.js';
import { say } from '../terminal.js';
import { readArchive } from './archive.js';
import {
  type BackupProgress,
  CLICKHOUSE_FOLDER,
  POSTGRES_FOLDER,
  PRIVATE_FILES,
  REDIS_FOLDER,
} from './back-up-running.js';
import { askEngineRows, type EngineAccess, runOperation } from './engine-backup.js';
import { nameShardsOfStopped } from './further-shards.js';
import { compareEvents, type Manifest, requireFiles, tryReadManifest } from './manifest.js';
import { loadRows } from './postgres-rows.js';
import { sizeOf } from './size-of.js';
import { postgresOf, whileRunning } from './temporary-engine.js';

export interface Restored {
  /** Undefined for the archive of a stopped service. */
  readonly manifest: Manifest | undefined;
  /** Names of the further ClickHouse servers whose data the archive lacks. */
  readonly missing: string | undefined;
}

export async function restoreArchive(
  directory: string,
  archive: string,
  { progress, signal }: BackupProgress,
): Promise<Restored> {
  if (!existsSync(archive)) throw new StartProblem(`${archive} does not exist.`);
  if (statSync(archive).isDirectory()) throw new StartProblem(`${archive} is a folder, not a backup.`);
  removeEmpty(directory);
  const work = `${directory}.restoring`;
  createFolder(work);
  const lock = await InstanceLock.take(work);
  try {
    for (const name of readdirSync(work)) {
      if (!name.startsWith(LOCK_FILE)) rmSync(join(work, name), { recursive: true });
    }
    const content = join(work, 'content');
    mkdirSync(content, { mode: 0o700 });
    await extract(archive, content, { progress, signal });
    const manifest = tryReadManifest(content);
    let complete = content;
    let missing: string | undefined;
    if (manifest === undefined) {
      requireDataDirectory(content, archive);
      missing = await nameShardsOfStopped(openDataDirectory(content), lock);
      signal.throwIfAborted();
    } else {
      await requireFiles(content, manifest);
      complete = join(work, 'data');
      await fillStores({ data: openDataDirectory(complete), content, manifest, lock }, { progress, signal });
    }
    renameSync(complete, directory);
    return { manifest, missing };
  } finally {
    lock.release();
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Makes room for the renamed folder. It runs before the work, so that a folder that cannot be
 * replaced is refused at once.
 */
function removeEmpty(directory: string): void {
  const stats = lstatSync(directory, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) {
    throw new StartProblem(
      `${directory} is a link, which a restore cannot replace; set DATA_DIR to the folder itself.`,
    );
  }
  if (readdirSync(directory).length > 0) {
    throw new StartProblem(`${directory} is not empty; set DATA_DIR to a folder that is empty or does not exist.`);
  }
  try {
    rmdirSync(directory);
  } catch (error) {
    const isMountPoint = error instanceof Error && 'code' in error && error.code === 'EBUSY';
    const reason = isMountPoint ? 'it is a mount point' : messageOf(error);
    throw new StartProblem(`${directory} cannot be replaced: ${reason}; set DATA_DIR to a new folder inside it.`, {
      cause: error,
    });
  }
}

async function extract(archive: string, folder: string, { progress, signal }: BackupProgress): Promise<void> {
  const total = statSync(archive).size;
  let done = 0;
  const onBytes = (bytes: number) => {
    done += bytes;
    progress.update({ step: `reading ${basename(archive)}`, done, total, unit: 'bytes' });
  };
  await readArchive(archive, folder, { onBytes, signal });
}

function requireDataDirectory(folder: string, archive: string): void {
  if (existsSync(join(folder, SECRETS_FILE))) return;
  throw new StartProblem(`${archive} is not a backup of this service.`);
}

interface Filling {
  readonly data: DataDirectory;
  /** Folder with the extracted content of the archive. */
  readonly content: string;
  readonly manifest: Manifest;
  readonly lock: InstanceLock;
}

async function fillStores(filling: Filling, shown: BackupProgress): Promise<void> {
  const { data, content } = filling;
  for (const name of PRIVATE_FILES) {
    if (existsSync(join(content, name))) renameSync(join(content, name), join(data.path, name));
  }
  renameSync(join(content, REDIS_FOLDER), data.redis);
  await fillPostgres(filling, shown);
  await fillClickHouse(filling, shown);
}

async function fillPostgres({ data, content, manifest, lock }: Filling, { progress, signal }: BackupProgress) {
  const { postgresServicePassword } = readOrCreateSecrets(data);
  const total = sum(Object.values(manifest.tables));
  let done = 0;
  const onRows = (rows: number) => {
    done += rows;
    progress.update({ step: 'filling PostgreSQL', done, total, unit: 'rows' });
  };
  await whileRunning(postgresOf(data), lock, async (server) => {
    const cluster = new URL(server.superuserUrl);
    cluster.pathname = '/postgres';
    await withPostgres({ DATABASE_URL: cluster.href }, async (postgres) => {
      await ensureServiceRole(postgres, postgresServicePassword);
      await ensureDatabase(postgres, new URL(server.url).pathname.slice(1));
    });
    await applyMigrations({ DATABASE_URL: server.url }, manifest.migrations);
    await withPostgres({ DATABASE_URL: server.superuserUrl }, async (postgres) => {
      await grantLogMaintenance(postgres);
      const rows = await loadRows(postgres, join(content, POSTGRES_FOLDER), {
        ...{ tables: Object.keys(manifest.tables), sequences: manifest.sequences, onRows, signal },
      });
      for (const [table, count] of Object.entries(manifest.tables)) {
        if (rows[table] === count) continue;
        throw new StartProblem(`The backup is damaged: ${table} has ${rows[table]} rows of ${count}.`);
      }
    });
  });
}

async function fillClickHouse({ data, content, manifest, lock }: Filling, { progress, signal }: BackupProgress) {
  const { database } = manifest.clickhouse;
  const { clickhousePassword: password } = readOrCreateSecrets(data);
  const backups = join(data.clickhouse, BACKUPS_FOLDER);
  mkdirSync(backups, { recursive: true, mode: 0o700 });
  renameSync(join(content, CLICKHOUSE_FOLDER), join(backups, CLICKHOUSE_FOLDER));
  const serverOn = (port: number) => ({
    ...embeddedClickHouse({ directory: data.clickhouse, port, password, database, isRestoring: true }),
    access: { url: `http://127.0.0.1:${port}`, user: SERVICE_USER, password } satisfies EngineAccess,
  });
  const total = sizeOf(backups);
  // Files that are linked, not copied, count as well.
  const onProgress = () =>
    progress.update({ step: 'filling ClickHouse', done: sizeOf(join(data.clickhouse, 'store')), total, unit: 'bytes' });
  await whileRunning(serverOn, lock, async ({ access }) => {
    await runOperation(access, `RESTORE DATABASE ${database} FROM File('${CLICKHOUSE_FOLDER}')`, {
      onProgress,
      signal,
    });
    const query = `SELECT count() AS events FROM ${database}.events FORMAT JSONEachRow`;
    const [row] = await askEngineRows<{ events: string }>(access, query);
    const remark = compareEvents(Number(row?.events ?? 0), manifest.clickhouse);
    if (remark === undefined) return;
    progress.clear();
    say(remark);
  });
  rmSync(backups, { recursive: true });
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
