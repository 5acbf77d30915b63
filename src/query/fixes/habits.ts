// Rewrite rules for habits from SQL, other products and English (`group by`, `like`, `weekly`).
// Each rule rewrites one part of a query, its source or a stage; suggest.ts compiles the result
// before it is suggested.

import { findNearest } from '../errors.js';
import { OTHER_NAMES, otherNameOf } from '../fields.js';
import { selectOf } from './select.js';

interface Habit {
  readonly pattern: RegExp;
  readonly replacement: string | ((...groups: string[]) => string);
  /** Applies to the source alone, to stages alone, or to both. */
  readonly only?: 'source' | 'stage';
  /** Whether it reads what is in strings. */
  readonly readsStrings?: true;
}

const FIELD = String.raw`[\w.]+(?:"[^"]*")?`;
const VALUE = String.raw`(?:"[^"]*"|'[^']*'|[\w.:+-]+)`;

const rule = (pattern: string, replacement: Habit['replacement'], only?: Habit['only']): Habit => ({
  pattern: new RegExp(pattern, 'i'),
  replacement,
  ...(only && { only }),
});

/** `like "%x%"` by where its wildcards are. */
function likeOf(field = '', not = '', text = ''): string {
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

/** Behind `is`. */
const PRESENT = 'set|defined|present|known';
const ABSENT = 'null|unset|undefined|missing|empty|blank|unknown|none|nil';

const PERIODS: Readonly<Record<string, string>> = {
  hourly: 'hour',
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
  quarterly: 'quarter',
  yearly: 'year',
};
const ACTIVE_BY: Readonly<Record<string, string>> = { d: 'day', w: 'week', m: 'month' };
const PERCENTILES: Readonly<Record<string, string>> = {
  5: 'median',
  50: 'median',
  9: 'p90',
  90: 'p90',
  95: 'p95',
  99: 'p99',
};
const COMPARED = String.raw`(?:compare|compared|vs\.?|versus)\s*(?:to|with|against)?\s*`;
/** How far a range is moved back by the name of a period, or by the last letter of "yoy". */
const EARLIER: Readonly<Record<string, string>> = {
  ...{ yesterday: '1d', day: '1d', week: '1w', month: '1mo', quarter: '3mo', year: '1y' },
  ...{ d: '1d', w: '1w', m: '1mo', q: '3mo', y: '1y' },
};
const earlierBy = (word = ''): string => EARLIER[word.toLowerCase()] ?? EARLIER[word.slice(-1).toLowerCase()] ?? '';
const PERIOD_WORDS = Object.keys(PERIODS).join('|');
const UNITS = [
  'minutes',
  'hours',
  'days',
  'weeks',
  'months',
  'years',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'year',
];
/** `M` means months in other languages. */
const unitOf = (word = ''): string => (word === 'M' ? 'mo' : (findNearest(word, UNITS) ?? word));
const GRANULARITY = 'minute|hour|day|week|month|quarter|year|weekday';
const AGGREGATE = 'sum|avg|min|max|median|p90|p95|p99|unique';

/** In order: the first that matches and whose result compiles is suggested. */
export const HABITS: readonly Habit[] = [
  rule(String.raw`^\s*select\s+.+$`, selectOf, 'source'),
  rule(String.raw`^\s*(?:events?|from)\s+(?=\S)`, '', 'source'),
  rule(String.raw`\bgroup(?:ed)?\s+by\b`, 'by'),
  rule(String.raw`(?<=\S)\s+order(?:ed)?\s+by\b`, ' | sort'),
  rule(String.raw`\border(?:ed)?\s+by\b`, 'sort'),
  rule(String.raw`(?<=\S)\s+limit\s+(\d+)\s*$`, ' | limit $1'),
  rule(String.raw`(?<=\S)\s+having\s+`, ' | where ', 'stage'),
  rule(String.raw`^(\s*)having\b`, '$1where', 'stage'),
  rule(String.raw`^(\s*)filter(?:\s+by)?\b`, '$1where', 'stage'),
  {
    ...rule(String.raw`(${FIELD})\s+(not\s+)?i?like\s+("[^"]*"|'[^']*')`, (_, field, not, text) =>
      likeOf(field, not, text),
    ),
    readsStrings: true,
  },
  rule(
    String.raw`(${FIELD})\s+is\s+(not\s+)?(?:${PRESENT}|(${ABSENT}))\b`,
    (_, field, not, absent) => `${field} ${Boolean(not) === Boolean(absent) ? '' : 'not '}exists`,
  ),
  rule(String.raw`\s+(?:regexp|rlike|matches|similar\s+to)\s+(?=["'])`, ' ~ ', 'stage'),
  rule(String.raw`^(\s*)(?:where\s+time\s+)?between\s+(${VALUE})\s+and\s+(${VALUE})\s*$`, '$1from $2 to $3', 'stage'),
  rule(String.raw`(${FIELD})\s+between\s+(${VALUE})\s+and\s+(${VALUE})`, '$1 >= $2 and $1 <= $3'),
  rule(String.raw`(${FIELD})\s*(?:!=|<>)\s*null\b`, '$1 exists'),
  rule(String.raw`(${FIELD})\s*==?\s*null\b`, '$1 not exists'),
  rule(String.raw`\s*&&?\s*`, ' and '),
  rule('<>', '!='),
  rule('={2,3}', '='),
  rule(String.raw`!\s*\(`, 'not ('),
  rule('[“”„]', '"'),
  rule(String.raw`\s*;\s*$`, ''),
  rule(String.raw`(?<==\s*)(/[^\s"'|\])]*)`, '"$1"'),
  rule(
    String.raw`(${FIELD})\s+is\s+(not\s+)?(${VALUE})`,
    (_, field, not, value) => `${field} ${not ? '!=' : '='} ${value}`,
  ),
  rule(String.raw`\bin\s+(${VALUE}(?:\s*,\s*${VALUE})+)`, 'in ($1)'),
  rule(String.raw`^(\s*from\s+${VALUE})\s+(?:until|till)\s+(?=["'\d])`, '$1 to ', 'stage'),
  rule(
    String.raw`^(\s*(?:last|past|window|rolling)\s+\d+\s*)([a-z]+)\s*$`,
    (_, head, word) => `${head}${unitOf(word)}`,
    'stage',
  ),
  rule(String.raw`^(\s*)by\s+(.+?),\s*(count|unique)\s*$`, '$1$3 by $2', 'stage'),
  rule(
    String.raw`[$](${Object.keys(OTHER_NAMES).join('|')})\b`,
    (_, name) => otherNameOf(name?.toLowerCase() ?? '') ?? '',
    'stage',
  ),
  rule(String.raw`\bcount\s*\(\s*distinct\s+(${FIELD})\s*\)`, 'unique $1'),
  rule(String.raw`\bcount\s+distinct\s+(${FIELD})`, 'unique $1'),
  rule(String.raw`\bdistinct\s+(${FIELD})`, 'unique $1', 'stage'),
  rule(String.raw`\bcount\s*\(\s*(?:\*|1)?\s*\)`, 'count', 'stage'),
  rule(String.raw`\buniq(?:ue)?s?\s*\(\s*(${FIELD})\s*\)`, 'unique $1', 'stage'),
  rule(String.raw`\b(${AGGREGATE})\s*\(\s*(${FIELD})\s*\)`, '$1 $2', 'stage'),
  rule(
    String.raw`\b(?:percentile|quantile)\s*\(\s*(${FIELD})\s*,\s*(?:0?\.)?(\d+)\s*\)`,
    (_, field, part) => `${PERCENTILES[part ?? ''] ?? 'percentile'} ${field}`,
    'stage',
  ),
  {
    ...rule(String.raw`\bdate_trunc\s*\(\s*["'](${GRANULARITY})["']\s*,\s*\w+\s*\)`, '$1', 'stage'),
    readsStrings: true,
  },
  rule(
    String.raw`^(\s*)(?:(daily|weekly|monthly)\s+)?active\s+(?:users?|people)\b`,
    (_, blank, period) => `${blank}unique${period ? ` by ${PERIODS[period.toLowerCase()]}` : ''}`,
    'stage',
  ),
  rule(String.raw`\bunique\s+(?:users?|people|persons?|visitors?)\b`, 'unique', 'stage'),
  rule(String.raw`^(\s*)uniq\b`, '$1unique', 'stage'),
  rule(
    String.raw`^(\s*)([dwm])au\s*$`,
    (_, blank, letter) => `${blank}unique by ${ACTIVE_BY[letter?.toLowerCase() ?? '']}`,
    'stage',
  ),
  rule(String.raw`^(\s*)(?:totals?|volume)\b`, '$1count', 'stage'),
  rule(String.raw`^(\s*)(?:break(?:\s?down|\s+down)|split|segment(?:ed)?)\s+(?:by\s+)?`, '$1by ', 'stage'),
  rule(String.raw`\$(?=[a-z])`, '_', 'stage'),
  rule(String.raw`(?<![\w.])(?:properties|props|event)\.(?=")`, 'event_properties.', 'stage'),
  rule(String.raw`\bper\s+(${GRANULARITY})\b`, 'by $1'),
  rule(String.raw`\bper\s+(?:users?|persons?|people|visitors?)\b`, 'per distinct_id', 'stage'),
  rule(String.raw`\bper\s+(?:sessions?|visits?)\b`, 'per session_id', 'stage'),
  rule(String.raw`\bby\s+(${PERIOD_WORDS})\b`, (_, word) => `by ${PERIODS[word?.toLowerCase() ?? '']}`),
  rule(String.raw`\b(${PERIOD_WORDS})\b`, (_, word) => `by ${PERIODS[word?.toLowerCase() ?? '']}`, 'stage'),
  rule(String.raw`\bby\s+(?:day_?of_?week|dow)\b`, 'by weekday', 'stage'),
  rule(String.raw`\bp(?:25|50)\b`, 'median', 'stage'),
  rule(String.raw`\bp(?:75|80)\b`, 'p90', 'stage'),
  rule(String.raw`\b(?:average|mean)\b`, 'avg', 'stage'),
  rule(String.raw`^(\s*)(?:percent(?:age)?|share)\b.*$`, '$1share', 'stage'),
  rule(String.raw`^(\s*)(?:moving|trailing|rolling\s+(?:last|window))\s+(\d+\s*\w+)\s*$`, '$1rolling $2', 'stage'),
  rule(String.raw`^(\s*)(?:running(?:\s+(?:total|sum|count))?|cumsum|accumulated?)\s*$`, '$1cumulative', 'stage'),
  rule(String.raw`\btop\s+(\d+)\s+(?:by\s+)?(${FIELD})\s*$`, 'count by $2 | top $1', 'stage'),
  rule(String.raw`^(\s*)(?:(?:in|for|over)\s+)?(?:the\s+)?(?:last|past)\s+(\d+\s*\w+)\s*$`, '$1last $2', 'stage'),
  rule(String.raw`^(\s*)since\s+(\d+\s*[a-z]+)(?:\s+ago)?\s*$`, '$1last $2', 'stage'),
  rule(
    String.raw`^(\s*)${COMPARED}(?:the\s+)?(?:previous|prior|preceding|last)(?:\s+(?:period|range))?\s*$`,
    '$1compare previous',
    'stage',
  ),
  rule(
    String.raw`^(\s*)${COMPARED}(?:the\s+)?(?:previous|prior|last)\s+(day|week|month|quarter|year)\s*$`,
    (_, blank, unit) => `${blank}compare ${earlierBy(unit)}`,
    'stage',
  ),
  rule(
    String.raw`^(\s*)${COMPARED}(yesterday|[dwmqy]o[dwmqy])\s*$`,
    (_, blank, word) => `${blank}compare ${earlierBy(word)}`,
    'stage',
  ),
  rule(
    String.raw`^(\s*)${COMPARED}(\d+)\s*([a-z]+)\s+(?:ago|earlier|before)\s*$`,
    (_, blank, amount, unit) => `${blank}compare ${amount}${unitOf(unit)}`,
    'stage',
  ),
  rule(String.raw`^(\s*)(?:within|conversion\s+window)\s+`, '$1window ', 'stage'),
  rule(
    String.raw`^(\s*)plan\s+(0?\.\d+)\s*$`,
    (_, blank, share) => `${blank}plan ${Number((Number(share) * 100).toPrecision(12))}%`,
    'stage',
  ),
  rule(
    String.raw`^(\s*)(?:plan|power|sample\s+size)(?:\s+for)?\s+(\d+(?:\.\d+)?)\s*(?:%|percent|pct)?`,
    '$1plan $2%',
    'stage',
  ),
  rule(String.raw`^(\s*)(strict|any)\s+order\s*$`, '$1order $2', 'stage'),
  rule(String.raw`\s+within\s+(\d+\s*\w+)`, ' | window $1', 'source'),
  rule(String.raw`(?<=\([\w\s"',]*)\s+or\s+(?=[\w\s"',]*\))`, ', ', 'source'),
  rule(String.raw`(?<=^\s*funnel\b[^([]*)\s*(?:,|[-=—]>|→|(?<![-=—])>|\bthen\b)\s*`, ' -> ', 'source'),
  rule(String.raw`(?<=^\s*retention\s+\S+)\s*(?:,|->|=>|→|>|\bthen\b)\s*`, ' returning ', 'source'),
];

const STRING = /(["'])((?:(?!\1)[^\\]|\\[\s\S])*)\1/g;
const HIDDEN = /(["'])§(\d+)§\1/g;

/** Rewrites every match outside strings; undefined when the habit does not apply. */
export function applyHabit(
  { pattern, replacement, only, readsStrings }: Habit,
  written: string,
  isSource: boolean,
): string | undefined {
  if ((only === 'source' && !isSource) || (only === 'stage' && isSource)) return undefined;
  const strings: string[] = [];
  const hide = (_: string, quote: string, text: string): string => `${quote}§${strings.push(text) - 1}§${quote}`;
  const part = readsStrings ? written : written.replace(STRING, hide);
  const all = new RegExp(pattern.source, 'gi');
  if (!all.test(part)) return undefined;
  all.lastIndex = 0;
  const rewritten =
    typeof replacement === 'string'
      ? part.replace(all, replacement)
      : part.replace(all, (...groups) => replacement(...(groups as string[])));
  return rewritten === part
    ? undefined
    : rewritten.replace(HIDDEN, (_, quote, at) => quote + (strings[Number(at)] ?? `§${at}§`) + quote);
}
