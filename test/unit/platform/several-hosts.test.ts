// Shards with several hosts: what every statement carries, and how running inserts are counted.
// Replicas are not run by any test; these are the statements that they would get.
import { expect, test } from 'vitest';
import type { ClickHouseClient } from '../../../src/platform/clickhouse/client.js';
import { type Replica, ReplicaReader } from '../../../src/platform/clickhouse/replica-reader.js';
import { runningInCluster, runningOnReplicas } from '../../../src/platform/clickhouse/running-inserts.js';
import { settingsOf } from '../../../src/platform/clickhouse/shards.js';
import { UsageError } from '../../../src/platform/usage-error.js';
import { parseShardsCommand } from '../../../src/shards/arguments.js';

interface Asked {
  readonly query: string;
  readonly query_params?: Record<string, unknown>;
  readonly clickhouse_settings?: Record<string, unknown>;
}

/** Answers with the rows in order; a host without rows does not answer. */
function host(...rows: object[]): { client: ClickHouseClient; asked: Asked[] } {
  const asked: Asked[] = [];
  const query = async (what: Asked) => {
    asked.push(what);
    const row = rows.shift();
    if (row === undefined) throw new Error('connect ECONNREFUSED');
    return { json: async () => [row] };
  };
  return { client: { query } as unknown as ClickHouseClient, asked };
}

test('a shard of one host has no settings of its own', () => {
  expect(settingsOf({ urls: ['http://a'], cluster: null })).toEqual({});
  expect(settingsOf({ urls: [], cluster: null })).toEqual({});
});

test('several hosts behind one address read what any of them has acknowledged', () => {
  const settings = { select_sequential_consistency: '1', insert_deduplicate: 0 };
  expect(settingsOf({ urls: ['http://a'], cluster: 'default' })).toEqual(settings);
});

test('replicas acknowledge by a majority, one insert after the other', () => {
  expect(settingsOf({ urls: ['http://a', 'http://b'], cluster: null })).toEqual({
    ...{ insert_quorum: 'auto', insert_quorum_parallel: 0 },
    ...{ select_sequential_consistency: '1', insert_deduplicate: 0 },
  });
});

test('the inserts of all hosts of a cluster are counted in one statement, which fails without one of them', async () => {
  const { client, asked } = host({ n: 2 });
  expect(await runningInCluster(client, 'default').count('ingest-db-1', 0)).toBe(2);
  expect(asked[0]?.query.replace(/\s+/g, ' ')).toBe(
    "SELECT toUInt32(count()) AS n FROM clusterAllReplicas('default', system.processes) " +
      'WHERE (query_id = {queryId:String} OR startsWith(query_id, {prefix:String})) AND elapsed >= {since:Float64}',
  );
  expect(asked[0]?.query_params).toEqual({ queryId: 'ingest-db-1', prefix: 'ingest-db-1-e', since: 0 });
  expect(asked[0]?.clickhouse_settings).toEqual({ skip_unavailable_shards: 0 });
  expect(() => runningInCluster(client, "x', system.one) --").count('q', 0)).toThrow('is not the name of a cluster');
});

test('the inserts of replicas are added up', async () => {
  const hosts = [host({ n: 1 }), host({ n: 2 })];
  expect(await runningOnReplicas(hosts.map(({ client }) => client)).count('q', 0)).toBe(3);
  for (const { asked } of hosts) expect(asked[0]?.query).toContain('FROM system.processes\n');
});

test.each([
  [1, 'counts without it'],
  [2, 'fails'],
  [0, 'fails'],
])('while a replica does not answer and Keeper has %i active ones, it %s', async (active, what) => {
  const hosts = [host({ n: 0 }, { active }), host()];
  const counted = runningOnReplicas(hosts.map(({ client }) => client)).count('q', 0);
  if (what === 'fails') await expect(counted).rejects.toThrow('may still commit inserts');
  else expect(await counted).toBe(0);
  expect(hosts[0]?.asked[1]?.query).toContain('max(active_replicas)');
});

test('nothing is counted while no replica answers', async () => {
  const hosts = [host(), host()].map(({ client }) => client);
  await expect(runningOnReplicas(hosts).count('q', 0)).rejects.toThrow('no host of the shard answers');
});

test('the command line says which shards have several hosts', () => {
  const add = { kind: 'add', urls: ['https://a'] };
  expect(parseShardsCommand(['add', 'https://a'])).toEqual({ ...add, cluster: null });
  expect(parseShardsCommand(['add', 'https://a', '--several-hosts'])).toEqual({ ...add, cluster: 'default' });
  expect(parseShardsCommand(['add', '--several-hosts=main', 'https://a'])).toEqual({ ...add, cluster: 'main' });
  const known = { kind: 'several-hosts', shard: 1 };
  expect(parseShardsCommand(['several-hosts', '1', 'main'])).toEqual({ ...known, cluster: 'main' });
  expect(parseShardsCommand(['several-hosts', '1', 'none'])).toEqual({ ...known, cluster: null });
  for (const args of [
    ['add', 'https://a', 'https://b', '--several-hosts'],
    ['add', 'https://a', "--several-hosts='"],
    ['add', 'https://a', '--other'],
    ['several-hosts', '1'],
  ]) {
    expect(() => parseShardsCommand(args)).toThrow(UsageError);
  }
});

test('the command line removes a shard, and changes its addresses', () => {
  expect(parseShardsCommand(['remove', '2'])).toEqual({ kind: 'remove', shard: 2, isLost: false });
  expect(parseShardsCommand(['remove', '--lost', '2'])).toEqual({ kind: 'remove', shard: 2, isLost: true });
  const address = { kind: 'address', shard: 2 };
  expect(parseShardsCommand(['address', '2', 'https://a'])).toEqual({ ...address, urls: ['https://a'] });
  expect(parseShardsCommand(['address', '2', 'https://a', 'https://b'])).toMatchObject({
    urls: ['https://a', 'https://b'],
  });
  for (const args of [['remove'], ['remove', '2', '3'], ['remove', '2', '--force'], ['address', '2'], ['address']]) {
    expect(() => parseShardsCommand(args)).toThrow(UsageError);
  }
  expect(() => parseShardsCommand(['address', '2', 'user:secret@host'])).toThrow(
    'argument 2 of address is not an http or https URL',
  );
  expect(() => parseShardsCommand(['add', 'https://a/analytics'])).toThrow(
    'the URL of argument 1 of add must have no path: CLICKHOUSE_DATABASE names the database',
  );
  expect(() => parseShardsCommand(['address', '2', 'https://a', 'https://b/?secure=1'])).toThrow(
    'the URL of argument 3 of address must have no parameters after a question mark',
  );
});

test('queries go to the next replica that has all rows, or answers at all, while the first does not', async () => {
  const names = ['first', 'second', 'third'];
  const replicas = names.map((name) => ({ complete: `complete ${name}`, lagging: name }) as unknown as Replica);
  const answering = new Set<string>();
  const reader = new ReplicaReader(replicas, async (host) => {
    if (!answering.has(String(host))) throw new Error('no answer');
  });
  async function choose(complete: readonly string[], behind: readonly string[] = []): Promise<unknown> {
    answering.clear();
    for (const name of [...complete, ...behind]) answering.add(name);
    for (const name of complete) answering.add(`complete ${name}`);
    await reader.choose();
    return reader.current;
  }
  expect(await choose(['first', 'second'])).toBe(undefined);
  expect(await choose(['third'])).toBe('third');
  expect(await choose(['second', 'third'])).toBe('second');
  expect(await choose(['third'], ['first', 'second'])).toBe('third');
  expect(await choose([], ['first', 'second'])).toBe('first');
  expect(await choose([], ['second'])).toBe('second');
  expect(await choose([])).toBe(undefined);
  expect(await choose(['first'])).toBe(undefined);
});
