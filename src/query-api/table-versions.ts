// Versions of ClickHouse's tables: a hash of the active parts of each partition. Every insert,
// merge, mutation and deletion, of any process, makes parts with other names, so equal versions
// mean equal rows. Paths contain the UUID of the table. A restarted engine may use the number of a
// dropped part again, with another time. The hashes of the parts are combined without their order,
// which takes less time than sorting them.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import { smallReadsOf } from '../platform/clickhouse/small-read.js';
import type { Logger } from '../platform/log.js';
import { createRepeatedWarning } from '../platform/repeated-warning.js';
import type { Reads } from '../query/print/print.js';

/** Hashes by table and partition. */
export type TableVersions = ReadonlyMap<string, ReadonlyMap<string, string>>;

const VERSIONS = `SELECT table, partition_id, toString(groupBitXor(reinterpretAsUInt128(sipHash128(path, modification_time, rows, bytes_on_disk))))
FROM system.parts
WHERE active AND database = currentDatabase() AND table IN ('events', 'device_map', 'profiles')
GROUP BY table, partition_id`;

/** Further callers share the next statement. */
const STATEMENTS_MAX = 2;

export interface VersionReader {
  /** As of a moment after the call. Undefined when ClickHouse does not answer; never rejects. */
  read(): Promise<TableVersions | undefined>;
}

/** Callers of the same moment share a statement, which always begins after they have called. */
export function createVersionReader({ clickhouse, log }: { clickhouse: ClickHouseClient; log: Logger }): VersionReader {
  const warn = createRepeatedWarning({ log, message: 'the versions of the tables could not be read' });
  const running = new Set<Promise<unknown>>();
  let next: Promise<TableVersions | undefined> | undefined;

  async function startWhenFree(): Promise<TableVersions | undefined> {
    await nextTurn();
    while (running.size >= STATEMENTS_MAX) await Promise.race(running);
    next = undefined;
    const asking = ask(clickhouse).catch((err: unknown) => {
      warn(err);
      return undefined;
    });
    running.add(asking);
    const versions = await asking;
    running.delete(asking);
    return versions;
  }

  return {
    read: () => {
      next ??= startWhenFree();
      return next;
    },
  };
}

async function ask(clickhouse: ClickHouseClient): Promise<TableVersions> {
  const rows = (await smallReadsOf(clickhouse)(VERSIONS)) as [string, string, string][];
  const tables = new Map<string, Map<string, string>>();
  for (const [table, partition, hash] of rows) {
    tables.set(table, (tables.get(table) ?? new Map<string, string>()).set(partition, hash));
  }
  return tables;
}

const HOUR_MS = 3_600_000;
const MONTH = /^\d{6}$/;

/** The versions of what a statement reads, as a text: of events only the months of its ranges. */
export function versionOf(versions: TableVersions, { tables, ranges }: Pick<Reads, 'tables' | 'ranges'>): string {
  // A scan of whole hours includes the hour in which its range ends.
  const months = ranges.map(({ fromMs, toMs }) => [monthOf(fromMs), monthOf(toMs + HOUR_MS)] as const);
  const isRead = (table: string, partition: string): boolean =>
    table !== 'events' ||
    !MONTH.test(partition) ||
    months.some(([first, last]) => Number(partition) >= first && Number(partition) <= last);
  return tables
    .flatMap((table) =>
      [...(versions.get(table) ?? [])].flatMap(([partition, hash]) =>
        isRead(table, partition) ? [`${table} ${partition} ${hash}`] : [],
      ),
    )
    .sort()
    .join('\n');
}

const monthOf = (ms: number): number => {
  const date = new Date(ms);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
};
