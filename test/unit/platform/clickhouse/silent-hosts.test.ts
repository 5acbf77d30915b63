// What is said of hosts that do not answer, and of those that are behind.
import { ClickHouseError } from '@clickhouse/client';
import { expect, test } from 'vitest';
import type { Shard } from '../../../../src/platform/clickhouse/shards.js';
import { requireAnswers } from '../../../../src/platform/clickhouse/silent-hosts.js';

const BEHIND = new ClickHouseError({
  code: '289',
  message: 'Replica is not in quorum',
  type: 'REPLICA_IS_NOT_IN_QUORUM',
});
const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

const shardOf = (id: number, hosts: Readonly<Record<string, Error | undefined>>): Shard =>
  ({
    id,
    hosts: Object.entries(hosts).map(([name, error]) => ({
      name,
      clickhouse: { command: async () => error !== undefined && Promise.reject(error) },
    })),
  }) as unknown as Shard;

test.each([
  [[shardOf(1, { a: undefined, b: undefined })], undefined],
  [[shardOf(1, { a: undefined, b: BEHIND })], 'shard 1 at b is behind the other hosts'],
  [[shardOf(1, { a: REFUSED }), shardOf(2, { b: REFUSED })], 'shard 1 at a and shard 2 at b do not answer'],
  [[shardOf(1, { a: BEHIND, b: REFUSED })], 'shard 1 at b does not answer, shard 1 at a is behind the other hosts'],
])('case %#', async (shards, message) => {
  const said = await requireAnswers(shards).catch((error: Error) => error.message);
  expect(said).toBe(message);
});
