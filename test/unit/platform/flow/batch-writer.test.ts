// BatchWriter: batching, delays, back-pressure, failures and shutdown.
import { pino } from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { BatchWriter, type BatchWriterOptions } from '../../../../src/platform/flow/batch-writer.js';

class Rows {
  readonly values: string[] = [];
  get rows(): number {
    return this.values.length;
  }
}

class BadData extends Error {}
const badData = () => new BadData();

function start(
  write: (rows: readonly string[], signal: AbortSignal) => Promise<void>,
  options: Partial<BatchWriterOptions<Rows>> = {},
) {
  const writer = new BatchWriter<Rows>({
    createBlock: () => new Rows(),
    write: (block, signal) => write(block.values, signal),
    isRefused: (error) => error instanceof BadData,
    rowsMax: 4,
    delayMs: { min: 5, max: 5 },
    capacityRows: 8,
    log: pino({ level: 'silent' }),
    ...options,
  });
  const add = (...values: string[]) => writer.add((block) => void block.values.push(...values));
  return { writer, add };
}

/** A store whose writes wait until the test ends each. */
function heldStore() {
  const writes: { rows: string[]; end: (error?: Error) => void }[] = [];
  const write = (rows: readonly string[]) =>
    new Promise<void>((resolve, reject) => {
      writes.push({ rows: [...rows], end: (error) => (error === undefined ? resolve() : reject(error)) });
    });
  return { writes, write };
}

describe('BatchWriter', () => {
  afterEach(() => void vi.useRealTimers());

  test('writes the rows of several callers together when the batch is full', async () => {
    const written: string[][] = [];
    const { add } = start(async (rows) => void written.push([...rows]));
    await Promise.all([add('a', 'b'), add('c'), add('d')]);
    expect(written).toEqual([['a', 'b', 'c', 'd']]);
  });

  test('writes few rows after the delay', async () => {
    const written: string[][] = [];
    const { add } = start(async (rows) => void written.push([...rows]));
    await add('a');
    expect(written).toEqual([['a']]);
  });

  test.each([
    [600, 200],
    [60, 60],
  ])('delays by four times the duration of a write, at most %d ms', async (max, expected) => {
    vi.useFakeTimers();
    const startedAt: number[] = [];
    const write = async () => {
      startedAt.push(performance.now());
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    const { add } = start(write, { delayMs: { min: 1, max } });
    await Promise.all([add('a'), vi.advanceTimersByTimeAsync(1 + 50)]);
    const second = performance.now();
    await Promise.all([add('b'), vi.advanceTimersByTimeAsync(expected + 50)]);
    expect(startedAt.map((ms) => ms - second)).toEqual([-50, expected]);
  });

  test('delays a row by the minimum after the store has rested, and by the rest of it before', async () => {
    vi.useFakeTimers();
    const startedAt: number[] = [];
    const write = async () => {
      startedAt.push(performance.now());
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    const { add } = start(write, { delayMs: { min: 5, max: 600 } });
    await Promise.all([add('a'), vi.advanceTimersByTimeAsync(5 + 50)]);
    await vi.advanceTimersByTimeAsync(120);
    const second = performance.now();
    await Promise.all([add('b'), vi.advanceTimersByTimeAsync(80 + 50)]);
    await vi.advanceTimersByTimeAsync(300);
    const third = performance.now();
    await Promise.all([add('c'), vi.advanceTimersByTimeAsync(5 + 50)]);
    expect(startedAt.slice(1)).toEqual([second + 80, third + 5]);
  });

  test('uses the maximum delay only after a write of many rows', async () => {
    vi.useFakeTimers();
    const writes: string[][] = [];
    const limits = { rowsMax: 500, capacityRows: 1000, delayMs: { min: 1, max: 600_000 } };
    const rows = (count: number) => Array.from({ length: count }, String);
    for (const [count, delayMs] of [
      [499, 1],
      // A full batch is written at once, one millisecond before the next row.
      [500, 599_999],
    ] as const) {
      writes.length = 0;
      const { add } = start(async (written) => void writes.push([...written]), limits);
      await Promise.all([add(...rows(count)), vi.advanceTimersByTimeAsync(1)]);
      const added = add('a');
      await vi.advanceTimersByTimeAsync(delayMs - 1);
      expect(writes).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1);
      await added;
      expect(writes.at(-1)).toEqual(['a']);
    }
  });

  test('resolves add() after its rows are stored, and runs one write at a time', async () => {
    const { writes, write } = heldStore();
    const { add } = start(write, { delayMs: { min: 0, max: 0 } });
    const heard: string[] = [];
    const first = add('a', 'b', 'c', 'd').then(() => heard.push('first'));
    const second = add('e', 'f', 'g', 'h').then(() => heard.push('second'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(writes.map(({ rows }) => rows)).toEqual([['a', 'b', 'c', 'd']]);
    expect(heard).toEqual([]);
    writes[0]?.end();
    await first;
    expect(heard).toEqual(['first']);
    expect(writes).toHaveLength(2);
    writes[1]?.end();
    await second;
  });

  test('retries a transient failure with the same rows', async () => {
    let tries = 0;
    const { add } = start(async (rows) => {
      expect(rows).toEqual(['a', 'b', 'c', 'd']);
      tries += 1;
      if (tries < 3) throw new Error('connection refused');
    });
    await add('a', 'b', 'c', 'd');
    expect(tries).toBe(3);
  });

  test('rejects only the caller whose rows are refused', async () => {
    const stored: string[] = [];
    const { add } = start(async (rows) => {
      if (rows.includes('poison')) throw badData();
      stored.push(...rows);
    });
    const ends = await Promise.allSettled([add('a', 'b'), add('poison'), add('c')]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(stored).toEqual(['a', 'b', 'c']);
  });

  test('finds refused rows among those of many callers in few writes', async () => {
    let writes = 0;
    const log = pino({ level: 'silent' });
    const logged = vi.spyOn(log, 'warn');
    const { add } = start(
      async (rows) => {
        writes += 1;
        if (rows.includes('poison')) throw badData();
      },
      { rowsMax: 64, log },
    );
    const ends = await Promise.allSettled(
      Array.from({ length: 64 }, (_, caller) => add(caller === 37 ? 'poison' : `${caller}`)),
    );
    expect(ends.flatMap(({ status }, caller) => (status === 'rejected' ? caller : []))).toEqual([37]);
    // The whole, and both halves six times.
    expect(writes).toBe(1 + 2 * 6);
    expect(logged).toHaveBeenCalledTimes(1);
  });

  test('room() waits while the batch after a running write is full', async () => {
    const { writes, write } = heldStore();
    const { writer, add } = start(write);
    const all = [add('1', '2', '3', '4'), add('5', '6', '7', '8', '9', '10', '11', '12')];
    let hasRoom = false;
    const waited = writer.room().then(() => {
      hasRoom = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(hasRoom).toBe(false);
    writes[0]?.end();
    await waited;
    writes[1]?.end();
    await Promise.all(all);
  });

  test('room() is round-robin by key, with a reserve for prompt callers', async () => {
    const { writes, write } = heldStore();
    const { writer, add } = start(write, { rowsMax: 2, capacityRows: 2 });
    const all = [add('first', 'write'), add('full', 'batch')];
    const caller = async (name: string, isPrompt: boolean) => {
      await writer.room({ key: name.slice(0, 1), isPrompt });
      await add(name);
    };
    all.push(...['a1', 'a2', 'a3', 'b1'].map((name) => caller(name, false)), caller('prompt', true));
    const finish = async (index: number) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      writes[index]?.end();
    };
    for (let index = 0; index < 4; index += 1) await finish(index);
    await Promise.all(all);
    expect(writes.map(({ rows }) => rows)).toEqual([
      ['first', 'write'],
      ['full', 'batch', 'prompt'],
      ['a1', 'b1'],
      ['a2', 'a3'],
    ]);
  });

  test('a batch is full by the cost of its rows', async () => {
    class Dear extends Rows {
      get cost(): number {
        return 3 * this.rows;
      }
    }
    const written: number[] = [];
    const writer = new BatchWriter<Dear>({
      createBlock: () => new Dear(),
      write: async (block) => void written.push(block.rows),
      isRefused: () => false,
      rowsMax: 6,
      delayMs: { min: 60_000, max: 60_000 },
      capacityRows: 6,
      log: pino({ level: 'silent' }),
    });
    await Promise.all(['a', 'b'].map((value) => writer.add((block) => void block.values.push(value))));
    expect(written).toEqual([2]);
  });

  test('close() writes collected rows, and rejects their callers when the write fails', async () => {
    const { writer, add } = start(async () => {}, { delayMs: { min: 60_000, max: 60_000 } });
    const added = add('a');
    await writer.close();
    await added;

    const failing = start(() => Promise.reject(new Error('away')), { delayMs: { min: 0, max: 0 } });
    const failed = failing.add('a').catch((error: Error) => error.message);
    await new Promise((resolve) => setTimeout(resolve, 10));
    await failing.writer.close();
    expect(await failed).toBe('away');
  });

  test('close() aborts a write that does not end', async () => {
    const write = (_rows: readonly string[], signal: AbortSignal) =>
      new Promise<void>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('given up')));
      });
    const { writer, add } = start(write, { closeGraceMs: 20 });
    const added = add('a', 'b', 'c', 'd').catch((error: Error) => error.message);
    await writer.close();
    expect(await added).toBe('given up');
  });

  test('rejects only the caller whose rows cannot be built', async () => {
    const stored: string[] = [];
    const { writer, add } = start(async (rows) => void stored.push(...rows));
    const broken = writer.add(() => {
      throw new Error('torn frame');
    });
    await expect(broken).rejects.toThrow('torn frame');
    await add('a', 'b', 'c', 'd');
    expect(stored).toEqual(['a', 'b', 'c', 'd']);
  });
});
