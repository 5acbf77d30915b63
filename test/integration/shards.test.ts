// Two ClickHouse servers as shards, two workers: every project lives on one of them, with all of
// its data; one that is unavailable delays only its own projects.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { migrateShards } from '../../src/platform/clickhouse/migrate.js';
import { packageRoot } from '../../src/platform/paths.js';
import { StepProgress } from '../../src/platform/progress.js';
import { addShard } from '../../src/shards/add-shard.js';
import { parseShardsCommand } from '../../src/shards/arguments.js';
import { changeAddress } from '../../src/shards/change-address.js';
import { describeShards } from '../../src/shards/describe-shards.js';
import { drainShard, moveProject } from '../../src/shards/move-project.js';
import { removeShard } from '../../src/shards/remove-shard.js';
import { addTraces } from '../../src/shards/store.js';
import { rollUpStored } from '../../src/usage/rollup.js';
import { eventually } from '../support/eventually.js';
import { pressCtrlC, shellStatusOf } from '../support/press-ctrl-c.js';
import { startTwoShards, type TwoShards } from '../support/shards.js';
import { startStoreRelay } from '../support/store-relay.js';
import { createTestProject, track } from '../support/track.js';

let two: TwoShards;
let first: NewProject;
let other: NewProject;

const moveDeps = () => ({ ...two.deps, waitMs: 500 });
const SENT_MEANWHILE = 'during';
/** Of the first project, by earlier tests. */
let sentBefore = 0;
/** Some are before the rows are copied, some after the placement has changed. */
const INTERRUPTED_AFTER_MS = [0, 20, 60, 120, 200, 300, 450, 700, 1000, 1500];

beforeAll(async () => {
  two = await startTwoShards({ PRIVACY_PURGE_DELAY_MS: '0' });
  await two.processes.start('worker', 'second worker');
  first = await createTestProject(two.databases);
  other = await createTestProject(two.databases);
}, 240_000);

afterAll(() => two?.close());

const eventsOf = (name: string, count: number, user = 'ada') =>
  Array.from({ length: count }, (_, index) => ({
    ...{ event_type: name, insert_id: `${name}-${index}`, user_id: user },
    time: new Date(Date.now() - index * 1000).toISOString(),
  }));

async function send(project: NewProject, events: readonly object[]): Promise<void> {
  const answer = await track(two.processes.url, project.publicKey, { events });
  expect(answer.body).toEqual({ accepted: events.length });
}

const call = (project: NewProject, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(two.processes.url + path, {
    method: 'POST',
    headers: { 'X-API-Key': project.secretKey, 'Content-Type': 'application/json' },
    ...init,
  });

async function countOf(project: NewProject, event: string): Promise<unknown> {
  const response = await call(project, '/query', { body: JSON.stringify({ q: `${event} | count`, format: 'json' }) });
  expect(response.status).toBe(200);
  return ((await response.json()) as { rows: Record<string, unknown>[] }).rows[0]?.count;
}

test('new projects go to the emptiest shard, and every event is stored once, there', async () => {
  const events = eventsOf('visit', 1000);
  for (let time = 0; time < 2; time += 1) {
    await Promise.all([send(first, events), send(other, events), send(first, events.slice(300))]);
  }
  for (const project of [first, other]) {
    await eventually(async () => expect(await countOf(project, 'visit')).toBe(1000), 60_000);
  }
  expect([await two.rowsOn(1, first), await two.rowsOn(2, first)]).toEqual([1000, 0]);
  expect([await two.rowsOn(1, other), await two.rowsOn(2, other)]).toEqual([0, 1000]);
  expect(await two.redis.keys('bull:ingest-2:meta')).toHaveLength(1);
  await eventually(async () => expect(await two.redis.keys('ingest:backlog:*')).toEqual([]), 60_000);
});

test('profiles and mappings lie with the events of their project', async () => {
  const body = JSON.stringify({ user_id: 'ada', device_id: 'phone', user_properties: { plan: 'pro' } });
  expect((await call(other, '/identify', { body })).status).toBe(200);
  await eventually(async () => expect(await two.rowsOn(2, other, 'profiles')).toBeGreaterThan(0), 60_000);
  await eventually(async () => expect(await two.rowsOn(2, other, 'device_map')).toBeGreaterThan(0), 60_000);
  expect(await two.rowsOn(1, other, 'profiles')).toBe(0);
  expect(await countOf(other, 'visit | where user.plan = "pro"')).toBe(1000);
});

test('usage adds up all shards, and an export reads the shard of its project', async () => {
  await rollUpStored(two, 2, new Date());
  for (const { id } of [first, other]) {
    const [row] = await two.postgres('usage_days').where({ project_id: id }).sum('events_stored');
    expect(Number(row?.sum)).toBe(1000);
  }
  const exported = await call(other, '/api/gdpr/users/ada/export', { method: 'GET' });
  expect(exported.status).toBe(200);
  expect((await exported.text()).trim().split('\n')).toHaveLength(1000);
});

test('erasure deletes on every shard that has ever had the project', async () => {
  await send(other, eventsOf('kept', 10, 'bob'));
  await eventually(async () => expect(await two.rowsOn(2, other)).toBe(1010), 60_000);
  // What an interrupted move would leave behind.
  await addTraces(two.postgres, other.id, [1]);
  const left = { project_id: other.id, event_type: 'visit', time: '2026-01-01 00:00:00', insert_id: 'old' };
  const values = [
    { ...left, user_id: 'ada' },
    { ...left, user_id: 'bob' },
  ];
  await (await two.clientOf(1)).insert({ table: 'events', values, format: 'JSONEachRow' });
  const erased = await call(other, '/api/gdpr/users/ada', { method: 'DELETE' });
  expect(await erased.json()).toMatchObject({ status: 'deleted', events: 1000 });
  expect([await two.rowsOn(1, other), await two.rowsOn(2, other)]).toEqual([1, 10]);
}, 240_000);

test('a shard that is unavailable delays only its own projects', async () => {
  await two.second.kill();
  try {
    await send(other, eventsOf('late', 50));
    await send(first, eventsOf('on time', 50));
    await eventually(async () => expect(await countOf(first, '"on time"')).toBe(50), 60_000);
    const refused = await call(other, '/query', { body: JSON.stringify({ q: 'late | count', format: 'json' }) });
    expect(refused.status).toBe(503);
    // A smaller sum would look right.
    await expect(rollUpStored(two, 2, new Date())).rejects.toThrow();
    await expect(migrateShards(two.databases.config)).rejects.toThrow(
      `1 host could not be migrated: shard 2 at ${new URL(two.second.url).host}`,
    );
    expect(await describeShards(two.deps)).toMatch(/\| 2 +\|.*ECONNREFUSED/);
  } finally {
    await two.second.start();
  }
  await eventually(async () => expect(await countOf(other, 'late')).toBe(50), 60_000);
}, 360_000);

test('a shard that is killed over and over loses nothing and doubles nothing', async () => {
  const sending = [first, other].map(keepSending);
  for (let time = 0; time < 3; time += 1) {
    await two.second.kill();
    await two.second.start();
  }
  const sent = await Promise.all(sending.map((one) => one.stop()));
  for (const [index, project] of [first, other].entries()) {
    await eventually(async () => expect(await countOf(project, SENT_MEANWHILE)).toBe(sent[index]), 120_000);
  }
  sentBefore = sent[0] ?? 0;
}, 240_000);

test('migrations of a shard continue where they stopped', async () => {
  const clickhouse = await two.clientOf(2);
  await clickhouse.command({
    query: "DELETE FROM schema_migrations WHERE name >= '0006'",
    clickhouse_settings: { lightweight_deletes_sync: '2' },
  });
  expect(await migrateShards(two.databases.config)).toEqual([
    '0006_geo_source.sql',
    '0007_property_types.sql',
    '0008_merges.sql',
    '0009_empty_parts.sql',
  ]);
  expect(await migrateShards(two.databases.config)).toEqual([]);
});

test('a server is a shard once', async () => {
  const alias = two.second.url.replace('127.0.0.1', 'localhost');
  await expect(addShard(two.deps, [alias], { waitMs: 0 })).rejects.toThrow('are the same server');
  await expect(addShard(two.deps, ['http://127.0.0.1:1'], { waitMs: 0 })).rejects.toThrow(
    'cannot be created at 127.0.0.1:1',
  );
  expect(() => parseShardsCommand(['add', 'user:secret@host'])).toThrow('argument 1 of add is not an http');
});

test('the address of a shard changes while it is used, also when it does not answer any more', async () => {
  const relay = await startStoreRelay(two.second.url);
  const before = Number(await countOf(other, SENT_MEANWHILE));
  const sending = keepSending(other);
  try {
    await changeAddress(two.deps, 2, [relay.url]);
    await eventually(async () => {
      // Every process has read the new address when it cannot do without it.
      await relay.cut();
      const status = (await call(other, '/query', { body: JSON.stringify({ q: 'late | count' }) })).status;
      if (status === 200) await relay.restore();
      expect(status).toBe(503);
    }, 60_000);
    await changeAddress(two.deps, 2, [two.second.url]);
    await eventually(async () => expect(await countOf(other, 'late')).toBe(50), 60_000);
    const sent = await sending.stop();
    await eventually(async () => expect(await countOf(other, SENT_MEANWHILE)).toBe(before + sent), 120_000);
    const body = JSON.stringify({ user_id: 'ada', user_properties: { plan: 'team' } });
    expect((await call(other, '/identify', { body })).status).toBe(200);
    await eventually(async () => expect(await countOf(other, 'late | where user.plan = "team"')).toBe(50), 60_000);
  } finally {
    await sending.stop();
    await relay.close();
  }
}, 240_000);

/** Sends until it is stopped. Resolves with the number of accepted events. */
function keepSending(project: NewProject): { stop: () => Promise<number> } {
  let isStopped = false;
  let sent = 0;
  const run = async () => {
    for (let batch = 0; !isStopped; batch += 1) {
      const events = eventsOf(SENT_MEANWHILE, 20).map((event) => ({ ...event, insert_id: randomUUID() }));
      // Every second batch is sent twice, as by a client that got no answer.
      await send(project, events);
      if (batch % 2 === 0) await send(project, events);
      sent += events.length;
    }
    return sent;
  };
  const running = run();
  return {
    stop: () => {
      isStopped = true;
      return running;
    },
  };
}

/** Asks until it is stopped; every answer must be the same. */
function keepAsking(project: NewProject, event: string, expected: number): { stop: () => Promise<number> } {
  let isStopped = false;
  const run = async () => {
    let asked = 0;
    for (; !isStopped; asked += 1) expect(await countOf(project, event)).toBe(expected);
    return asked;
  };
  const running = run();
  running.catch(() => {});
  return {
    stop: () => {
      isStopped = true;
      return running;
    },
  };
}

test('a project moves under traffic: exact before, during and after, also when it is interrupted', async () => {
  const body = JSON.stringify({ user_id: 'ada', device_id: 'pad', user_properties: { plan: 'pro' } });
  expect((await call(first, '/identify', { body })).status).toBe(200);
  await eventually(async () => expect(await two.rowsOn(1, first, 'profiles')).toBeGreaterThan(0), 60_000);
  const sending = keepSending(first);
  const asking = keepAsking(first, 'visit', 1000);
  for (const afterMs of INTERRUPTED_AFTER_MS) {
    const { at } = await two.shards.homeOf(first.id);
    const moving = moveProject({ ...moveDeps(), signal: AbortSignal.timeout(afterMs) }, first.id, at.id === 1 ? 2 : 1);
    await moving.catch(() => {});
  }
  const target = (await two.shards.homeOf(first.id)).shard === 1 ? 2 : 1;
  const shown: string[] = [];
  const progress = new StepProgress({ isTTY: true, columns: 200, write: (text) => void shown.push(text) });
  await moveProject({ ...moveDeps(), progress }, first.id, target);
  expect(shown.join('\n')).toMatch(/copying rows of the project {2}[\d,]+ rows/);
  expect(shown.join('\n')).toMatch(/rewriting files of ClickHouse[\s\S]*100 %.*removing old files of ClickHouse/);
  const sent = await sending.stop();
  expect(await asking.stop()).toBeGreaterThan(0);
  await eventually(async () => expect(await countOf(first, SENT_MEANWHILE)).toBe(sentBefore + sent), 60_000);
  expect(await countOf(first, 'visit | where user.plan = "pro"')).toBe(1000);
  const [here, there] = [await two.rowsOn(target, first), await two.rowsOn(target === 1 ? 2 : 1, first)];
  expect([here, there]).toEqual([1050 + sentBefore + sent, 0]);
  expect(await two.shards.homeOf(first.id)).toMatchObject({ shard: target, isMoving: false });
  // Again: nothing is left to do.
  await moveProject(moveDeps(), first.id, target);
  await expect(moveProject(moveDeps(), first.id, 9)).rejects.toThrow('there is no shard 9');
}, 300_000);

test('Ctrl-C ends a move at the terminal, and a second run moves what is left', async () => {
  const { shard } = await two.shards.homeOf(first.id);
  const target = shard === 1 ? 2 : 1;
  // Interrupted while it waits for queries that read the old shard.
  const interrupted = await runShards(['move', first.id, String(target)], /waiting \d+ s for queries/);
  expect(interrupted).toEqual({
    status: 130,
    said: expect.stringContaining('interrupted; run the same command again: it begins with what is left\n'),
  });
  // As the command does it, with a shorter wait.
  await moveProject(moveDeps(), first.id, target);
  expect([await two.rowsOn(shard, first), await countOf(first, 'visit')]).toEqual([0, 1000]);
}, 360_000);

/** `npm run shards`; Ctrl-C once it has said this. */
async function runShards(
  args: readonly string[],
  interruptAt: RegExp,
): Promise<{ status: number | null; said: string }> {
  const child = spawn(process.execPath, ['dist/cli/shards.js', ...args], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, ...two.databases.env, QUERY_WAIT_MS: '1000', QUERY_TIMEOUT_MS: '1000' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      const isNew = !interruptAt.test(said);
      said += text;
      if (isNew && interruptAt.test(said)) void pressCtrlC(child);
    });
  }
  return new Promise((resolve) =>
    child.once('close', (status, signal) => resolve({ status: shellStatusOf(status, signal), said })),
  );
}

test('a shard is drained under traffic, and gets no new project', async () => {
  const moved = [first, other];
  const before = await Promise.all(moved.map((project) => countOf(project, SENT_MEANWHILE)));
  const sending = moved.map(keepSending);
  await drainShard(moveDeps(), 2);
  const sent = await Promise.all(sending.map((one) => one.stop()));
  await two.postgres('usage_days').insert(
    [
      { daysAgo: 3, events_ingested: 12_000_000 },
      { daysAgo: 8, events_ingested: 50_000_000 },
    ].map(({ daysAgo, ...usage }) => ({
      ...{ project_id: first.id, day: new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10) },
      ...usage,
    })),
  );
  const described = await describeShards(two.deps);
  expect(described).toMatch(/\| 1 +\|[^|]*\| yes +\| \d+ +\| 12\d{6} +\|/);
  expect(described).toMatch(/\| 2 +\|[^|]*\| no +\| 0 +\| 0 +\|/);
  for (const [index, project] of moved.entries()) {
    const total = Number(before[index]) + Number(sent[index]);
    await eventually(async () => expect(await countOf(project, SENT_MEANWHILE)).toBe(total), 60_000);
    expect(await two.rowsOn(2, project)).toBe(0);
  }
  const next = await createTestProject(two.databases);
  expect((await two.shards.homeOf(next.id)).shard).toBe(1);
  expect(await countOf(first, 'visit')).toBe(1000);
}, 360_000);

test('a deleted project leaves every shard', async () => {
  await two
    .postgres('projects')
    .where({ id: other.id })
    .update({ deleted_at: new Date(Date.now() - 30 * 60_000) });
  await eventually(async () => {
    expect([await two.rowsOn(1, other), await two.rowsOn(2, other), await two.rowsOn(1, other, 'profiles')]).toEqual([
      0, 0, 0,
    ]);
  }, 120_000);
}, 240_000);

test('the server of a removed shard can be switched off', async () => {
  await eventually(async () => {
    const deleted = await two.postgres('projects').where({ id: other.id }).first('data_deleted_at');
    expect(deleted?.data_deleted_at).not.toBeNull();
  }, 120_000);
  await removeShard(two.deps, { shard: 2, isLost: false }, 6000);
  await two.second.kill();
  // Each of them asked every server.
  await rollUpStored(two, 2, new Date());
  await migrateShards(two.databases.config);
  expect(await describeShards(two.deps)).not.toMatch(/^\| 2 /m);
  await send(first, eventsOf('afterwards', 20));
  await eventually(async () => expect(await countOf(first, 'afterwards')).toBe(20), 60_000);
  // It had been there.
  const erased = await call(first, '/api/gdpr/users/ada', { method: 'DELETE' });
  expect(await erased.json()).toMatchObject({ status: 'deleted' });
  expect(await countOf(first, 'visit')).toBe(0);
}, 300_000);
