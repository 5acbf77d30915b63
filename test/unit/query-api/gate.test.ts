import { expect, test } from 'vitest';
import { createGate } from '../../../src/query-api/gate.js';

const stay = new AbortController().signal;

/** A task that ends when it is told to. */
function holding() {
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return { task: () => done, finish };
}

test('runs as many as it may, the rest in the order they came', async () => {
  const gate = createGate({ concurrency: 2, waitingMax: 10 });
  const started: number[] = [];
  const tasks = [0, 1, 2, 3].map(() => holding());
  const runs = tasks.map(({ task }, index) =>
    gate.run(() => {
      started.push(index);
      return task();
    }, stay),
  );
  await Promise.resolve();
  expect([started, gate.running, gate.waiting]).toEqual([[0, 1], 2, 2]);
  tasks[1]?.finish();
  await runs[1];
  expect([started, gate.running, gate.waiting]).toEqual([[0, 1, 2], 2, 1]);
  for (const { finish } of tasks) finish();
  await Promise.all(runs);
  expect([started, gate.running, gate.waiting]).toEqual([[0, 1, 2, 3], 0, 0]);
});

test('refuses when the queue is full', async () => {
  const gate = createGate({ concurrency: 1, waitingMax: 1 });
  const first = holding();
  const runs = [gate.run(first.task, stay), gate.run(async () => {}, stay)];
  await expect(gate.run(async () => {}, stay)).rejects.toMatchObject({ kind: 'rate_limited', status: 429 });
  first.finish();
  await Promise.all(runs);
});

test('a task that fails leaves its place to the next', async () => {
  const gate = createGate({ concurrency: 1, waitingMax: 1 });
  const failing = gate.run(() => Promise.reject(new Error('no')), stay);
  const next = gate.run(async () => 'yes', stay);
  await expect(failing).rejects.toThrow('no');
  await expect(next).resolves.toBe('yes');
  expect(gate.running).toBe(0);
});

test('who gives up while waiting is not run, and blocks nobody', async () => {
  const gate = createGate({ concurrency: 1, waitingMax: 5 });
  const first = holding();
  const running = gate.run(first.task, stay);
  const impatient = new AbortController();
  const leaving = gate.run(async () => 'never', impatient.signal);
  const next = gate.run(async () => 'next', stay);
  impatient.abort(new Error('left'));
  await expect(leaving).rejects.toThrow('left');
  first.finish();
  await running;
  await expect(next).resolves.toBe('next');
  expect([gate.running, gate.waiting]).toEqual([0, 0]);
});

test('who has already left is not let in', async () => {
  const gate = createGate({ concurrency: 1, waitingMax: 5 });
  await expect(gate.run(async () => {}, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
  expect(gate.running).toBe(0);
});
