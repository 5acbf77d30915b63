// Snapshot of a statement: both sides of `compare` read the same state of every table, although
// rows are stored meanwhile.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { toProjectId } from '../../src/platform/ids.js';
import { compile } from '../../src/query/compile.js';
import { settingsFor } from '../../src/query-api/execute.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const PROJECT = '01900000-0000-7000-8000-0000000000c0';
const NOW_MS = Date.parse('2026-11-20T09:30:00Z');
const DEVICES = 1000;

let databases: TestDatabases;
let clickhouse: ClickHouseClient;

// Ranges that overlap, because the others are read by one scan.
const QUERY = '* | last 14d | unique | compare 1w';

/** The same anonymous devices in both ranges. */
beforeAll(async () => {
  databases = await createTestDatabases();
  clickhouse = createClickHouse(databases.config);
  await clickhouse.command({
    query: `INSERT INTO events (project_id, event_type, time, insert_id, device_id)
      SELECT {project:UUID}, 'visit', toDateTime64('2026-11-19', 3, 'UTC') - toIntervalWeek(number % 2), toString(number),
        'd' || toString(intDiv(number, 2)) FROM numbers({events:UInt32})`,
    query_params: { project: PROJECT, events: DEVICES * 2 },
  });
});

afterAll(async () => {
  await clickhouse.close();
  await databases.close();
});

const mapDevice = (device: number): Promise<unknown> =>
  clickhouse.command({
    query: `INSERT INTO device_map (project_id, device_id, user_id, updated_at)
      SELECT {project:UUID}, {device:String}, 'ada', now64(6)`,
    query_params: { project: PROJECT, device: `d${device}` },
  });

/** ClickHouse waits before each snapshot of a table, while devices are mapped to Ada one by one. */
async function askWhileDevicesAreMapped(settings: Readonly<Record<string, number>>): Promise<unknown[]> {
  const { statement } = compile(QUERY, {
    projectId: toProjectId(PROJECT),
    nowMs: NOW_MS,
    timezone: 'UTC',
    limit: 100,
    offset: 0,
  });
  const share = { memoryBytes: 512 * 1024 * 1024, threads: undefined, niceValue: 0 };
  const answered = clickhouse.query({
    query: statement.sql,
    query_params: statement.params,
    format: 'JSONCompactEachRow',
    clickhouse_settings: { ...settingsFor(share, 30_000), merge_tree_storage_snapshot_sleep_ms: 500, ...settings },
  });
  let isAnswered = false;
  const rows = answered
    .then((result) => result.json<unknown[]>())
    .finally(() => {
      isAnswered = true;
    });
  for (let device = 0; device < DEVICES && !isAnswered; device += 1) {
    await Promise.all([mapDevice(device), delay(20)]);
  }
  const [row = []] = await rows;
  await clickhouse.command({ query: 'TRUNCATE TABLE device_map' });
  return row;
}

test('both sides of compare count the same people while devices are mapped', async () => {
  const [count, previous] = await askWhileDevicesAreMapped({});
  expect(count).toBeGreaterThan(0);
  expect(previous).toBe(count);
});

test('without the snapshot setting the two sides of compare differ', async () => {
  const [count, previous] = await askWhileDevicesAreMapped({ enable_shared_storage_snapshot_in_query: 0 });
  expect(previous).not.toBe(count);
});
