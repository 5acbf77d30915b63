// `format: json`: the envelope. Rows carry `value` and `metric` beside the columns, so that a
// reader need not know which column contains the metric.
import { numberOfCell } from '../../platform/number-text.js';
import type { Answer } from '../shape.js';

export const formatJson = (answer: Answer): string => [...jsonPieces(answer)].join('');

/** One row at a time, because an answer may have tens of megabytes. */
export function* jsonPieces(answer: Answer): Generator<string> {
  yield `{"columns":${JSON.stringify(answer.columns.map((column) => column.name))},"rows":[`;
  for (const [index, row] of answer.rows.entries()) {
    yield (index > 0 ? ',' : '') + JSON.stringify(toRow(answer, row));
  }
  const rest = {
    total: answer.total,
    elapsed_ms: answer.elapsedMs,
    rows_scanned: answer.rowsScanned,
    period: `${answer.period.from}/${answer.period.to}`,
    timezone: answer.timezone,
    mode: answer.mode,
    metadata: toMetadata(answer),
    ...answer.extraFields,
  };
  yield `],${JSON.stringify(rest).slice(1)}`;
}

// fromEntries defines properties instead of setting them: a column named `__proto__` is an ordinary
// column. `value` is null if the metric is not a number: a latest value may be a text.
function toRow({ columns, metric }: Answer, row: Answer['rows'][number]): Record<string, unknown> {
  const entries = columns.map((column, index): [string, unknown] => [column.name, row[index] ?? null]);
  if (metric === undefined) return Object.fromEntries(entries);
  const value = row[columns.findIndex((column) => column.name === metric.column)] ?? null;
  return Object.fromEntries([...entries, ['value', numberOfCell(value)], ['metric', metric.name]]);
}

function toMetadata({ isTruncated, warnings, metadata, period, earlier }: Answer): Record<string, unknown> {
  return {
    ...metadata,
    ...(earlier && { compare: { current: period, previous: earlier } }),
    ...(isTruncated && { truncated: true }),
    ...(warnings.length > 0 && { warnings }),
  };
}
