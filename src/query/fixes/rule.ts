// A rewrite rule of a habit, and the patterns of names and values that rules share.

export interface Habit {
  /** Global. */
  readonly pattern: RegExp;
  readonly replacement: string | ((...groups: string[]) => string);
  /** Applies to the source alone, to stages alone, or to both. */
  readonly only?: 'source' | 'stage';
  /** Whether it reads what is in strings. */
  readonly readsStrings?: true;
}

export const FIELD = String.raw`[\w.]+(?:"[^"]*")?`;
export const VALUE = String.raw`(?:"[^"]*"|'[^']*'|[\w.:+-]+)`;

export const rule = (pattern: string, replacement: Habit['replacement'], only?: Habit['only']): Habit => ({
  pattern: new RegExp(pattern, 'gi'),
  replacement,
  ...(only && { only }),
});

export const readsStrings = (habit: Habit): Habit => ({ ...habit, readsStrings: true });

export const PEOPLE = '(?:users?|people|persons?|visitors?)';
export const GRANULARITY = 'minute|hour|day|week|month|quarter|year|weekday';
export const AGGREGATE = 'sum|avg|min|max|median|p90|p95|p99|unique';
export const NAME = String.raw`[a-z_][\w:/$.]*`;

/** `like "%x%"` by where its wildcards are. */
export function likeOf(field = '', not = '', text = ''): string {
  const body = text.slice(1, -1);
  const inner = body.replace(/^%|%$/g, '');
  if (/[%_]/.test(inner)) return '';
  const [starts, ends] = [body.startsWith('%'), body.endsWith('%')];
  const negated = not ? 'not ' : '';
  if (starts && ends) return `${field} ${negated}contains "${inner}"`;
  if (ends) return `${field} ${negated}starts with "${inner}"`;
  if (starts) return `${field} ${negated}ends with "${inner}"`;
  return `${field} ${not ? '!=' : '='} "${inner}"`;
}

/** `ilike "%x%"`: only a regular expression takes letters of either case. */
export function ilikeOf(field = '', not = '', text = ''): string {
  const body = text.slice(1, -1);
  const inner = body.replace(/^%|%$/g, '');
  if (/[%_\\]/.test(inner)) return '';
  const escaped = inner.replace(/[.*+?^${}()|[\]]/g, String.raw`\$&`);
  const pattern = `(?i)${body.startsWith('%') ? '' : '^'}${escaped}${body.endsWith('%') ? '' : '$'}`;
  return `${field} ${not ? '!~' : '~'} "${pattern}"`;
}

/** In parentheses behind a `not`, which would negate the first half alone. */
export function betweenOf(_: string, before = '', what = '', behind = '', first = '', last = ''): string {
  const both = `${what} >= ${first} and ${what} <= ${last}`;
  return Boolean(before) === Boolean(behind) ? both : `not (${both})`;
}

const PERCENTILES: Readonly<Record<number, string>> = { 50: 'median', 90: 'p90', 95: 'p95', 99: 'p99' };
/** Of a percentage or a fraction; undefined for a percentile that the language does not have. */
export const percentileOf = (number: number): string | undefined =>
  PERCENTILES[Math.round(number < 1 ? number * 100 : number)];
