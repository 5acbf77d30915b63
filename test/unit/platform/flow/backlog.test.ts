// Estimate of a queue backlog between measurements, and start tags of fair order.
import { expect, test } from 'vitest';
import { BacklogEstimate } from '../../../../src/platform/flow/backlog.js';
import { startTag } from '../../../../src/platform/redis/fair-order.js';

const job = { jobs: 1, bytes: 10 };

test('BacklogEstimate counts an added job at once, and not again after the next measurement', () => {
  const estimate = new BacklogEstimate();
  const endFirst = estimate.startAdding(job);
  expect(estimate.now).toEqual(job);
  endFirst();
  const endMeasuring = estimate.startMeasuring();
  const endSecond = estimate.startAdding(job);
  // The measurement has certainly seen the first, and possibly not the second.
  endMeasuring({ jobs: 1, bytes: 10 });
  expect(estimate.now).toEqual({ jobs: 2, bytes: 20 });
  endSecond();
  estimate.startMeasuring()({ jobs: 0, bytes: 0 });
  expect(estimate.now).toEqual({ jobs: 0, bytes: 0 });
});

test('BacklogEstimate counts what was added during a measurement until the next one', () => {
  const estimate = new BacklogEstimate();
  const endMeasuring = estimate.startMeasuring();
  estimate.startAdding(job)();
  // It may have counted before the job was there.
  endMeasuring({ jobs: 0, bytes: 0 });
  expect(estimate.now).toEqual(job);
  estimate.startMeasuring()(job);
  expect(estimate.now).toEqual(job);
});

test("startTag() adds the owner's backlog to the head of the queue, within the range of priorities", () => {
  const head = (tag: number) => ['id', String(tag * 2 ** 32 + 12_345)];
  expect(startTag([], 0)).toBe(1);
  expect(startTag(undefined, 3.7)).toBe(3);
  expect(startTag(head(7), 0.5)).toBe(7);
  expect(startTag(head(7), 12)).toBe(19);
  expect(startTag(head(2 ** 21 - 1), 12)).toBe(2 ** 21 - 1);
});
