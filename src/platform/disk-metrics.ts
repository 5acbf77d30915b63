// Gauges of the disks that hold the data: those of every ClickHouse server, and that of DATA_DIR,
// where `npm start` also keeps PostgreSQL and Redis. An alert fires before one is full
// (ops/prometheus); a disk that is both has one value, so that it raises one alert.
import { statfs } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import { type Disk, readDisks } from './clickhouse/disks.js';
import type { Shard, Shards } from './clickhouse/shards.js';
import { createCollectedGauge } from './collected-gauge.js';
import { withTimeout } from './flow/with-timeout.js';

// Shorter than the timeout of collected gauges, so that a silent server hides no other.
const ANSWERED_WITHIN_MS = 900;
/** What is written between two readings, as a share of the disk. */
const ALIKE_SHARE = 0.01;
const LABELS = ['shard', 'disk'] as const;
const GAUGES = [
  { name: 'disk_free_bytes', help: 'Free bytes of a disk with data', value: 'freeBytes' },
  { name: 'disk_total_bytes', help: 'Size of a disk with data', value: 'totalBytes' },
] as const;

/** The folder may not exist: its disk has no value then. */
export function createDiskGauges(registry: Registry, shards: Pick<Shards, 'known'>, folder: string): void {
  async function askAll(): Asked {
    const askInTime = (ask: Asked) => withTimeout(ANSWERED_WITHIN_MS, ask).catch(() => []);
    const [ofHosts, [ofFolder]] = await Promise.all([
      Promise.all(shards.known.flatMap(askHosts).map(askInTime)),
      askInTime(askFolder(folder)),
    ]);
    const disks = ofHosts.flat();
    const isNamed = ofFolder === undefined || disks.some((disk) => areAlike(disk, ofFolder));
    return isNamed ? disks : [...disks, ofFolder];
  }
  // The gauges of one scrape are collected together, and share an answer.
  let pending: Asked | undefined;
  function ask(): Asked {
    pending ??= askAll().finally(() => {
      pending = undefined;
    });
    return pending;
  }
  for (const { name, help, value } of GAUGES) {
    createCollectedGauge(registry, { name, help, labelNames: LABELS }, async () =>
      (await ask()).map((disk) => ({ labels: { shard: disk.shard, disk: disk.name }, value: disk[value] })),
    );
  }
}

type Asked = Promise<readonly (Disk & { readonly shard: string })[]>;

/**
 * Paths do not tell, because a server may see others. Two disks that are alike by chance would
 * raise their alerts at the same time.
 */
const areAlike = (a: Disk, b: Disk): boolean =>
  a.totalBytes === b.totalBytes && Math.abs(a.freeBytes - b.freeBytes) < a.totalBytes * ALIKE_SHARE;

/** With one host, a disk has the same labels after a start at another address. */
const askHosts = ({ id, hosts }: Shard): Asked[] =>
  hosts.map(async (host) => {
    const place = hosts.length > 1 ? `${host.name} ` : '';
    return (await readDisks(host.clickhouse)).map((disk) => ({
      ...{ ...disk, shard: String(id) },
      name: `${place}${disk.name}`,
    }));
  });

async function askFolder(folder: string): Asked {
  const { bavail, blocks, bsize } = await statfs(folder);
  return [{ shard: '', name: 'DATA_DIR', freeBytes: bavail * bsize, totalBytes: blocks * bsize }];
}
