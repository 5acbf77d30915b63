// Mutations of the service's database: ClickHouse rewrites parts in the background, after a
// migration for example, and answers queries meanwhile.
import type { StepProgress } from '../progress.js';
import { type ClickHouseClient, READ_ONLY, rowsOf } from './client.js';

/** What unfinished mutations have not rewritten yet. */
export interface Rewrites {
  readonly parts: number;
  readonly bytes: number;
}

export async function readRewrites(clickhouse: ClickHouseClient): Promise<Rewrites> {
  const [row] = await rowsOf<Rewrites>(clickhouse, LEFT, {}, READ_ONLY);
  return row ?? { parts: 0, bytes: 0 };
}

const LEFT = `SELECT toFloat64(count()) AS parts, toFloat64(sum(part.bytes_on_disk * (1 - share))) AS bytes
  FROM (
    SELECT DISTINCT table, arrayJoin(parts_to_do_names) AS name FROM system.mutations
    WHERE database = currentDatabase() AND NOT is_done AND NOT is_killed
  ) AS left
  INNER JOIN (
    SELECT table, name, bytes_on_disk FROM system.parts WHERE active AND database = currentDatabase()
  ) AS part ON part.table = left.table AND part.name = left.name
  LEFT JOIN (
    SELECT table, arrayJoin(source_part_names) AS name, max(progress) AS share FROM system.merges
    WHERE database = currentDatabase() AND is_mutation GROUP BY table, name
  ) AS running ON running.table = left.table AND running.name = left.name`;

/** Shows how far the rewriting is while the work runs. */
export function watchRewrites<T>(
  clickhouse: ClickHouseClient,
  progress: StepProgress,
  work: () => Promise<T>,
): Promise<T> {
  let total = 0;
  return progress.watch(async () => {
    const { bytes } = await readRewrites(clickhouse);
    total = Math.max(total, bytes);
    return total === 0 ? undefined : { step: 'rewriting parts', done: total - bytes, total, unit: 'bytes' };
  }, work);
}
