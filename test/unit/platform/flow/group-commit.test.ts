// GroupCommit: delay, limits, keys and failures.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Commit, GroupCommit } from '../../../../src/platform/flow/group-commit.js';

describe('GroupCommit', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function start(store: (commit: Commit<number>) => Promise<void>) {
    return new GroupCommit(store, { weightMax: 10, bytesMax: 100, delayMs: 3 });
  }

  test('commits requests within the delay together, and resolves them when stored', async () => {
    const commits: number[] = [];
    let stored = () => {};
    const group = start((commit) => {
      commits.push(commit.items.length);
      return new Promise((resolve) => {
        stored = resolve;
      });
    });
    const answers: string[] = [];
    const all = Promise.all(
      [1, 2].map((n) => group.add(n, { weight: n, bytes: 1 }).then(() => answers.push(`request ${n}`))),
    );
    await vi.advanceTimersByTimeAsync(2);
    expect(commits).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(commits).toEqual([2]);
    expect(answers).toEqual([]);
    stored();
    await all;
    expect(answers).toEqual(['request 1', 'request 2']);
  });

  test('collects for longer while many requests arrive', async () => {
    const commits: number[] = [];
    const group = new GroupCommit<number>(async ({ items }) => void commits.push(items.length), {
      ...{ weightMax: 100, bytesMax: 100, delayMs: 3 },
    });
    const all = Array.from({ length: 8 }, (_, n) => group.add(n, { weight: 1, bytes: 1 }));
    await vi.advanceTimersByTimeAsync(11);
    expect(commits).toEqual([]);
    all.push(group.add(9, { weight: 1, bytes: 1 }));
    await vi.advanceTimersByTimeAsync(1);
    await Promise.all(all);
    expect(commits).toEqual([9]);
  });

  test('commits each key separately, and a full key does not commit others', async () => {
    const commits: object[] = [];
    const group = start(async ({ key, items }) => void commits.push({ key, items: [...items] }));
    const all = [
      group.add(1, { weight: 1, bytes: 1, key: 'a' }),
      group.add(2, { weight: 1, bytes: 1 }),
      group.add(3, { weight: 9, bytes: 1, key: 'a' }),
    ];
    expect(commits).toEqual([{ key: 'a', items: [1, 3] }]);
    await vi.advanceTimersByTimeAsync(3);
    await Promise.all(all);
    expect(commits).toEqual([
      { key: 'a', items: [1, 3] },
      { key: '', items: [2] },
    ]);
  });

  test('commits a full group at once', async () => {
    const commits: number[] = [];
    const group = start(async (commit) => void commits.push(commit.weight));
    await Promise.all([group.add(4, { weight: 4, bytes: 1 }), group.add(6, { weight: 6, bytes: 1 })]);
    expect(commits).toEqual([10]);
  });

  test('a group is full by weight or by bytes', async () => {
    const commits: object[] = [];
    const group = start(async ({ weight, bytes }) => void commits.push({ weight, bytes }));
    await Promise.all([group.add(1, { weight: 1, bytes: 99 }), group.add(2, { weight: 1, bytes: 50 })]);
    expect(commits).toEqual([{ weight: 2, bytes: 149 }]);
  });

  test('a failed commit rejects every request of its group and none of the next', async () => {
    let tries = 0;
    const group = start(async () => {
      tries += 1;
      if (tries === 1) throw new Error('redis is unavailable');
    });
    const first = [group.add(5, { weight: 5, bytes: 1 }), group.add(5, { weight: 5, bytes: 1 })].map((added) =>
      added.catch((error: Error) => error.message),
    );
    expect(await Promise.all(first)).toEqual(['redis is unavailable', 'redis is unavailable']);
    await expect(group.add(10, { weight: 10, bytes: 1 })).resolves.toBeUndefined();
  });
});
