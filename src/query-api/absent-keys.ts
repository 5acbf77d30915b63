// Warns of an answer that has nothing but zeros because the events do not have a property that the
// query names: other events of the project have it.
import type { CompiledQuery } from '../query/compile.js';
import { quote } from '../query/errors.js';
import type { PrintedStatement } from '../query/print/print.js';
import type { AskedKey } from '../query/sources/own-keys.js';
import type { Counted } from './answer.js';
import { parseRows } from './engine-answer.js';
import type { Execution } from './execute.js';

export interface AbsentKey extends Pick<AskedKey<unknown>, 'written' | 'as'> {
  readonly event: string;
  /** Events that have it. */
  readonly others: readonly string[];
}

/** Properties of an event that an answer names: a statement for each reads the whole range. */
const NAMED_MAX = 3;

/** A larger answer is not parsed for this. */
const PAGE_BYTES_MAX = 64 * 1024;

/**
 * Whether the answer names a property, and has no rows, or zeros and missing numbers alone; of a
 * funnel, a step that no one reached.
 */
export function mayHaveAbsentKeys(
  { page, total }: Pick<Counted, 'page' | 'total'>,
  compiled: Pick<CompiledQuery, 'columns' | 'metric' | 'mentions' | 'mode'>,
): boolean {
  if (compiled.mentions.properties.length === 0) return false;
  if (page.rowCount === 0) return total === 0;
  const counts = countsOf(compiled);
  if (counts.length === 0 || page.byteLength > PAGE_BYTES_MAX) return false;
  const isNothing = (row: readonly unknown[]): boolean => counts.every((index) => !row[index]);
  const rows = parseRows(page.pieces);
  return compiled.mode === 'funnel' ? rows.some(isNothing) : rows.every(isNothing);
}

/** Indexes of the columns with what is counted. */
function countsOf({ columns, metric, mode }: Pick<CompiledQuery, 'columns' | 'metric' | 'mode'>): number[] {
  return columns.flatMap(({ name, isComputed = false }, index) => {
    const isCount = mode === 'formula' ? isComputed : name === (mode === 'funnel' ? 'users' : metric?.column);
    return isCount ? [index] : [];
  });
}

export async function withAbsentKeys(
  counted: Counted,
  ownKeys: NonNullable<CompiledQuery['ownKeys']>,
  execution: Execution,
): Promise<Counted> {
  const absentKeys: AbsentKey[] = [];
  let scanned = counted.rowsScanned;
  const ask = async (statement: PrintedStatement) => {
    const { rows, rowsScanned } = await execution.run(statement);
    scanned += rowsScanned;
    return rows;
  };
  for (const { event, asked, statement } of ownKeys) {
    const [[events, ...found] = []] = await ask(statement);
    const missing = Number(events) === 0 ? [] : asked.filter((_, index) => Number(found[index]) === 0);
    for (const { written, as, others } of missing.slice(0, NAMED_MAX)) {
      const types = await ask(others);
      absentKeys.push({ event, written, as, others: types.map(([type]) => String(type)) });
    }
  }
  return { ...counted, absentKeys, rowsScanned: scanned };
}

/** Without the properties that `unseen`, the warnings of names that nothing has, are about. */
export function warningsOfAbsent(
  { absentKeys = [] }: Pick<Counted, 'absentKeys'>,
  unseen: readonly string[],
): readonly string[] {
  const missing = absentKeys.filter(({ as }) => as === 'value');
  const isMissing = (event: string, written: string): boolean =>
    missing.some((key) => key.event === event && key.written === written);
  const isUnseen = (written: string): boolean => unseen.some((warning) => warning.includes(quote(written)));
  const warnings = absentKeys.flatMap(({ event, written, as, others }) => {
    if (isUnseen(written)) return [];
    const [of, field] = [quote(event), quote(written)];
    const hint =
      others.length > 0 ? `events with it: ${others.map(quote).join(', ')}` : `inspect ${of} lists its properties`;
    if (as === 'value') return [`no ${of} of this range has ${field}; ${hint}`];
    return isMissing(event, written) ? [] : [`${field} of ${of} is never a number in this range; ${hint}`];
  });
  // A funnel may have a step twice.
  return [...new Set(warnings)];
}
