// Profiles of the maximum size: a transaction and a projection are bounded by their bytes, and
// begin with small ones and those of other projects.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CatalogRecorder } from '../../src/catalog/recorder.js';
import { applyBatches } from '../../src/identity/apply.js';
import { projectOutbox } from '../../src/identity/outbox.js';
import type { Identification, IdentifyJob } from '../../src/identity/queue.js';
import { findPending, takeSequence } from '../../src/identity/sequence.js';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { createLogger } from '../../src/platform/log.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createIdHash } from '../../src/privacy/id-hash.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let postgres: Postgres;
let redis: Redis;
let project: string;
const hashId = createIdHash('a secret');

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  redis = createRedis(databases.config);
});

afterAll(async () => {
  await postgres?.destroy();
  redis?.disconnect();
  await databases?.close();
});

beforeEach(() => {
  project = randomUUID();
});

type Call = Omit<Identification, 'project'>;

/** A batch of calls with sequence numbers, not yet applied. */
async function accept(...calls: Call[]): Promise<IdentifyJob> {
  const batch = randomUUID();
  const first = await takeSequence(redis, { member: batch, count: calls.length });
  return { version: 1, batch, operations: calls.map((call, index) => ({ project, ...call, seq: first + index })) };
}

async function apply(...batches: IdentifyJob[]): Promise<void> {
  expect([...(await applyBatches(batches, { postgres, redis, hashId })).left]).toEqual([]);
}

const add = (user: string, a: number): Call => ({ user, ops: { add: { a } } });
const profileOf = (user: string) => postgres('profiles').where({ project_id: project, user_id: user }).first();
const outbox = () => postgres('identity_outbox').where({ project_id: project });

const LARGE = 'x'.repeat(200 * 1024);
const LARGE_USERS = 50;

test('a transaction is bounded by the bytes of profiles, small ones and those of other projects first', async () => {
  const large = project;
  const users = Array.from({ length: LARGE_USERS }, (_, n) => `u${n}`);
  for (const user of users) await apply(await accept({ user, ops: { set: { text: LARGE } } }));
  const calls = await accept(
    ...users.map((user) => add(user, 1)),
    { user: 'u49', device: 'd', ops: {} },
    add('new', 1),
  );
  project = randomUUID();
  const others = await accept({ user: 'other', ops: { set: { text: LARGE, a: 5 } } });
  await apply({ ...others });
  const neighbour = await accept(add('other', 1));

  const pending = [calls, neighbour];
  const { calls: applied, left } = await applyBatches(pending, { postgres, redis, hashId });
  expect(applied).toBeGreaterThan(10);
  expect(applied).toBeLessThan(25);
  expect([...left.keys()]).toEqual([calls.batch]);
  expect(await profileOf('other')).toMatchObject({ properties: { a: 6 } });
  project = large;
  expect(await profileOf('new')).toMatchObject({ properties: { a: 1 } });
  expect([...(await findPending(redis, [calls.batch, neighbour.batch]))]).toEqual([calls.batch]);

  // A worker that is killed in between applies the whole batch again, and other calls go on.
  await apply(await accept(add('u0', 10)));
  let [rounds, rest] = [0, calls];
  for (; rest.operations.length > 0; rounds += 1) {
    const next = await applyBatches([rest], { postgres, redis, hashId });
    rest = { ...rest, operations: next.left.get(rest.batch) ?? [] };
  }
  expect(rounds).toBeGreaterThan(2);
  for (const user of users) {
    const a = user === 'u0' ? 11 : 1;
    expect([user, (await profileOf(user))?.properties.a]).toEqual([user, a]);
  }
  expect(await postgres('device_mappings').where({ project_id: project })).toMatchObject([{ user_id: 'u49' }]);
  expect(await redis.zcard('identity:pending')).toBe(0);
});

test('a projection is bounded by the bytes of profiles, and begins with those of other projects', async () => {
  await postgres('identity_outbox').delete();
  const large = project;
  for (let n = 0; n < LARGE_USERS; n += 1) await apply(await accept({ user: `u${n}`, ops: { set: { text: LARGE } } }));
  project = randomUUID();
  await apply(await accept({ user: 'other', ops: { set: { text: LARGE } } }));
  const clickhouse = createClickHouse(databases.config);
  const catalogs = new CatalogRecorder({ postgres, redis, log: createLogger({ process: 'test', level: 'warn' }) });
  try {
    const copied: number[] = [];
    do {
      copied.push(
        await projectOutbox({ postgres, shard: { id: 1, clickhouse }, catalogs }, databases.config.CLICKHOUSE_DATABASE),
      );
      expect(await outbox()).toEqual([]);
    } while (copied.at(-1) !== 0);
    expect(copied.length).toBeGreaterThan(3);
    expect(copied.reduce((sum, rows) => sum + rows)).toBe(LARGE_USERS + 1);
    const { data } = await (
      await clickhouse.query({
        query: 'SELECT uniqExact(user_id) AS users FROM profiles WHERE project_id = {large:UUID}',
        query_params: { large },
      })
    ).json<{ users: string }>();
    expect(Number(data[0]?.users)).toBe(LARGE_USERS);
  } finally {
    await clickhouse.close();
  }
});
