// The embedded ClickHouse and its disk: what is on it when an insert is answered, and what happens
// when it is full.
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { tryMountSmallDisk } from '../../faults/inject.js';
import { createClickHouse, rowsOf } from '../../src/platform/clickhouse/client.js';
import { FAILED_WRITE } from '../../src/platform/clickhouse/failed-writes.js';
import { createDatabase } from '../../src/platform/clickhouse/migrate.js';
import { insertWithQueryIdLock } from '../../src/platform/clickhouse/query-id-lock.js';
import { runOperation } from '../../standalone/backup/engine-backup.js';
import { BACKUP_USER } from '../../standalone/clickhouse-config.js';
import { type EmbeddedClickHouse, embeddedClickHouse } from '../../standalone/clickhouse-server.js';
import { findFreePort } from '../../standalone/free-port.js';
import { SupervisedProcess } from '../../standalone/supervised-process.js';
import { eventually } from '../support/eventually.js';

const DISK_MEBIBYTES = 500;
const password = 'password';
const folder = mkdtempSync(join(tmpdir(), 'event-analytics-failed-writes-'));
const disk = tryMountSmallDisk(folder, DISK_MEBIBYTES);
const filler = join(folder, 'filler');

let engine: EmbeddedClickHouse;
let server: SupervisedProcess;
let client: ClickHouseClient;
let isWatched = false;
/** Reasons of the restarts. */
let reasons: string[] = [];

beforeAll(async () => {
  const directory = join(folder, 'clickhouse');
  const port = await findFreePort();
  engine = embeddedClickHouse({ directory, port, password, backupPassword: 'backup', database: 'analytics' });
  const liveness = engine.spec.liveness;
  if (liveness === undefined) throw new Error('ClickHouse is not watched.');
  const check = async (timeoutMs: number) => (isWatched ? liveness.check(timeoutMs) : undefined);
  server = new SupervisedProcess(
    { ...engine.spec, liveness: { ...liveness, intervalMs: 100, check } },
    { line: () => {}, started: () => {}, ended: () => {}, restarting: (_name, reason) => reasons.push(reason) },
  );
  await server.start();
  await createDatabase(engine.url, 'analytics');
  client = createClickHouse({ CLICKHOUSE_URL: engine.url, CLICKHOUSE_DATABASE: 'analytics' });
  await client.command({ query: 'CREATE TABLE numbers (n UInt8) ENGINE = MergeTree ORDER BY n' });
});

// A first attempt may have ended anywhere.
beforeEach(() => {
  isWatched = false;
  reasons = [];
  rmSync(filler, { recursive: true, force: true });
});

afterAll(async () => {
  await client.close();
  await server.stop();
  disk?.unmount();
  rmSync(folder, { recursive: true, force: true });
});

const insert = (): Promise<void> =>
  // A block of one column `n` of type UInt8 with one row, 7.
  insertWithQueryIdLock(client, {
    table: 'numbers',
    queryId: 'insert',
    bytes: Buffer.from('\x01\x01\x01n\x05UInt8\x07', 'latin1'),
  });

async function ask(query: string): Promise<number> {
  const [row] = await rowsOf<{ n: string }>(client, query);
  return Number(row?.n);
}
const count = () => ask('SELECT count() AS n FROM numbers');
const countSynced = () => ask("SELECT sum(value) AS n FROM system.events WHERE event = 'FileSync'");

/** Fills the disk but for so many bytes. */
function fill(leftBytes: number): void {
  mkdirSync(filler, { recursive: true });
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(filler, `${leftBytes}`), Buffer.alloc(bavail * bsize - leftBytes));
}

test('an insert is on the disk when it is answered', async () => {
  const before = await countSynced();
  await insert();
  expect(await countSynced()).toBeGreaterThan(before);
});

// Only root may mount the disk.
describe.skipIf(disk === undefined)('ClickHouse on a disk that fills', () => {
  test('refuses an insert while less than 256 MiB are left', async () => {
    const before = await count();
    await insert();
    fill(250 << 20);
    await expect(insert()).rejects.toMatchObject({ code: '243' });
    rmSync(filler, { recursive: true });
    await insert();
    expect(await count()).toBe(before + 2);
  });

  test('neither an insert nor a backup counts as done after a failed write, and it starts again without', async () => {
    fill(0);
    await client.command({
      query: 'ALTER TABLE numbers DELETE WHERE n = 8',
      clickhouse_settings: { mutations_sync: '0' },
    });
    rmSync(filler, { recursive: true });
    await expect(insert()).rejects.toThrow(FAILED_WRITE);
    const access = { url: new URL(engine.url).origin, user: BACKUP_USER, password: 'backup' };
    const waiting = { onProgress: () => {}, signal: AbortSignal.timeout(60_000) };
    await expect(runOperation(access, "BACKUP DATABASE analytics TO File('copy')", waiting)).rejects.toThrow(
      FAILED_WRITE,
    );
    isWatched = true;
    await eventually(() => expect(reasons).toEqual([FAILED_WRITE]));
    await eventually(() => insert());
    expect(reasons).toEqual([FAILED_WRITE]);
  });
});
