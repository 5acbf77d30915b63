// Fair concurrency limit of queries: places per project, queue, aborted requests.
import { expect, test } from 'vitest';
import { toProjectId } from '../../../src/platform/ids.js';
import { type Leave, QueryConcurrency, type QueryConcurrencyLimits } from '../../../src/query-api/query-concurrency.js';

const stay = new AbortController().signal;
const A = toProjectId('aaaaaaaa-0000-4000-8000-000000000000');
const B = toProjectId('bbbbbbbb-0000-4000-8000-000000000000');
const C = toProjectId('cccccccc-0000-4000-8000-000000000000');
const NAMES = new Map([
  [A, 'a'],
  [B, 'b'],
  [C, 'c'],
]);

const create = (limits: Partial<QueryConcurrencyLimits> = {}): QueryConcurrency =>
  new QueryConcurrency({ concurrency: 4, perProjectMax: 3, queueMax: 100, ...limits });

/** Records the projects that are admitted in order, and lets them leave. */
function watch(concurrency: QueryConcurrency) {
  const order: string[] = [];
  const leaves: Leave[] = [];
  const ask = (projectId: typeof A, times = 1, ownerId: string = projectId): void => {
    for (let time = 0; time < times; time++) {
      void concurrency.enter({ projectId, ownerId }, new AbortController().signal).then((leave) => {
        order.push(NAMES.get(projectId) ?? '');
        leaves.push(leave);
      });
    }
  };
  const leaveFirst = async (): Promise<void> => {
    leaves.shift()?.();
    await settle();
  };
  return { order, ask, leaveFirst };
}

/** A project whose owner has no other one. */
const only = (projectId: typeof A) => ({ projectId, ownerId: projectId });

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a project gets its maximum of places, and the last place is reserved for a project without queries', async () => {
  const concurrency = create({ concurrency: 3 });
  const { order, ask } = watch(concurrency);
  ask(A, 10);
  await settle();
  expect([order.join(''), concurrency.running, concurrency.waiting]).toEqual(['aa', 2, 8]);
  ask(B);
  await settle();
  expect([order.join(''), concurrency.running, concurrency.waiting]).toEqual(['aab', 3, 8]);
});

test('a single place is available to every project', async () => {
  const concurrency = create({ concurrency: 1 });
  const { order, ask, leaveFirst } = watch(concurrency);
  ask(A, 2);
  ask(B, 1);
  await settle();
  await leaveFirst();
  await leaveFirst();
  expect(order.join('')).toBe('aba');
});

test('a free place goes to the project with the fewest queries, round-robin among equals', async () => {
  const concurrency = create({ concurrency: 3, perProjectMax: 2 });
  const { order, ask, leaveFirst } = watch(concurrency);
  ask(A, 6);
  ask(B, 4);
  ask(C, 2);
  await settle();
  expect(order.join('')).toBe('aab');
  for (let time = 0; time < 8; time++) await leaveFirst();
  expect(order.join('')).toBe('aabcabcaba');
});

test('many projects of one owner wait for the one project of another', async () => {
  const concurrency = create({ concurrency: 2 });
  const { order, ask, leaveFirst } = watch(concurrency);
  ask(A, 3, 'many');
  ask(B, 3, 'many');
  ask(C, 3, 'one');
  await settle();
  expect(order.join('')).toBe('ab');
  for (let time = 0; time < 7; time++) await leaveFirst();
  expect(order.join('')).toBe('abcacbcab');
});

test('the queue is bounded per project, and other projects are still admitted', async () => {
  const concurrency = create({ queueMax: 2 });
  const { order, ask } = watch(concurrency);
  ask(A, 5);
  await settle();
  await expect(concurrency.enter(only(A), stay)).rejects.toMatchObject({
    status: 429,
    message: expect.stringMatching(/3 run and 2 wait \(limit: 2 waiting\)/),
  });
  ask(B);
  await settle();
  expect(order.join('')).toBe('aaab');
});

test('a refused project leaves nothing behind', async () => {
  const concurrency = create({ concurrency: 1, queueMax: 0 });
  const leave = await concurrency.enter(only(A), stay);
  await expect(concurrency.enter(only(B), stay)).rejects.toMatchObject({ status: 429 });
  expect(concurrency.projects).toBe(1);
  leave();
  expect(concurrency.projects).toBe(0);
});

test('a place is released once, also when leave() is called repeatedly', async () => {
  const concurrency = create();
  const leave = await concurrency.enter(only(A), stay);
  await concurrency.enter(only(B), stay);
  leave();
  leave();
  expect([concurrency.running, concurrency.projects]).toEqual([1, 1]);
});

test('an aborted request is not admitted and blocks no other', async () => {
  const concurrency = create({ concurrency: 1 });
  const leave = await concurrency.enter(only(A), stay);
  const impatient = new AbortController();
  const leaving = concurrency.enter(only(B), impatient.signal);
  const next = concurrency.enter(only(C), stay);
  impatient.abort(new Error('left'));
  await expect(leaving).rejects.toThrow('left');
  leave();
  (await next)();
  expect([concurrency.running, concurrency.waiting, concurrency.projects]).toEqual([0, 0, 0]);
});

test('a request that is already aborted is not admitted', async () => {
  const concurrency = create();
  await expect(concurrency.enter(only(A), AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
  expect([concurrency.running, concurrency.projects]).toEqual([0, 0]);
});

test('tryEnter() admits at once or not at all', () => {
  const concurrency = create({ concurrency: 1 });
  const leave = concurrency.tryEnter(only(A));
  expect([concurrency.tryEnter(only(B)), concurrency.waiting]).toEqual([undefined, 0]);
  leave?.();
  expect(concurrency.tryEnter(only(B))).toBeDefined();
});
