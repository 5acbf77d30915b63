// Admission of requests by the backlog: of all, of a project, and of a shard.
import { expect, test, vi } from 'vitest';
import { createAdmission } from '../../../../src/platform/flow/admission.js';

const LIMITS = { jobsMax: 100, memoryBytesMax: 1000, promptBytesMax: 100 };
/** Only what this process adds counts. */
const UNMEASURED = new Promise<never>(() => {});
const stored = async () => {};

const open = () => createAdmission({ measure: () => UNMEASURED, measureProjects: async () => new Map() }, LIMITS);

test('a shard that stores nothing is refused at its share, and projects of others are not', async () => {
  const admission = open();
  const add = (job: number) =>
    admission.addJob(
      {
        bytes: 1,
        shard: 'shard:2',
        shares: new Map([
          [`project ${job}`, 1],
          ['shard:2', 1],
        ]),
      },
      stored,
    );
  let added = 0;
  while (
    await add(added).then(
      () => true,
      () => false,
    )
  )
    added += 1;
  // Three times what is free.
  expect(added).toBe(76);
  expect(() => admission.admit('project 1', 'shard:2')).toThrow('does not store events at the moment');
  expect(() => admission.admit('other', 'shard:1')).not.toThrow();
});

test('with one shard, only projects have shares', async () => {
  const admission = open();
  for (let job = 0; job < 100; job += 1)
    await admission.addJob({ bytes: 1, shares: new Map([[`p${job}`, 1]]) }, stored);
  expect(() => admission.admit('next')).not.toThrow();
  await admission.addJob({ bytes: 1, shares: new Map([['p', 1]]) }, stored);
  expect(() => admission.admit('next')).toThrow('101 jobs are waiting');
});

test('a clock that is set back does not stop the measurements', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  try {
    let measured = 0;
    const measure = async () => {
      measured += 1;
      return { jobs: 0, bytes: 0 };
    };
    const admission = createAdmission({ measure, measureProjects: async () => new Map() }, LIMITS);
    admission.admit('p');
    vi.advanceTimersByTime(500);
    vi.setSystemTime(Date.now() - 3_600_000);
    admission.admit('p');
    expect(measured).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});
