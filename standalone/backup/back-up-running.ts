// Backup of a running service. The stores are copied in the direction in which data flows: Redis,
// PostgreSQL, ClickHouse. What leaves one store while it is copied is in the next, and what is in
// two runs again after a restore, which writes equal rows. So everything accepted before the first
// copy is in the backup once; of what was accepted later, a part is.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { canaryProjectOf } from '../../src/ingest/canary.js';
import { FIRST_SHARD } from '../../src/platform/clickhouse/shards.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import type { StepProgress } from '../../src/platform/progress.js';
import { createRedis } from '../../src/platform/redis/client.js';
import { type DataDirectory, readOrCreateSecrets, requireAccountOf, SECRETS_FILE } from '../data-directory.js';
import { InstanceLock, LOCK_FILE } from '../instance-lock.js';
import { StartProblem } from '../problem.js';
import { writeArchive } from './archive.js';
import { type EmbeddedStores, findEmbeddedStores } from './embedded-stores.js';
import { askEngineRows, runOperation } from './engine-backup.js';
import { nameFurtherShards } from './further-shards.js';
import { engineStageOf, STAGE_FOLDER } from './left-copies.js';
import { digestFiles, MANIFEST_FILE, type Manifest, newManifest } from './manifest.js';
import { dumpRows, estimateRows, readSequences } from './postgres-rows.js';
import { copyAppendOnlyFiles, waitForWrites } from './redis-files.js';
import { sizeOf } from './size-of.js';

export const POSTGRES_FOLDER = 'postgres';
export const REDIS_FOLDER = 'redis';
export const CLICKHOUSE_FOLDER = 'clickhouse';
/** Of the data directory; archives hold them beside the stores. */
export const PRIVATE_FILES = [SECRETS_FILE, 'standalone.json'];

export interface BackupProgress {
  readonly progress: StepProgress;
  readonly signal: AbortSignal;
}

/** Writes the archive and verifies it. Resolves with its manifest. */
export async function backUpRunning(
  directory: DataDirectory,
  archive: string,
  { progress, signal }: BackupProgress,
): Promise<Manifest> {
  requireAccountOf(directory);
  const stores = findEmbeddedStores(directory, readOrCreateSecrets(directory));
  const stage = join(directory.path, STAGE_FOLDER);
  const engineStage = engineStageOf(directory);
  mkdirSync(stage, { recursive: true, mode: 0o700 });
  // One backup at a time; a killed one has left its files behind.
  const lock = await InstanceLock.take(stage);
  try {
    for (const name of readdirSync(stage)) {
      if (!name.startsWith(LOCK_FILE)) rmSync(join(stage, name), { recursive: true });
    }
    rmSync(engineStage, { recursive: true, force: true });
    const manifest = await copyStores({ directory, stores, stage, engineStage }, { progress, signal });
    writeFileSync(join(stage, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });

    const total = sizeOf(stage) + sizeOf(engineStage);
    let done = 0;
    const content = [
      ...['--exclude', `./${LOCK_FILE}`, '-C', stage, '.', '-C', engineStage, CLICKHOUSE_FOLDER],
      ...['-C', directory.path, ...PRIVATE_FILES.filter((name) => existsSync(join(directory.path, name)))],
    ];
    await writeArchive(archive, content, {
      onBytes: (bytes) => {
        done += bytes;
        progress.update({ step: `writing ${basename(archive)}`, done, total, unit: 'bytes' });
      },
      signal,
    });
    return manifest;
  } finally {
    lock.release();
    rmSync(stage, { recursive: true, force: true });
    rmSync(engineStage, { recursive: true, force: true });
  }
}

interface Copying {
  readonly directory: DataDirectory;
  readonly stores: EmbeddedStores;
  readonly stage: string;
  readonly engineStage: string;
}

async function copyStores(
  { directory, stores, stage, engineStage }: Copying,
  { progress, signal }: BackupProgress,
): Promise<Manifest> {
  const postgres = createPostgres(stores, { poolMax: 1 });
  const redis = createRedis(stores);
  redis.on('error', () => {});
  try {
    await requireOneShard(postgres);
    const point = new Date().toISOString();
    await waitForWrites(redis);
    await copyAppendOnlyFiles(directory.redis, join(stage, REDIS_FOLDER));

    mkdirSync(join(stage, POSTGRES_FOLDER), { mode: 0o700 });
    const expected = await estimateRows(postgres);
    let rows = 0;
    const onRows = (count: number) => {
      rows += count;
      progress.update({ step: 'copying PostgreSQL', done: rows, total: Math.max(expected, rows), unit: 'rows' });
    };
    const tables = await dumpRows(postgres, join(stage, POSTGRES_FOLDER), { onRows, signal });
    const migrations = await postgres('schema_migrations').orderBy('id').pluck<string[]>('name');

    const eventsBefore = await countEvents(stores);
    const total = await sizeOfParts(stores);
    await runOperation(stores.clickhouseBackup, `BACKUP DATABASE ${stores.database} TO File('${CLICKHOUSE_FOLDER}')`, {
      onProgress: () =>
        progress.update({ step: 'copying ClickHouse', done: sizeOf(engineStage), total, unit: 'bytes' }),
      signal,
    });
    return newManifest({
      ...{ point, migrations, tables },
      sequences: await readSequences(postgres),
      // Erasure and keeping may have deleted some meanwhile.
      clickhouse: { database: stores.database, events: Math.min(eventsBefore, await countEvents(stores)) },
      files: await digestFiles(stage),
    });
  } finally {
    redis.disconnect();
    await postgres.destroy();
  }
}

/** Projects on further ClickHouse servers would not be in the backup. */
async function requireOneShard(postgres: Postgres): Promise<void> {
  const shards = await nameFurtherShards(postgres);
  if (shards === undefined) return;
  throw new StartProblem(
    `The file would have no data of ${shards}. Stop the service, run npm run backup again, and copy the other servers ` +
      'by BACKUP DATABASE before it starts (ops/runbooks/backup.md).',
  );
}

/** Without those that the service sends itself, which no query counts. */
async function countEvents({ clickhouse, database }: EmbeddedStores): Promise<number> {
  const isOfProject = `project_id != '${canaryProjectOf(FIRST_SHARD)}'`;
  const query = `SELECT count() AS events FROM ${database}.events WHERE ${isOfProject} FORMAT JSONEachRow`;
  const [row] = await askEngineRows<{ events: string }>(clickhouse, query);
  return Number(row?.events ?? 0);
}

async function sizeOfParts({ clickhouse, database }: EmbeddedStores): Promise<number> {
  const query = `SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = '${database}' FORMAT JSONEachRow`;
  const [row] = await askEngineRows<{ bytes: string }>(clickhouse, query);
  return Number(row?.bytes ?? 0);
}
