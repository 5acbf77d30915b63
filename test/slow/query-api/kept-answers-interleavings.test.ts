// Kept answers while events are written and erased between any two steps of a question: each answer
// is that of the data at a moment after it was asked. The engine is a list of events in memory.
import { Counter, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createRandom } from '../../../bench/random.js';
import type { ProjectId } from '../../../src/platform/ids.js';
import type { CompiledQuery } from '../../../src/query/compile.js';
import type { Counted } from '../../../src/query-api/answer.js';
import { KeptAnswers, type VersionedEngine } from '../../../src/query-api/kept-answers.js';

const START = Date.UTC(2026, 10, 22, 12, 10);
const DAY_MS = 86_400_000;
const PROJECT = 'project' as ProjectId;
const PEOPLE_MAX = 4;
const ASKS = 15;

type Random = () => number;
const upTo = (random: Random, max: number): number => Math.floor(random() * (max + 1));

/** Gives way to the other actors for some turns. */
async function pass(random: Random): Promise<void> {
  for (let turns = upTo(random, 6); turns > 0; turns -= 1) await null;
}

interface Question {
  readonly fromMs: number;
  readonly toMs: number;
}

/** States of the data, one after each write. Every month has a version. */
class Data {
  readonly states: (readonly number[])[] = [[]];
  readonly #versions = new Map<string, number>();

  get current(): readonly number[] {
    return this.states.at(-1) ?? [];
  }

  get versions(): ReadonlyMap<string, ReadonlyMap<string, string>> {
    return new Map([['events', new Map([...this.#versions].map(([month, version]) => [month, String(version)]))]]);
  }

  write(time: number): void {
    this.#change(time, [...this.current, time]);
  }

  erase(random: Random): void {
    const time = this.current[upTo(random, this.current.length - 1)];
    if (time === undefined) return;
    const index = this.current.indexOf(time);
    this.#change(time, this.current.toSpliced(index, 1));
  }

  /** Other parts, with the same rows. */
  merge(): void {
    for (const [month, version] of this.#versions) this.#versions.set(month, version + 1);
  }

  #change(time: number, events: readonly number[]): void {
    const month = new Date(time).toISOString().slice(0, 7).replace('-', '');
    this.#versions.set(month, (this.#versions.get(month) ?? 0) + 1);
    this.states.push(events);
  }
}

const countIn = (events: readonly number[], { fromMs, toMs }: Question): number =>
  events.filter((time) => time >= fromMs && time < toMs).length;

function compileAs({ fromMs, toMs }: Question): CompiledQuery {
  const reads = { tables: ['events'], ranges: [{ fromMs, toMs }], bounds: { p1: fromMs, p2: toMs } };
  const statement = { sql: 'SELECT count()', params: { p1: String(fromMs), p2: String(toMs) }, reads };
  return { statement, rowsKept: 1 } as unknown as CompiledQuery;
}

function openEngine(data: Data, random: Random): VersionedEngine {
  const readAtSomeMoment = async <T>(read: () => T): Promise<T> => {
    await pass(random);
    const value = read();
    await pass(random);
    return value;
  };
  const query = ({ query_params: params }: { query_params: Record<string, number> }) =>
    readAtSomeMoment(() => {
      const firstIn = (position: number) =>
        data.current
          .filter((time) => time >= Number(params[`from${position}`]) && time < Number(params[`to${position}`]))
          .sort((a, b) => a - b)[0] ?? null;
      const rows = [0, 1].map((position) => [position, firstIn(position)]);
      return { json: async () => ({ data: rows }) };
    });
  return {
    clickhouse: { query } as unknown as VersionedEngine['clickhouse'],
    versions: { read: () => readAtSomeMoment(() => data.versions) },
  };
}

const toCounted = (count: number): Counted => ({
  page: { pieces: [Uint8Array.of(count)], byteLength: 1, rowCount: 1, rowsScanned: 1, rowsBeforeLimit: 1 },
  total: 1,
  rowsScanned: 1,
});

/** Actors that ask, and others that write, in an order that the seed decides. */
async function interleave(seed: number, used: Counter<'result'>): Promise<number> {
  const random = createRandom(seed);
  const data = new Data();
  let nowMs = START;
  const kept = new KeptAnswers(1_000_000, { used, now: () => nowMs });
  const engine = openEngine(data, random);
  let asking = 0;

  async function ask(): Promise<void> {
    const first = data.states.length - 1;
    const versions = engine.versions.read();
    await pass(random);
    const days = upTo(random, 1) === 0 ? 7 : 30;
    const question = { fromMs: nowMs - days * DAY_MS, toMs: nowMs };
    const found = await kept.find({ engine, projectId: PROJECT, compiled: compileAs(question), offset: 0, versions });
    const run = async () => {
      await pass(random);
      const count = countIn(data.current, question);
      // Long enough for others to ask meanwhile.
      for (let turns = upTo(random, 6); turns > 0; turns -= 1) await pass(random);
      return toCounted(count);
    };
    if (found.kind === 'unknown') throw new Error('the engine always answers');
    const counted =
      found.kind === 'answer' ? found.counted : await kept.run(found, { run, signal: new AbortController().signal });
    const possible = data.states.slice(first).map((events) => countIn(events, question));
    expect({ seed, possible }).toEqual({ seed, possible: expect.arrayContaining([counted.page.pieces[0]?.[0]]) });
  }

  async function askAll(): Promise<void> {
    asking += 1;
    try {
      for (let turn = 0; turn < ASKS; turn += 1) await ask();
    } finally {
      asking -= 1;
    }
  }

  async function write(): Promise<void> {
    while (asking > 0) {
      // Long enough for answers to hold, now and then.
      for (let turns = upTo(random, 8); turns > 0; turns -= 1) await pass(random);
      const edge = nowMs - ([0, 7, 30][upTo(random, 2)] ?? 0) * DAY_MS;
      const kind = random();
      if (kind < 0.35) data.write(edge + upTo(random, 40) - 20);
      else if (kind < 0.5) data.erase(random);
      else if (kind < 0.6) data.merge();
      else nowMs += upTo(random, 12);
    }
  }

  const askers = Array.from({ length: 1 + upTo(random, PEOPLE_MAX - 1) }, askAll);
  await Promise.all([...askers, write()]);
  kept.close();
  return askers.length * ASKS;
}

test('an answer is never older than its question, whatever is written between its steps', async () => {
  const used = new Counter({ name: 'used', help: 'used', labelNames: ['result'], registers: [new Registry()] });
  let asked = 0;
  for (let seed = 1; seed <= 250; seed += 1) asked += await interleave(seed, used);
  const { values } = await used.get();
  const results = Object.fromEntries(values.map(({ labels, value }) => [labels.result, value]));
  expect(asked).toBeGreaterThan(5_000);
  for (const result of ['hit', 'changed', 'shared']) expect(results[result]).toBeGreaterThan(250);
});
