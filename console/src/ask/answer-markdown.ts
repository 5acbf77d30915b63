// Markdown of the answer that is shown: asking again would move the range of `last 7d`.
import { formatLlm, type Period } from '../../../src/query/markdown.js';
import { type Remarkable, remarksOn } from '../../../src/query/remarks.js';
import { describeChoice } from '../../../src/query/sources/choice/describe.js';
import { readChoice } from '../answer/choice-result.js';
import { type ColumnKind, columnsOf } from '../answer/columns.js';
import type { Answer } from '../api/answer.js';

/**
 * The text that `format: llm` has for the first `rowsMax` rows of this answer. A column without
 * values is aligned as text.
 */
export function toMarkdown(answer: Answer, { q, rowsMax }: { readonly q: string; readonly rowsMax: number }): string {
  const { rows, columns, total, mode, metadata } = answer;
  const shown = rows.slice(0, rowsMax);
  const { current, previous } = (metadata.compare ?? {}) as Readonly<Record<string, Period | undefined>>;
  const [from = '', to = ''] = answer.period.split('/');
  return formatLlm(
    {
      columns: columnsOf(answer).map(({ name, kind }) => ({ name, type: typeOf(kind, mode) })),
      rows: shown.map((row) => columns.map((name) => row[name] ?? null)),
      total,
      hasMore: total > shown.length,
      period: current ?? { from, to },
      ...(previous && { earlier: previous }),
      timezone: String(answer.timezone),
      warnings: metadata.warnings ?? [],
      footnotes: [...footnotesOf(answer), ...remarksOn(metadata as Remarkable)],
    },
    q,
  );
}

/** What the text formats tell of a column. */
function typeOf(kind: ColumnKind, mode: string): string {
  switch (kind) {
    case 'share':
    case 'change':
      return 'rate';
    case 'percent':
      return 'percent';
    case 'number':
    case 'seconds':
    case 'cycle':
    case 'edge':
      return 'number';
    default:
      return mode === 'paths' ? 'path' : 'text';
  }
}

function footnotesOf(answer: Answer): readonly string[] {
  const choice = readChoice(answer);
  return choice === undefined ? [] : describeChoice(choice, { hasMeans: choice.method.value !== undefined });
}
