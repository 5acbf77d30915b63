// Gauges of disks: of every host of every shard, and of the data folder.
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, expect, test } from 'vitest';
import type { ClickHouseClient } from '../../../src/platform/clickhouse/client.js';
import type { Shard } from '../../../src/platform/clickhouse/shards.js';
import { createDiskGauges } from '../../../src/platform/disk-metrics.js';

const folder = mkdtempSync(join(tmpdir(), 'event-analytics-disks-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Answer = () => Promise<unknown[]>;
const clientOf = (json: Answer) => ({ query: async () => ({ json }) }) as unknown as ClickHouseClient;
const disk =
  (name: string, freeBytes: number): Answer =>
  async () => [{ name, freeBytes, totalBytes: 100 }];

function shardOf(id: number, answers: Readonly<Record<string, Answer>>): Shard {
  const hosts = Object.entries(answers).map(([name, answer]) => ({ name, clickhouse: clientOf(answer) }));
  return { id, hosts, clickhouse: hosts[0]?.clickhouse as ClickHouseClient };
}

async function samplesOf(known: readonly Shard[], path: string): Promise<string[]> {
  const registry = new Registry();
  createDiskGauges(registry, { known }, path);
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test('names the shard and, where it has several hosts, the host; a silent or failing host hides no other', async () => {
  const shards = [
    shardOf(1, { 'localhost:8123': disk('default', 40) }),
    shardOf(2, { 'a:8123': disk('default', 30), 'b:8123': disk('default', 20) }),
    shardOf(3, { 'silent:8123': () => new Promise(() => {}) }),
    shardOf(4, { 'failing:8123': () => Promise.reject(new Error('refused')) }),
  ];
  expect(await samplesOf(shards, join(folder, 'missing'))).toEqual([
    'disk_free_bytes{shard="1",disk="default"} 40',
    'disk_free_bytes{shard="2",disk="a:8123 default"} 30',
    'disk_free_bytes{shard="2",disk="b:8123 default"} 20',
    'disk_total_bytes{shard="1",disk="default"} 100',
    'disk_total_bytes{shard="2",disk="a:8123 default"} 100',
    'disk_total_bytes{shard="2",disk="b:8123 default"} 100',
  ]);
});

test('a scrape asks each host once, and the next one asks again', async () => {
  let asked = 0;
  const count: Answer = async () => [{ name: 'default', freeBytes: ++asked, totalBytes: 100 }];
  const registry = new Registry();
  createDiskGauges(registry, { known: [shardOf(1, { 'localhost:8123': count })] }, join(folder, 'missing'));
  for (const scrape of [1, 2]) {
    expect(await registry.metrics()).toContain(`disk_free_bytes{shard="1",disk="default"} ${scrape}\n`);
    expect(asked).toBe(scrape);
  }
});

test('the disk of the data folder is that of the file system', async () => {
  const [, total] = await samplesOf([], folder);
  const { blocks, bsize } = statfsSync(folder);
  expect(total).toBe(`disk_total_bytes{shard="",disk="DATA_DIR"} ${blocks * bsize}`);
});

test('a disk that has both ClickHouse and the data folder has one value; another one has its own', async () => {
  const { bavail, blocks, bsize } = statfsSync(folder);
  const [free, total] = [bavail * bsize, blocks * bsize];
  const namesBeside = async (disk: { freeBytes: number; totalBytes: number }) => {
    const samples = await samplesOf(
      [shardOf(1, { 'localhost:8123': async () => [{ name: 'default', ...disk }] })],
      folder,
    );
    return samples.filter((line) => line.startsWith('disk_total')).map((line) => /disk="(\w+)"/.exec(line)?.[1]);
  };
  expect(await namesBeside({ freeBytes: free, totalBytes: total })).toEqual(['default']);
  expect(await namesBeside({ freeBytes: free, totalBytes: total * 2 })).toEqual(['default', 'DATA_DIR']);
  expect(await namesBeside({ freeBytes: free + total / 10, totalBytes: total })).toEqual(['default', 'DATA_DIR']);
});
