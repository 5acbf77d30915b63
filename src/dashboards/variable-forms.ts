// Other forms of variables: short ranges (`30d`, `this_month`, `custom:2026-01-01..2026-02-01`), a
// choice named `range` that is a time range, and short names of columns. Pure: the console reads
// them, too.

/** The range in the form of the query language. Other text is returned unchanged. */
export function expandRange(text: string): string {
  const short = text.trim();
  if (/^\d+[a-z]+$/.test(short)) return `last ${short}`;
  if (/^(?:this|last)_[a-z]+$/.test(short)) return short.replace('_', ' ');
  const [, from, to] = /^custom:([\d-]+)\.\.([\d-]+)$/.exec(short) ?? [];
  return from === undefined ? text : `from ${from} to ${to}`;
}

/** An option that stands for a choice of two dates. */
export const CUSTOM_RANGE = 'custom';

interface RangeOption {
  readonly value: string;
  readonly label?: string | undefined;
  readonly fragment?: string | undefined;
}

export interface RangeVariable {
  readonly type: 'date_range';
  readonly label?: string | undefined;
  readonly default?: string | undefined;
  readonly options?: readonly RangeOption[] | undefined;
}

interface Choice {
  readonly type: 'select';
  readonly label?: string | undefined;
  readonly default?: string | undefined;
  readonly options?: readonly RangeOption[] | undefined;
  readonly query?: string | undefined;
}

/**
 * The `select` named `range` as a time range, when its options have no fragments. Undefined for
 * other variables.
 */
export function toRange(name: string, variable: Choice | { readonly type: string }): RangeVariable | undefined {
  if (name !== 'range' || variable.type !== 'select') return undefined;
  const { label, default: initial, options, query } = variable as Choice;
  if (options === undefined || query !== undefined) return undefined;
  if (options.some(({ fragment = '' }) => fragment.trim() !== '')) return undefined;
  return {
    type: 'date_range',
    label,
    default: initial ?? options.find(({ value }) => value !== CUSTOM_RANGE)?.value,
    options,
  };
}

const PREFIX = /^(?:event_properties|user_properties|user)[._]/;

/**
 * The column that a choice names among those of its query: by its name, or by the key of the
 * property that it shows. The first one without a name.
 */
export function findColumn(columns: readonly string[], wanted: string | undefined): string | undefined {
  if (wanted === undefined) return columns[0];
  return columns.find((name) => name === wanted) ?? columns.find((name) => name.replace(PREFIX, '') === wanted);
}
