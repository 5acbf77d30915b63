// Moves whose command is killed: a worker ends them, so that the events of the project are stored
// without the command being repeated. A command that has lost its lock changes nothing any more.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { publishPlacements } from '../../src/ingest/placement-cache.js';
import { createIngestQueue, enqueueIngest } from '../../src/ingest/queue.js';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { newUuidV7, toProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { copyProject } from '../../src/shards/copy-project.js';
import { deleteSeenRows, dropFences, fenceOf, raiseFence } from '../../src/shards/move-fence.js';
import { settleMoves } from '../../src/shards/settle-moves.js';
import {
  beginMove,
  cancelMove,
  completeMove,
  listUnsettled,
  markCleared,
  requireMove,
} from '../../src/shards/store.js';
import { eventually } from '../support/eventually.js';
import { startInsertRelay } from '../support/insert-relay.js';
import { startTwoShards, type TwoShards } from '../support/shards.js';
import { createTestProject, track } from '../support/track.js';

const KILLS = 3;
/** From its start, most of which is loading the program, until after the project has moved. */
const KILLED_AFTER_MS = { min: 400, max: 3000 };
const ENDED_WITHIN_MS = 30_000;

let two: TwoShards;
let project: NewProject;

beforeAll(async () => {
  two = await startTwoShards({ QUERY_WAIT_MS: '1000', QUERY_TIMEOUT_MS: '1000' }, ['worker', 'web']);
  await two.processes.start('worker', 'second worker');
  project = await createTestProject(two.databases);
}, 240_000);

afterAll(() => two?.close());

const newEvents = (count: number) =>
  Array.from({ length: count }, () => ({ event_type: 'visit', insert_id: randomUUID(), user_id: 'ada' }));

/** Sends until it is stopped. Resolves with the number of accepted events. */
function keepSending(): { stop: () => Promise<number> } {
  let isStopped = false;
  const running = (async () => {
    let sent = 0;
    while (!isStopped) {
      const answer = await track(two.processes.url, project.publicKey, { events: newEvents(20) });
      expect(answer.body).toEqual({ accepted: 20 });
      sent += 20;
      await delay(20);
    }
    return sent;
  })();
  return {
    stop: () => {
      isStopped = true;
      return running;
    },
  };
}

function startMove(to: number): { child: ChildProcess; ended: Promise<number | null> } {
  const child = spawn(process.execPath, ['dist/cli/shards.js', 'move', project.id, String(to)], {
    env: { PATH: process.env.PATH, ...two.databases.env },
    stdio: 'ignore',
  });
  return { child, ended: new Promise((resolve) => child.once('close', resolve)) };
}

test('a project whose move is killed anywhere is counted again without the command', async () => {
  const sending = keepSending();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const home = (await two.shards.homeOf(project.id)).shard;
    const { child, ended } = startMove(home === 1 ? 2 : 1);
    await delay(randomInt(KILLED_AFTER_MS.min, KILLED_AFTER_MS.max));
    child.kill('SIGKILL');
    await ended;
    await eventually(async () => {
      expect(await two.shards.homeOf(project.id)).toMatchObject({ isMoving: false });
    }, ENDED_WITHIN_MS);
  }
  // One that is surely in the middle.
  const home = (await two.shards.homeOf(project.id)).shard;
  const { child, ended } = startMove(home === 1 ? 2 : 1);
  await eventually(async () => expect(await two.shards.homeOf(project.id)).toMatchObject({ isMoving: true }));
  child.kill('SIGKILL');
  await ended;
  await eventually(async () => {
    expect(await two.shards.homeOf(project.id)).toEqual(expect.objectContaining({ isMoving: false, shard: home }));
  }, ENDED_WITHIN_MS);
  const sent = await sending.stop();
  await eventually(async () => expect(await two.rowsOn(home, project)).toBe(sent), 60_000);

  // The repeated command works, and nothing is left behind.
  const target = home === 1 ? 2 : 1;
  expect(await startMove(target).ended).toBe(0);
  expect([await two.rowsOn(target, project), await two.rowsOn(home, project)]).toEqual([sent, 0]);
}, 300_000);

test('rows that a killed move has left are deleted by a worker', async () => {
  const other = await createTestProject(two.databases);
  const { shard } = await two.shards.homeOf(other.id);
  const elsewhere = shard === 1 ? 2 : 1;
  const move = await beginMove(two.postgres, { projectId: other.id, from: shard, to: elsewhere });
  const left = { project_id: other.id, event_type: 'left', time: '2026-01-01 00:00:00', insert_id: 'left' };
  await (await two.clientOf(elsewhere)).insert({ table: 'events', values: [left], format: 'JSONEachRow' });
  expect(await two.rowsOn(elsewhere, other)).toBe(1);
  await eventually(async () => expect(await two.rowsOn(elsewhere, other)).toBe(0), 60_000);
  await expect(requireMove(two.postgres, { projectId: other.id, move, state: 'home' })).resolves.toBeUndefined();
  // The files there are rewritten, too.
  await eventually(async () => {
    expect((await listUnsettled(two.postgres)).map(({ projectId }) => projectId)).not.toContain(other.id);
  }, 120_000);
}, 240_000);

test('a command that has lost its lock can do nothing to a later move', async () => {
  const other = await createTestProject(two.databases);
  const { id: projectId } = other;
  const { shard: from } = await two.shards.homeOf(projectId);
  const to = from === 1 ? 2 : 1;
  const [source, destination] = [await two.clientOf(from), await two.clientOf(to)];
  await track(two.processes.url, other.publicKey, { events: newEvents(30) });
  await eventually(async () => expect(await two.rowsOn(from, other)).toBe(30), 60_000);

  // Both hold the lock, as far as they know. No worker may take it for abandoned meanwhile.
  const locker = createPostgres(two.databases.config, { poolMax: 1 });
  await eventually(async () => {
    const { rows } = await locker.raw('SELECT pg_try_advisory_lock(4726108) AS mine');
    expect(rows[0].mine).toBe(true);
  });
  const stale = { projectId, move: await beginMove(two.postgres, { projectId, from, to }) };
  const requireStale = () => requireMove(two.postgres, { ...stale, state: 'moving' });
  const staleFence = fenceOf(projectId, stale.move);
  await raiseFence(destination, staleFence, requireStale);

  const later = { projectId, move: await beginMove(two.postgres, { projectId, from, to }) };
  // A worker leaves a move alone whose command holds the lock.
  await settleMoves({ ...two.deps, shards: two.shards, log: createLogger({ process: 'test', level: 'silent' }) });
  expect(await two.shards.homeOf(projectId)).toMatchObject({ isMoving: true });
  await dropFences(destination, projectId);
  const fence = fenceOf(projectId, later.move);
  await raiseFence(destination, fence, () => requireMove(two.postgres, { ...later, state: 'moving' }));
  const ends = { from: source, to: destination, signal: new AbortController().signal };
  const copied = await copyProject({ ...ends, fence }, projectId);
  expect(copied.find(({ table }) => table === 'events')).toEqual({ table: 'events', rows: 30 });

  await expect(copyProject({ ...ends, fence: staleFence }, projectId)).rejects.toThrow(staleFence.table);
  await expect(raiseFence(destination, staleFence, requireStale)).rejects.toThrow('has changed during the move');
  await expect(deleteSeenRows(destination, projectId, requireStale)).rejects.toThrow('has changed during the move');
  const done = { from, to, clearAfterMs: 0 };
  await expect(completeMove(two.postgres, { ...done, ...stale })).rejects.toThrow('has changed during the move');
  expect(await cancelMove(two.postgres, stale)).toBe(false);
  expect(await two.rowsOn(to, other)).toBe(30);

  await completeMove(two.postgres, { ...done, ...later });
  await expect(beginMove(two.postgres, { projectId, from, to })).rejects.toThrow('has been moved meanwhile');
  await markCleared(two.postgres, stale);
  expect((await listUnsettled(two.postgres)).map((each) => each.projectId)).toContain(projectId);
  await locker.destroy();
  await eventually(
    async () => expect([await two.rowsOn(from, other), await two.rowsOn(to, other)]).toEqual([0, 30]),
    60_000,
  );
}, 240_000);

test('a job with a rejected event waits for the end of a move of another project, and then keeps the event', async () => {
  const clickhouse = await two.clientOf(1);
  const queue = createIngestQueue(two.redis);
  // No worker may take the move for abandoned.
  const locker = createPostgres(two.databases.config, { poolMax: 1 });
  const moving = await createTestProject(two.databases);
  const { shard: from } = await two.shards.homeOf(moving.id);
  const constraint = "ADD CONSTRAINT IF NOT EXISTS no_bad CHECK insert_id != 'bad'";
  await clickhouse.command({ query: `ALTER TABLE events ${constraint}` });
  try {
    await eventually(async () => {
      const { rows } = await locker.raw('SELECT pg_try_advisory_lock(4726108) AS mine');
      expect(rows[0].mine).toBe(true);
    });
    const move = await beginMove(two.postgres, { projectId: moving.id, from, to: from === 1 ? 2 : 1 });
    await publishPlacements(two.redis);
    const settled = { id: toProjectId(newUuidV7()) };
    const toItem = ({ id }: Pick<NewProject, 'id'>, insertId: string) => ({
      header: { v: 1, p: id, t: Date.now(), ip: '', ua: '', geo: {}, o: 'unknown', r: insertId, n: 1 } as const,
      body: Buffer.from(JSON.stringify({ event_type: 'a', insert_id: insertId })),
    });
    const items = [toItem(settled, 'bad'), toItem(settled, 'good'), toItem(moving, 'late')];
    await enqueueIngest(queue, two.redis, { items, weight: 3 });
    await eventually(async () => expect(await two.rowsOn(1, settled)).toBe(1), 60_000);
    expect([await two.rowsOn(from, moving), await queue.getFailedCount()]).toEqual([0, 0]);

    await cancelMove(two.postgres, { projectId: moving.id, move });
    await publishPlacements(two.redis);
    await eventually(async () => expect(await queue.getFailedCount()).toBe(1), 60_000);
    expect([await two.rowsOn(from, moving), await two.rowsOn(1, settled)]).toEqual([1, 1]);
    const [job] = await queue.getFailed();
    expect(job?.data.requests).toEqual(['bad']);
  } finally {
    await clickhouse.command({ query: 'ALTER TABLE events DROP CONSTRAINT no_bad' });
    await queue.clean(0, 100, 'failed');
    await queue.close();
    await locker.destroy();
  }
}, 240_000);

test('a deletion that arrives late spares what came after it was decided', async () => {
  const clickhouse = await two.clientOf(1);
  // A mutation of another project may rename the parts meanwhile: nothing is deleted then.
  await eventually(async () => {
    const other = await createTestProject(two.databases);
    // Of different months, so that ClickHouse does not merge them.
    const insert = (insert_id: string, time: string) =>
      clickhouse.insert({
        table: 'events',
        values: [{ project_id: other.id, event_type: 'a', time, insert_id }],
        format: 'JSONEachRow',
      });
    await insert('seen', '2026-01-01 00:00:00');
    let isFirst = true;
    const deleted = deleteSeenRows(clickhouse, other.id, async () => {
      if (!isFirst) throw new Error('a later move has begun');
      isFirst = false;
      await insert('later', '2026-02-01 00:00:00');
    });
    await expect(deleted).rejects.toThrow('a later move has begun');
    expect(await two.rowsOn(1, other)).toBe(1);
  });
});

test('a later move waits for a copy that runs, and deletes what it has stored', async () => {
  const { id: projectId } = await createTestProject(two.databases);
  const [source, destination] = [await two.clientOf(1), await two.clientOf(2)];
  // More bytes than those with which a query begins.
  const values = newEvents(1000).map(({ event_type, insert_id }) => ({
    ...{ project_id: projectId, event_type, insert_id, time: '2026-01-01 00:00:00', user_id: 'ada'.repeat(200) },
  }));
  await source.insert({ table: 'events', values, format: 'JSONEachRow' });
  const relay = await startInsertRelay(two.second.url);
  const { CLICKHOUSE_DATABASE } = two.databases.config;
  const held = createClickHouse({ CLICKHOUSE_URL: relay.url, CLICKHOUSE_DATABASE });
  try {
    const fence = fenceOf(projectId, 1);
    await raiseFence(destination, fence, async () => {});
    const isHeld = relay.holdNext();
    const ends = { from: source, to: held, signal: new AbortController().signal, fence };
    const copied = copyProject(ends, projectId);
    const isRunning = eventually(async () => {
      const query = 'SELECT query_id AS name FROM system.processes';
      expect(await namesFrom(destination, query, fence.queryPrefix)).toHaveLength(1);
    });
    await Promise.race([Promise.all([isHeld, isRunning]), copied]);

    const deleted = dropFences(destination, projectId).then(() =>
      deleteSeenRows(destination, projectId, async () => {}),
    );
    const tables = 'SELECT name FROM system.tables WHERE database = currentDatabase()';
    await eventually(async () => expect(await namesFrom(destination, tables, fence.queryPrefix)).toEqual([]));
    // Time in which one that does not wait finds no rows.
    await delay(500);
    relay.release();
    // Its rows may be deleted before it has compared them.
    await copied.catch(() => {});
    expect(await deleted).toBe(1000);
    expect(await two.rowsOn(2, { id: projectId })).toBe(0);
  } finally {
    await held.close();
    await relay.close();
  }
}, 120_000);

async function namesFrom(clickhouse: ClickHouseClient, query: string, prefix: string): Promise<string[]> {
  const result = await clickhouse.query({ query, format: 'JSONEachRow' });
  const names = (await result.json<{ name: string }>()).map(({ name }) => name);
  return names.filter((name) => name.startsWith(prefix));
}
