// Admission of requests by the backlog: of all, of a project, and of a shard.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAdmission } from '../../../../src/platform/flow/admission.js';
import type { Backlog } from '../../../../src/platform/flow/backlog.js';

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

describe('a measurement', () => {
  const NOTHING: Backlog = { jobs: 0, bytes: 0 };
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** What the next measurement finds. */
  function openMeasured() {
    const found = { all: NOTHING, projects: new Map<string, Backlog>() };
    const admission = createAdmission(
      { measure: async () => found.all, measureProjects: async () => found.projects },
      LIMITS,
    );
    const addAlone = (projectId: string, bytes: number) =>
      admission.addJob({ bytes, projectId, shares: new Map([[projectId, bytes]]) }, stored);
    return { admission, found, addAlone };
  }

  test('makes room again for a project whose events are stored', async () => {
    const { admission, addAlone } = openMeasured();
    await addAlone('p', 900);
    expect(() => admission.admit('p')).toThrow('used up its share');
    await vi.advanceTimersByTimeAsync(0);
    expect(() => admission.admit('p')).not.toThrow();
    expect(admission.backlogOf('p')).toEqual(NOTHING);
  });

  test('counts what other processes have added for a project', async () => {
    const { admission, found } = openMeasured();
    found.all = { jobs: 1, bytes: 900 };
    found.projects.set('p', { jobs: 0, bytes: 900 });
    admission.admit('p');
    await vi.advanceTimersByTimeAsync(0);
    expect(() => admission.admit('p')).toThrow('used up its share');
    expect(() => admission.admit('other')).not.toThrow();
  });

  test('is repeated without requests as long as the queue is full', async () => {
    const { admission, found } = openMeasured();
    found.all = { jobs: 101, bytes: 0 };
    admission.admit('p');
    await vi.advanceTimersByTimeAsync(0);
    expect(() => admission.admit('p')).toThrow('101 jobs are waiting');
    found.all = NOTHING;
    await vi.advanceTimersByTimeAsync(600);
    expect(() => admission.admit('p')).not.toThrow();
  });

  test('counts a job for its project only where all its events are of the project', async () => {
    const { admission, addAlone } = openMeasured();
    await addAlone('alone', 1);
    await admission.addJob({ bytes: 1, shares: new Map([['shared', 1]]) }, stored);
    expect(['alone', 'shared'].map((id) => admission.backlogOf(id).jobs)).toEqual([1, 0]);
  });
});
