// Warns of an answer that has nothing but zeros because the events do not have a property that the
// query names: other events of the project have it.
import type { CompiledQuery } from '../query/compile.js';
import { quote } from '../query/errors.js';
import type { AskedKey } from '../query/people/own-keys.js';
import type { Counted } from './answer.js';
import { parseRows } from './engine-answer.js';
import type { Execution } from './execute.js';

export interface AbsentKey extends Pick<AskedKey<unknown>, 'written' | 'as'> {
  readonly event: string;
  /** Events that have it. */
  readonly others: readonly string[];
}

/** Properties that an answer names: for each, a statement reads all events of the range. */
const NAMED_MAX = 3;

/** A larger answer is not parsed for this. */
const PAGE_BYTES_MAX = 64 * 1024;

/** Whether the answer names a property, and has no rows, or zeros and missing numbers alone. */
export function mayHaveAbsentKeys(
  { page, total }: Pick<Counted, 'page' | 'total'>,
  { columns, metric, mentions }: Pick<CompiledQuery, 'columns' | 'metric' | 'mentions'>,
): boolean {
  if (mentions.properties.length === 0) return false;
  if (page.rowCount === 0) return total === 0;
  if (metric === undefined || page.byteLength > PAGE_BYTES_MAX) return false;
  const index = columns.findIndex(({ name }) => name === metric.column);
  return parseRows(page.pieces).every((row) => !row[index]);
}

export async function withAbsentKeys(
  counted: Counted,
  ownKeys: CompiledQuery['ownKeys'],
  execution: Execution,
): Promise<Counted> {
  if (ownKeys === undefined) return counted;
  const { event, asked, statement } = ownKeys;
  const { rows, rowsScanned } = await execution.run(statement);
  const [events = 0, ...found] = (rows[0] ?? []).map(Number);
  const missing = events === 0 ? [] : asked.filter((_, index) => found[index] === 0).slice(0, NAMED_MAX);
  const absentKeys: AbsentKey[] = [];
  let scanned = counted.rowsScanned + rowsScanned;
  for (const { written, as, others } of missing) {
    const types = await execution.run(others);
    absentKeys.push({ event, written, as, others: types.rows.map(([type]) => String(type)) });
    scanned += types.rowsScanned;
  }
  return { ...counted, absentKeys, rowsScanned: scanned };
}

/** Without the properties that `unseen`, the warnings of names that nothing has, are about. */
export function warningsOfAbsent(
  { absentKeys = [] }: Pick<Counted, 'absentKeys'>,
  unseen: readonly string[],
): readonly string[] {
  const missing = absentKeys.filter(({ as }) => as === 'value');
  const isMissing = (written: string): boolean => missing.some((key) => key.written === written);
  const isUnseen = (written: string): boolean => unseen.some((warning) => warning.includes(quote(written)));
  return absentKeys.flatMap(({ event, written, as, others }) => {
    if (isUnseen(written)) return [];
    const [of, field] = [quote(event), quote(written)];
    const hint =
      others.length > 0 ? `events with it: ${others.map(quote).join(', ')}` : `inspect ${of} lists its properties`;
    if (as === 'value') return [`no ${of} of this range has ${field}; ${hint}`];
    return isMissing(written) ? [] : [`${field} of ${of} is never a number in this range; ${hint}`];
  });
}
