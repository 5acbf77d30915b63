// Where a query is compiled: in the event loop, or in a thread when its fixes could take long.
import { expect, test } from 'vitest';
import { toProjectId } from '../../../src/platform/ids.js';
import type { ThreadPool } from '../../../src/platform/threads/thread-pool.js';
import { compileOffLoop } from '../../../src/query-api/compile-task.js';
import type { PropertyGuesses } from '../../../src/query-api/property-guesses.js';

const context = {
  projectId: toProjectId('00000000-0000-7000-8000-000000000001'),
  ...{ nowMs: Date.parse('2026-01-01'), timezone: 'UTC', limit: 100, offset: 0 },
};

/** Resolves with the answer and the texts that a thread compiled. */
async function compileAndWatch(text: string) {
  const inThreads: string[] = [];
  const threads = { run: async (_: unknown, request: { text: string }) => inThreads.push(request.text) };
  const guesses = { of: () => () => 'text', known: () => new Map() };
  const answer = await compileOffLoop(
    { threads: threads as unknown as ThreadPool, guesses: guesses as unknown as PropertyGuesses },
    text,
    context,
  );
  return { answer, inThreads };
}

const longOf = (stage: string): string => `signup | where ${Array(50).fill('_browser = "x"').join(' or ')} | ${stage}`;

test('fixes of a short query are searched in the event loop', async () => {
  const { answer, inThreads } = await compileAndWatch('signup | cuont');
  expect(answer).toMatchObject({ details: [{ fix: { text: 'count' } }] });
  expect(inThreads).toEqual([]);
});

test('a long query without a mistake is compiled in the event loop', async () => {
  const { answer, inThreads } = await compileAndWatch(longOf('count'));
  expect(answer).toHaveProperty('compiled');
  expect(inThreads).toEqual([]);
});

test('fixes of a long query are searched in a thread', async () => {
  const text = longOf('cuont');
  expect((await compileAndWatch(text)).inThreads).toEqual([text]);
});
