// Versions of the tables decide whether a kept answer holds; they must come from the host that runs
// the query, and are read while it is looked up.
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ClickHouseClient } from '../../../src/platform/clickhouse/client.js';
import type { Shard, Shards } from '../../../src/platform/clickhouse/shards.js';
import type { ProjectId } from '../../../src/platform/ids.js';
import { type Engine, Engines, findEngine } from '../../../src/query-api/engines.js';

const clickhouse = {
  query: () => Promise.resolve({ json: () => Promise.resolve({ data: [['events', '202611', 'hash']] }) }),
} as unknown as ClickHouseClient;

const host = { name: 'a:8123', clickhouse };
const writer = {} as NonNullable<Shard['writer']>;
const PROJECT = 'project' as ProjectId;

const limits = { concurrency: 6, perProjectMax: 3, queueMax: 32, memoryBytes: 1 };
const createEngines = (shards: object) =>
  new Engines({ readerOf: () => clickhouse, ...shards } as unknown as Shards, {
    ...limits,
    log: pino({ level: 'silent' }),
  });

test.each([
  { name: 'one host', hosts: [host], writes: {}, isKnown: true },
  { name: 'replicas with an address each', hosts: [host, host], writes: { writer }, isKnown: true },
  { name: 'several hosts behind one address', hosts: [host], writes: { writer }, isKnown: false },
])('versions of a shard with $name: $isKnown', async ({ hosts, writes, isKnown }) => {
  const shard: Shard = { id: 1, clickhouse, hosts, ...writes };
  const engines = createEngines({ first: shard, homeOf: () => Promise.resolve({ at: shard }) });
  const { versions } = await engines.engineOf(PROJECT);
  expect((await versions.read()) !== undefined).toBe(isKnown);
});

test('the last engine of a project is the one that it was found on', async () => {
  const shards = [1, 2].map((id): Shard => ({ id, clickhouse, hosts: [host] }));
  let [home] = shards;
  const engines = createEngines({ first: home, homeOf: () => Promise.resolve({ at: home }) });
  expect(engines.lastEngineOf(PROJECT)).toBeUndefined();
  const first = await engines.engineOf(PROJECT);
  expect(engines.lastEngineOf(PROJECT)).toBe(first);
  home = shards[1];
  const second = await engines.engineOf(PROJECT);
  expect(second).not.toBe(first);
  expect(engines.lastEngineOf(PROJECT)).toBe(second);
});

/** Counts how often its versions are read. */
function countingEngine() {
  const versions = new Map<string, ReadonlyMap<string, string>>();
  const engine = { reads: 0, versions: { read: () => Promise.resolve(versions).finally(() => (engine.reads += 1)) } };
  return { engine: engine as unknown as Engine & { reads: number }, versions };
}

test('versions are read while the place of the project is looked up', async () => {
  const { engine, versions } = countingEngine();
  let answer = (_place: Engine) => {};
  const place = new Promise<Engine>((resolve) => {
    answer = resolve;
  });
  const finding = findEngine({ engineOf: () => place, lastEngineOf: () => engine }, PROJECT);
  await expect.poll(() => engine.reads).toBe(1);
  answer(engine);
  const found = await finding;
  expect(found.engine).toBe(engine);
  expect(await found.versions).toBe(versions);
  expect(engine.reads).toBe(1);
});

test('after a move, versions are those of the new place', async () => {
  const [old, current] = [countingEngine(), countingEngine()];
  const lookup = { engineOf: async () => current.engine, lastEngineOf: () => old.engine };
  const found = await findEngine(lookup, PROJECT);
  expect(found.engine).toBe(current.engine);
  expect(await found.versions).toBe(current.versions);
});

test('a place that cannot be looked up fails the question', async () => {
  const { engine } = countingEngine();
  const lookup = { engineOf: () => Promise.reject(new Error('unavailable')), lastEngineOf: () => engine };
  await expect(findEngine(lookup, PROJECT)).rejects.toThrow('unavailable');
});
