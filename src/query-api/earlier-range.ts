// Warns when the earlier range of `compare` begins before the first event of the project: its
// numbers are then those of a part of it, and the change says little.
import type { CompiledQuery } from '../query/compile.js';
import type { Counted } from './answer.js';
import type { Execution } from './execute.js';

/** A project that has begun within this share of the earlier range has no warning. */
const SHARE_MAX = 0.05;

export async function withFirstEvent(
  counted: Counted,
  { firstEvent }: CompiledQuery,
  execution: Execution,
): Promise<Counted> {
  if (firstEvent === undefined) return counted;
  const { rows, rowsScanned } = await execution.run(firstEvent);
  const [[hour] = []] = rows;
  const firstEventMs = hour === undefined ? 0 : Date.parse(String(hour));
  return { ...counted, firstEventMs, rowsScanned: counted.rowsScanned + rowsScanned };
}

export function warningsOfEarlier(
  { earlier }: Pick<CompiledQuery, 'earlier'>,
  { firstEventMs }: Pick<Counted, 'firstEventMs'>,
): string[] {
  if (earlier === undefined || firstEventMs === undefined) return [];
  const { fromMs, toMs } = earlier;
  if (firstEventMs === 0)
    return [`no event of this project is before ${dateOf(toMs)}, so there is nothing to compare with`];
  if (firstEventMs - fromMs <= (toMs - fromMs) * SHARE_MAX) return [];
  return [
    `the earlier range begins on ${dateOf(fromMs)}, before the first event of this project on ${dateOf(firstEventMs)}, so it is compared in part`,
  ];
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
