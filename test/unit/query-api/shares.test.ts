// Limits of concurrent queries of one project.
import { expect, test } from 'vitest';
import { toProjectId } from '../../../src/platform/ids.js';
import { createQueryShares, type QueryShares } from '../../../src/query-api/shares.js';

const stay = new AbortController().signal;
const A = toProjectId('aaaaaaaa-0000-4000-8000-000000000000');
const B = toProjectId('bbbbbbbb-0000-4000-8000-000000000000');
/** A project whose owner has no other one. */
const only = (projectId: typeof A) => ({ projectId, ownerId: projectId });
const MEMORY = 1200;

const create = (threads: number | undefined = 8): QueryShares =>
  createQueryShares({
    ...{ concurrency: 6, perProjectMax: 3, queueMax: 10 },
    ...{ memoryBytes: MEMORY, threads: async () => threads },
  });

test('a single query gets all memory and all threads', async () => {
  const share = await create().enter(only(A), stay);
  expect(share.current()).toEqual({ memoryBytes: MEMORY, threads: 8, niceValue: 0 });
});

test('queries of a project divide its threads, including expected ones', async () => {
  const shares = create();
  const [first, second] = [await shares.enter(only(A), stay), await shares.enter(only(A), stay)];
  expect([first.current().threads, second.current().threads]).toEqual([4, 4]);
  await shares.enter(only(A), stay);
  for (let waiting = 0; waiting < 5; waiting++) void shares.enter(only(A), stay);
  expect(second.current()).toMatchObject({ threads: 2, niceValue: 10 });
  expect((await shares.enter(only(B), stay)).current()).toMatchObject({ threads: 8, niceValue: 0 });
});

test('the number of threads is left to ClickHouse if it is unknown', async () => {
  const shares = createQueryShares({
    ...{ concurrency: 1, perProjectMax: 1, queueMax: 0, memoryBytes: MEMORY },
    threads: async () => undefined,
  });
  expect((await shares.enter(only(A), stay)).current().threads).toBeUndefined();
});

test('all queries of a process use less than twice the memory of one', async () => {
  const shares = create();
  const all = await Promise.all([A, A, A, B, B].map((projectId) => shares.enter(only(projectId), stay)));
  const used = all.map((share) => share.current().memoryBytes);
  expect(used).toEqual([MEMORY, 200, 200, 200, 200]);
  expect(used.reduce((sum, bytes) => sum + bytes)).toBeLessThan(2 * MEMORY);
});

test('a query above its memory share waits for the query with all memory, in fair order', async () => {
  const shares = create();
  const [large, second, third] = [
    await shares.enter(only(A), stay),
    await shares.enter(only(A), stay),
    await shares.enter(only(A), stay),
  ];
  const other = await shares.enter(only(B), stay);
  expect(await large.raiseMemory(stay)).toBe(false);
  const order: string[] = [];
  const raise = async (share: typeof large, name: string) => {
    await share.raiseMemory(stay);
    order.push(name);
  };
  const raising = [raise(second, 'second of A'), raise(third, 'third of A'), raise(other, 'of B')];
  large.leave();
  await raising[2];
  expect(order).toEqual(['of B']);
  expect([other.current().memoryBytes, second.current().memoryBytes]).toEqual([MEMORY, 200]);
  other.leave();
  await raising[0];
  second.leave();
  await raising[1];
  expect(third.current().memoryBytes).toBe(MEMORY);
  third.leave();
  expect([shares.running, shares.projects, shares.isIdle(A)]).toEqual([0, 0, true]);
});
