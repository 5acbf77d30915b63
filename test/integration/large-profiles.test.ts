// Profiles of the maximum size: a transaction and a projection are bounded by their bytes, and
// begin with small ones and those of other projects.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CatalogRecorder } from '../../src/catalog/recorder.js';
import { applyBatches } from '../../src/identity/apply.js';
import { projectOutbox } from '../../src/identity/outbox.js';
import { findPending } from '../../src/identity/sequence.js';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { createLogger } from '../../src/platform/log.js';
import { add, IdentityStore } from '../support/identity-store.js';

let store: IdentityStore;

beforeAll(async () => {
  store = await IdentityStore.open();
});

afterAll(() => store?.close());

beforeEach(() => {
  store.project = randomUUID();
});

const outbox = () => store.postgres('identity_outbox').where({ project_id: store.project });

const LARGE = 'x'.repeat(200 * 1024);
const LARGE_USERS = 50;

test('a transaction is bounded by the bytes of profiles, small ones and those of other projects first', async () => {
  const large = store.project;
  const users = Array.from({ length: LARGE_USERS }, (_, n) => `u${n}`);
  for (const user of users) await store.apply(await store.accept({ user, ops: { set: { text: LARGE } } }));
  const calls = await store.accept(
    ...users.map((user) => add(user, 1)),
    { user: 'u49', device: 'd', ops: {} },
    add('new', 1),
  );
  store.project = randomUUID();
  const others = await store.accept({ user: 'other', ops: { set: { text: LARGE, a: 5 } } });
  await store.apply({ ...others });
  const neighbour = await store.accept(add('other', 1));

  const pending = [calls, neighbour];
  const { calls: applied, left } = await applyBatches(pending, store);
  expect(applied).toBeGreaterThan(10);
  expect(applied).toBeLessThan(25);
  expect([...left.keys()]).toEqual([calls.batch]);
  expect(await store.profileOf('other')).toMatchObject({ properties: { a: 6 } });
  store.project = large;
  expect(await store.profileOf('new')).toMatchObject({ properties: { a: 1 } });
  expect([...(await findPending(store.redis, [calls.batch, neighbour.batch]))]).toEqual([calls.batch]);

  // A worker that is killed in between applies the whole batch again, and other calls go on.
  await store.apply(await store.accept(add('u0', 10)));
  let [rounds, rest] = [0, calls];
  for (; rest.operations.length > 0; rounds += 1) {
    const next = await applyBatches([rest], store);
    rest = { ...rest, operations: next.left.get(rest.batch) ?? [] };
  }
  expect(rounds).toBeGreaterThan(2);
  for (const user of users) {
    const a = user === 'u0' ? 11 : 1;
    expect([user, (await store.profileOf(user))?.properties.a]).toEqual([user, a]);
  }
  expect(await store.postgres('device_mappings').where({ project_id: store.project })).toMatchObject([
    { user_id: 'u49' },
  ]);
  expect(await store.redis.zcard('identity:pending')).toBe(0);
});

test('a projection is bounded by the bytes of profiles, and begins with those of other projects', async () => {
  await store.postgres('identity_outbox').delete();
  const large = store.project;
  for (let n = 0; n < LARGE_USERS; n += 1)
    await store.apply(await store.accept({ user: `u${n}`, ops: { set: { text: LARGE } } }));
  store.project = randomUUID();
  await store.apply(await store.accept({ user: 'other', ops: { set: { text: LARGE } } }));
  const clickhouse = createClickHouse(store.databases.config);
  const catalogs = new CatalogRecorder({
    postgres: store.postgres,
    redis: store.redis,
    log: createLogger({ process: 'test', level: 'warn' }),
  });
  try {
    const copied: number[] = [];
    do {
      copied.push(
        await projectOutbox(
          { postgres: store.postgres, shard: { id: 1, clickhouse }, catalogs },
          store.databases.config.CLICKHOUSE_DATABASE,
        ),
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
