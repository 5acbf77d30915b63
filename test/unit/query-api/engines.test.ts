// Versions of the tables decide whether a kept answer holds; they must come from the host that runs
// the query.
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ClickHouseClient } from '../../../src/platform/clickhouse/client.js';
import type { Shard, Shards } from '../../../src/platform/clickhouse/shards.js';
import type { ProjectId } from '../../../src/platform/ids.js';
import { Engines } from '../../../src/query-api/engines.js';

const clickhouse = {
  query: () => Promise.resolve({ json: () => Promise.resolve({ data: [['events', '202611', 'hash']] }) }),
} as unknown as ClickHouseClient;

const host = { name: 'a:8123', clickhouse };
const writer = {} as NonNullable<Shard['writer']>;

test.each([
  { name: 'one host', hosts: [host], writes: {}, isKnown: true },
  { name: 'replicas with an address each', hosts: [host, host], writes: { writer }, isKnown: true },
  { name: 'several hosts behind one address', hosts: [host], writes: { writer }, isKnown: false },
])('versions of a shard with $name: $isKnown', async ({ hosts, writes, isKnown }) => {
  const shard: Shard = { id: 1, clickhouse, hosts, ...writes };
  const shards = {
    first: shard,
    homeOf: () => Promise.resolve({ at: shard }),
    readerOf: () => clickhouse,
  } as unknown as Shards;
  const limits = { concurrency: 6, perProjectMax: 3, queueMax: 32, memoryBytes: 1 };
  const engines = new Engines(shards, { ...limits, log: pino({ level: 'silent' }) });
  const { versions } = await engines.of('project' as ProjectId);
  expect((await versions.read()) !== undefined).toBe(isKnown);
});
