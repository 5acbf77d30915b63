// Backup of a running and of a stopped service, and restore into an empty folder: keys, events,
// profiles and queued jobs are the same, each event counts once, and nothing is left after Ctrl-C.
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { canaryProjectOf } from '../../src/ingest/canary.js';
import { FIRST_SHARD } from '../../src/platform/clickhouse/shards.js';
import { packageRoot, SERVICE_ENVIRONMENT_FILE } from '../../src/platform/paths.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { formatCount } from '../../src/platform/progress.js';
import { registerShard } from '../../src/shards/store.js';
import { basicAuthorization } from '../../standalone/clickhouse-config.js';
import { eventually } from '../support/eventually.js';
import { pressCtrlC, shellStatusOf } from '../support/press-ctrl-c.js';
import { type StandaloneKeys, startStandalone, type TestStandalone } from '../support/stack-standalone.js';
import { track } from '../support/track.js';

const root = mkdtempSync(join(tmpdir(), 'event-analytics-e2e-'));
const original = join(root, 'original');
const restored = join(root, 'restored');
const moved = join(root, 'moved');
const earlier = join(root, 'earlier');
const live = join(root, 'live.tar.gz');
const cold = join(root, 'cold.tar.gz');
let running: TestStandalone | undefined;

async function start(dataDirectory: string): Promise<{ stack: TestStandalone; keys: StandaloneKeys }> {
  const stack = await startStandalone({ dataDirectory });
  running = stack;
  return { stack, keys: await stack.ready() };
}

async function stop(): Promise<void> {
  running?.signal('SIGTERM');
  await running?.ended();
  running = undefined;
}

afterAll(async () => {
  await stop();
  rmSync(root, { recursive: true, force: true });
});

interface Ended {
  readonly status: number | null;
  readonly said: string;
}

/** Printed every 10 seconds: `12 %  writing cold.tar.gz  3.0 MiB  0.2 MiB/s  9 s left`. */
const PROGRESS_LINES = /^.*\/s( {2}.* left)?\n/gm;

/** Ends without lines of progress in `said`. `onStart` gets a function that presses Ctrl-C. */
function run(
  command: 'backup' | 'restore',
  dataDirectory: string,
  file: string,
  onStart: (interrupt: () => void) => void = () => {},
): Promise<Ended> {
  const child = spawn(process.execPath, ['dist/cli/backup.js', command, file], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, DATA_DIR: dataDirectory },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  onStart(() => void pressCtrlC(child));
  const resultOf = (status: number | null): Ended => ({ status, said: said.replace(PROGRESS_LINES, '') });
  return new Promise((resolve) =>
    child.once('close', (status, signal) => resolve(resultOf(shellStatusOf(status, signal)))),
  );
}

async function ask<T>(keys: StandaloneKeys, q: string): Promise<T[]> {
  const response = await fetch(`${keys.url}/query`, {
    method: 'POST',
    headers: { 'X-API-Key': keys.secret_key },
    body: JSON.stringify({ q, format: 'json', limit: 10_000 }),
  });
  const answer = (await response.json()) as { rows?: T[] };
  if (answer.rows === undefined) throw new Error(JSON.stringify(answer));
  return answer.rows;
}

const countOf = async (keys: StandaloneKeys, q: string): Promise<unknown> =>
  (await ask<{ value: number }>(keys, q))[0]?.value;

async function identify(keys: StandaloneKeys, plan: string): Promise<void> {
  const response = await fetch(`${keys.url}/identify`, {
    method: 'POST',
    headers: { 'X-API-Key': keys.public_key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ user_id: 'ada', device_id: 'd-1', user_properties: { plan } }),
  });
  expect(response.status).toBe(200);
}

const pidOf = (stack: TestStandalone, name: string): number => stack.pids().get(name) ?? 0;

test('a backup of a running service has everything accepted before its point in time, once', async () => {
  const { stack, keys } = await start(original);
  await identify(keys, 'pro');
  await track(keys.url, keys.public_key, { event_type: 'visit', device_id: 'd-1' });
  await eventually(async () => expect(await countOf(keys, 'users | where user.plan = "pro" | count')).toBe(1));

  // Events wait in Redis when the backup begins, and are stored while it goes on.
  process.kill(pidOf(stack, 'worker'), 'SIGSTOP');
  const acceptedAt = new Map<string, string>();
  let isSending = true;
  const send = async (from: string): Promise<void> => {
    for (let n = 0; isSending; n += 1) {
      const id = `${from}-${n}`;
      const event = { event_type: 'signup', insert_id: id, event_properties: { id } };
      const { status } = await track(keys.url, keys.public_key, { events: [event, event] });
      if (status === 200) acceptedAt.set(id, new Date().toISOString());
    }
  };
  const sending = Promise.all(['a', 'b'].map(send));
  await eventually(() => expect(acceptedAt.size).toBeGreaterThan(20));
  const backup = run('backup', original, live);
  await eventually(() => expect(readdirSync(join(original, 'backup.unfinished'))).toContain('postgres'));
  process.kill(pidOf(stack, 'worker'), 'SIGCONT');
  const { status, said } = await backup;
  isSending = false;
  await sending;
  expect({ status, said }).toEqual({ status: 0, said: expect.any(String) });
  expect(statSync(live).mode & 0o077).toBe(0);
  expect(readdirSync(original)).not.toContain('backup.unfinished');
  const [, point = ''] = /everything accepted before (\S+),/.exec(said) ?? [];
  const before = [...acceptedAt].filter(([, at]) => at < point).map(([id]) => id);
  expect(before.length).toBeGreaterThan(20);
  await stop();

  expect((await run('restore', original, live)).said).toContain('is not empty');
  expect(await run('restore', restored, live)).toEqual({ status: 0, said: expect.any(String) });
  const again = (await start(restored)).keys;
  expect({ ...again, url: '' }).toEqual({ ...keys, url: '' });
  await eventually(async () => {
    const rows = await ask<{ value: number; 'event_properties.id': string }>(
      again,
      'signup | last 1d | count by event_properties.id',
    );
    expect(rows.filter(({ value }) => value !== 1)).toEqual([]);
    const ids = new Set(rows.map((row) => row['event_properties.id']));
    expect(before.filter((id) => !ids.has(id))).toEqual([]);
    expect([...ids].filter((id) => !acceptedAt.has(id))).toEqual([]);
  });
  expect(await countOf(again, 'visit | last 1d | where user_id = "ada" | count')).toBe(0);
  // What was queued is applied after the start.
  await eventually(async () =>
    expect(await countOf(again, 'visit | last 1d | where distinct_id = "ada" | count')).toBe(1),
  );
  // Versions continue behind those that were given out.
  await identify(again, 'free');
  await eventually(async () => expect(await countOf(again, 'users | where user.plan = "free" | count')).toBe(1));
}, 360_000);

test('a backup of a stopped service continues it elsewhere', async () => {
  await stop();
  const written = expect.stringMatching(/^.*cold\.tar\.gz: .* MiB, the files of the stopped service; .*\n$/);
  expect(await run('backup', restored, cold)).toEqual({ status: 0, said: written });
  expect(statSync(cold).mode & 0o077).toBe(0);
  expect((await run('backup', restored, cold)).said).toContain('exists already');
  expect(await run('restore', moved, cold)).toEqual({ status: 0, said: expect.any(String) });
  // As a killed backup leaves it.
  const left = join(moved, 'backup.unfinished');
  mkdirSync(left);
  const { keys } = await start(moved);
  expect(await countOf(keys, 'visit | last 1d | count')).toBe(1);
  expect(await countOf(keys, 'users | where user.plan = "free" | count')).toBe(1);
  expect(existsSync(left)).toBe(false);
}, 240_000);

/** As a worker does every minute. */
async function storeCanary(dataDirectory: string): Promise<void> {
  const settings = JSON.parse(readFileSync(join(dataDirectory, SERVICE_ENVIRONMENT_FILE), 'utf8')) as {
    CLICKHOUSE_URL: string;
  };
  const { origin, password } = new URL(settings.CLICKHOUSE_URL);
  const { status } = await fetch(origin, {
    method: 'POST',
    headers: { Authorization: basicAuthorization(password) },
    body: `INSERT INTO analytics.events (project_id, event_type) VALUES ('${canaryProjectOf(FIRST_SHARD)}', 'canary')`,
  });
  expect(status).toBe(200);
}

test('Ctrl-C leaves nothing behind, and the same command works again', async () => {
  const interrupted = join(root, 'interrupted.tar.gz');
  const target = join(root, 'interrupted');
  // Checked without a pause: the commands are over within a second.
  const isStarted = (path: string, interrupt: () => void): void => {
    const poll = setInterval(() => {
      if (!existsSync(path)) return;
      clearInterval(poll);
      interrupt();
    }, 1);
  };
  const nothing = { status: 130, said: 'interrupted; nothing is left behind: run the same command again\n' };
  const stage = join(moved, 'backup.unfinished');
  // ClickHouse writes here by itself: it has to stop.
  const engineStage = join(moved, 'clickhouse', 'backups');
  for (const begun of [stage, engineStage]) {
    expect(await run('backup', moved, interrupted, (press) => isStarted(begun, press))).toEqual(nothing);
    expect(readdirSync(root).filter((name) => name.startsWith('interrupted'))).toEqual([]);
    expect([stage, engineStage].filter(existsSync)).toEqual([]);
  }
  await storeCanary(moved);
  const events = await countOf((await running?.ready()) as StandaloneKeys, '* | last 1d | count');
  const written = expect.stringContaining(`with ${formatCount(Number(events))} stored events`);
  expect(await run('backup', moved, interrupted)).toEqual({ status: 0, said: written });

  const work = join(`${target}.restoring`, 'data', 'postgres');
  expect(await run('restore', target, interrupted, (press) => isStarted(work, press))).toEqual(nothing);
  expect(readdirSync(root).filter((name) => name.startsWith('interrupted'))).toEqual(['interrupted.tar.gz']);
  expect(await run('restore', target, interrupted)).toEqual({ status: 0, said: expect.any(String) });
}, 360_000);

test('a file that is damaged or no backup is refused by name, and nothing is restored', async () => {
  const target = join(root, 'refused');
  const damaged = join(root, 'damaged.tar.gz');
  const bytes = readFileSync(live);
  bytes.fill(0, bytes.length >> 1, (bytes.length >> 1) + 64);
  writeFileSync(damaged, bytes);
  const refusal = await run('restore', target, damaged);
  expect(refusal.status).toBe(1);
  expect(refusal.said).toMatch(/^.*damaged\.tar\.gz is not a backup, or is damaged: .*\n$/);
  writeFileSync(damaged, 'no archive');
  expect((await run('restore', target, damaged)).said).toMatch(/^.*damaged\.tar\.gz is not a backup, or is damaged: /);
  expect((await run('restore', target, join(root, 'none'))).said).toContain('does not exist');
  expect(existsSync(target)).toBe(false);
});

test('a backup of an earlier version is brought to this one', async () => {
  await stop();
  const archive = join(packageRoot, 'test', 'e2e', 'fixtures', 'backup-2026-11-23.tar.gz');
  expect(await run('restore', earlier, archive)).toEqual({ status: 0, said: expect.any(String) });
  const { keys } = await start(earlier);
  expect(await countOf(keys, 'signup | from 2026-11-23 to 2026-11-24 | count')).toBe(2);
  expect(await countOf(keys, 'signup | from 2026-11-23 to 2026-11-24 | where distinct_id = "ada" | count')).toBe(1);
  expect(await countOf(keys, 'users | where user.plan = "pro" | count')).toBe(1);
  await track(keys.url, keys.public_key, { event_type: 'return', device_id: 'd-1' });
  await eventually(async () =>
    expect(await countOf(keys, 'return | last 1d | where distinct_id = "ada" | count')).toBe(1),
  );
}, 240_000);

test('a backup names the ClickHouse servers whose data it lacks', async () => {
  const file = join(root, 'lacking.tar.gz');
  const settings = JSON.parse(readFileSync(join(earlier, SERVICE_ENVIRONMENT_FILE), 'utf8')) as Record<string, string>;
  const postgres = createPostgres({ DATABASE_URL: settings.DATABASE_URL ?? '' }, { poolMax: 1 });
  await registerShard(postgres, ['http://user:secret@127.0.0.1:1']).finally(() => postgres.destroy());
  const refused = await run('backup', earlier, file);
  expect(refused).toEqual({ status: 1, said: expect.stringContaining('no data of shard 2 at 127.0.0.1:1. Stop') });
  expect(existsSync(file)).toBe(false);

  await stop();
  const written = await run('backup', earlier, file);
  const lacks = "written and read again. It holds keys and people's data: keep it safe.\nIt has no data of";
  expect(written).toEqual({ status: 0, said: expect.stringContaining(`${lacks} shard 2 at 127.0.0.1:1: copy it by`) });
  const target = join(root, 'lacking');
  const restored = await run('restore', target, file);
  const again = 'npm start goes on from there.\nIt has no data of shard 2 at 127.0.0.1:1: RESTORE DATABASE there';
  expect(restored).toEqual({ status: 0, said: expect.stringContaining(again) });
  expect(refused.said + written.said + restored.said).not.toContain('secret');

  rmSync(file);
  rmSync(join(earlier, 'postgres', 'PG_VERSION'));
  const unread = expect.stringContaining(`${lacks} further ClickHouse servers, if there are any (PostgreSQL cannot be`);
  expect(await run('backup', earlier, file)).toEqual({ status: 0, said: unread });
  const mayLack = expect.stringContaining('It has no data of further ClickHouse servers, if there are any');
  expect(await run('restore', join(root, 'unread'), file)).toEqual({ status: 0, said: mayLack });
}, 240_000);
