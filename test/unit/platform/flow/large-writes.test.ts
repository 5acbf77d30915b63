// Large inserts of several stores take turns; small ones and a store that hangs hold up none.
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BatchWriter } from '../../../../src/platform/flow/batch-writer.js';
import { LargeWrites } from '../../../../src/platform/flow/large-writes.js';

const ROWS_MAX = 4;
const HOLD_MS = 1000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A writer per store, and what each was asked to write. */
function startStores(names: readonly string[], max = 1) {
  const largeWrites = new LargeWrites({ max, holdMs: HOLD_MS });
  const writes: { store: string; rows: number; end: (error?: Error) => void }[] = [];
  const stores = names.map((store) => {
    const writer = new BatchWriter<{ rows: number }>({
      createBlock: () => ({ rows: 0 }),
      write: ({ rows }) =>
        new Promise<void>((resolve, reject) => {
          writes.push({ store, rows, end: (error) => (error === undefined ? resolve() : reject(error)) });
        }),
      isRefused: () => false,
      rowsMax: ROWS_MAX,
      delayMs: { min: 1, max: 1 },
      capacityRows: 100,
      log: pino({ level: 'silent' }),
      largeWrites,
    });
    const add = (rows: number) => {
      void writer.add((block) => {
        block.rows += rows;
      });
      return vi.advanceTimersByTimeAsync(1);
    };
    return { writer, add };
  });
  const shown = () => writes.map(({ store, rows }) => `${store} ${rows}`);
  return {
    stores,
    writes,
    shown,
    end: (index: number, error?: Error) => {
      writes[index]?.end(error);
      return vi.advanceTimersByTimeAsync(1);
    },
  };
}

describe('large writes', () => {
  test('take turns, and batches grow while they wait', async () => {
    const { stores, shown, end } = startStores(['a', 'b', 'c']);
    const [a, b, c] = stores;
    await a?.add(4);
    await b?.add(4);
    await c?.add(4);
    await b?.add(3);
    expect(shown()).toEqual(['a 4']);
    await a?.add(5);
    await end(0);
    expect(shown()).toEqual(['a 4', 'b 7']);
    await end(1);
    await end(2);
    expect(shown()).toEqual(['a 4', 'b 7', 'c 4', 'a 5']);
    await end(3);
    await b?.add(4);
    expect(shown().at(-1)).toBe('b 4');
  });

  test('as many as the limit run at once', async () => {
    const { stores, shown } = startStores(['a', 'b', 'c'], 2);
    for (const store of stores) await store.add(4);
    expect(shown()).toEqual(['a 4', 'b 4']);
  });

  test('small ones wait for none', async () => {
    const { stores, shown } = startStores(['a', 'b']);
    await stores[0]?.add(4);
    await stores[1]?.add(1);
    expect(shown()).toEqual(['a 4', 'b 1']);
  });

  test('a store that gives no answer has its place for twice as long as the slowest of the last took', async () => {
    const { stores, shown, end } = startStores(['a', 'b', 'c']);
    const [a, b, c] = stores;
    const write = async (store: typeof a, tookMs: number) => {
      await store?.add(4);
      await vi.advanceTimersByTimeAsync(tookMs);
      await end(shown().length - 1);
    };
    await write(a, 200);
    await write(b, 70);
    await a?.add(4);
    await b?.add(5);
    await c?.add(6);
    const before = ['a 4', 'b 4', 'a 4'];
    await vi.advanceTimersByTimeAsync(380);
    expect(shown()).toEqual(before);
    await vi.advanceTimersByTimeAsync(50);
    expect(shown()).toEqual([...before, 'b 5']);
    // Its late answer gives back no place of another.
    await vi.advanceTimersByTimeAsync(300);
    await end(2);
    expect(shown()).toEqual([...before, 'b 5']);
    await end(3);
    expect(shown()).toEqual([...before, 'b 5', 'c 6']);
  });

  test('no store has its place for longer than the limit', async () => {
    const { stores, shown, end } = startStores(['a', 'b']);
    await stores[0]?.add(4);
    await vi.advanceTimersByTimeAsync(HOLD_MS - 10);
    await end(0);
    for (const store of stores) await store.add(4);
    await vi.advanceTimersByTimeAsync(HOLD_MS - 10);
    expect(shown()).toEqual(['a 4', 'a 4']);
    await vi.advanceTimersByTimeAsync(10);
    expect(shown()).toEqual(['a 4', 'a 4', 'b 4']);
  });

  test('a store that fails has no place while it waits to try again', async () => {
    const { stores, shown, end } = startStores(['a', 'b']);
    for (const store of stores) await store.add(4);
    await end(0, new Error('connection refused'));
    expect(shown()).toEqual(['a 4', 'b 4']);
  });

  test('a writer that closes waits for none', async () => {
    const { stores, shown, end } = startStores(['a', 'b', 'c']);
    for (const store of stores) await store.add(4);
    const closed = stores[1]?.writer.close();
    await vi.advanceTimersByTimeAsync(1);
    expect(shown()).toEqual(['a 4', 'b 4']);
    await end(1);
    await closed;
    // The place that it was waiting for goes on to the next.
    await end(0);
    expect(shown()).toEqual(['a 4', 'b 4', 'c 4']);
  });
});
