// runClaimed: every piece once, several at a time, and what a stop or a failure ends.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runClaimed } from '../../../../src/platform/flow/run-claimed.js';

const never = new AbortController().signal;

function source(count: number) {
  const pieces = Array.from({ length: count }, (_, index) => index);
  const counts = { claims: 0, running: 0, highest: 0 };
  const done: number[] = [];
  const claim = async (): Promise<number | undefined> => {
    counts.claims++;
    return pieces.shift();
  };
  const work = async (piece: number): Promise<void> => {
    counts.highest = Math.max(counts.highest, ++counts.running);
    await delay(1);
    counts.running--;
    done.push(piece);
  };
  return { claim, work, counts, done };
}

test('works on every piece, several at a time', async () => {
  const { claim, work, counts, done } = source(10);
  await runClaimed({ claim, work, concurrency: 3, signal: never });
  expect(done.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(counts.highest).toBe(3);
});

test('asks once when nothing is due', async () => {
  const { claim, work, counts } = source(0);
  await runClaimed({ claim, work, concurrency: 3, signal: never });
  expect(counts.claims).toBe(1);
});

test('finds what becomes due when another piece ends', async () => {
  const due = ['first'];
  const done: string[] = [];
  const work = async (piece: string): Promise<void> => {
    await delay(1);
    if (piece === 'first') due.push('second');
    done.push(piece);
  };
  await runClaimed({ claim: async () => due.shift(), work, concurrency: 3, signal: never });
  expect(done).toEqual(['first', 'second']);
});

test('finds what becomes due while a long piece runs', async () => {
  const due = ['long'];
  const done: string[] = [];
  const work = async (piece: string): Promise<void> => {
    if (piece === 'long') {
      due.push('second');
      while (done.length === 0) await delay(10);
    }
    done.push(piece);
  };
  const claim = async () => (done.length === 0 && due[0] === 'second' && !isDue() ? undefined : due.shift());
  const from = performance.now();
  const isDue = () => performance.now() - from > 100;
  await runClaimed({ claim, work, concurrency: 3, signal: never });
  expect(done).toEqual(['second', 'long']);
});

test('claims nothing more when it is aborted or a piece fails, and ends what has begun', async () => {
  const { claim, work, done } = source(10);
  const stopping = new AbortController();
  const stop = async (piece: number): Promise<void> => {
    await work(piece);
    if (piece === 1) stopping.abort();
  };
  await runClaimed({ claim, work: stop, concurrency: 1, signal: stopping.signal });
  expect(done).toEqual([0, 1]);

  const failing = source(10);
  const fail = async (piece: number): Promise<void> => {
    await failing.work(piece);
    if (piece === 1) throw new Error('broken');
  };
  await expect(runClaimed({ claim: failing.claim, work: fail, concurrency: 1, signal: never })).rejects.toThrow(
    'broken',
  );
  expect(failing.done).toEqual([0, 1]);
});

test('ends after every piece that has begun when it is aborted', async () => {
  const stopping = new AbortController();
  const pieces = ['long', 'stop'];
  const done: string[] = [];
  const work = async (piece: string): Promise<void> => {
    if (piece === 'stop') stopping.abort();
    else while (!stopping.signal.aborted || !done.includes('stop')) await delay(1);
    done.push(piece);
  };
  await runClaimed({ claim: async () => pieces.shift(), work, concurrency: 2, signal: stopping.signal });
  expect(done).toEqual(['stop', 'long']);
});

test('ends after every piece that has begun when a claim fails', async () => {
  const done: string[] = [];
  const due = ['long'];
  const work = async (piece: string): Promise<void> => {
    await delay(20);
    done.push(piece);
  };
  const claim = async () => {
    const piece = due.shift();
    if (piece === undefined) throw new Error('no connection');
    return piece;
  };
  await expect(runClaimed({ claim, work, concurrency: 2, signal: never })).rejects.toThrow('no connection');
  expect(done).toEqual(['long']);
});
