// Rewrite rules for habits from languages of logs and metrics (KQL, Splunk, PromQL), and for calls
// of SQL that a query writes as an operator or a stage.
import { columnOfAggregate } from '../metric-words.js';
import { dayAfter, PAST, pastOf, takeRecent } from './past.js';
import {
  AGGREGATE,
  FIELD,
  type Habit,
  ilikeOf,
  likeOf,
  NAME,
  percentileOf,
  readsStrings,
  rule,
  VALUE,
} from './rule.js';

const SUMMARIZE = String.raw`(?:stats|summari[sz]e|aggregate)\s+`;
const DISTINCT = '(?:dcount|dc|distinct_?count|(?:approx_?)?count_?distinct|uniq_?exact|nunique)';
const MATCH = '(?:match(?:es)?(?:_?regex)?|regexp?(?:_?(?:match(?:es)?|like|contains))?|rlike)';
const TEXT = `("[^"]*"|'[^']*')`;
const DATE = String.raw`["']?(\d{4}-\d\d-\d\d)["']?`;
/** The column of an aggregate without a name of its own, as KQL calls it. */
const COLUMN = String.raw`(?:count|sum|avg|min|max|dcount)_\w*`;
const BIN = '(?:bin|bucket|time_bucket|span|time)';
/** The name of a property: the event stands before its dot. */
const EVENT_FIELD = String.raw`([a-z_]\w*)\.(\w+)`;

const GRANULARITY_OF: Readonly<Record<string, string>> = {
  ...{ m: 'minute', min: 'minute', h: 'hour', d: 'day', w: 'week', mo: 'month', mon: 'month', q: 'quarter', y: 'year' },
  ...{ minute: 'minute', hour: 'hour', day: 'day', week: 'week', month: 'month', quarter: 'quarter', year: 'year' },
};
const UNIT = `(${Object.keys(GRANULARITY_OF).sort().reverse().join('|')})s?`;
const ONE = String.raw`1?\s*${UNIT}`;
const granularityOf = (unit = ''): string => GRANULARITY_OF[unit.toLowerCase()] ?? '';

const matchOf = (_: string, not = '', field = '', pattern = ''): string => `${field} ${not ? '!~' : '~'} ${pattern}`;

/** A text that has the same letters in either case. */
const sameText = (_: string, field = '', text = ''): string => `${field} ~ "(?i)^${text.slice(1, -1)}$"`;

const percentileCall = (_: string, part = '', field = ''): string =>
  `${percentileOf(Number(part)) ?? 'percentile'} ${field}`;

const dayOf = (_: string, blank = '', day = ''): string => `${blank}from ${day} to ${dayAfter(day)}`;

/** `where`, and the range of its times that are relative to the present. */
const recentOf = (written: string, blank = '', condition = ''): string => {
  const { last, rest } = takeRecent(condition);
  if (last === undefined) return written;
  return `${blank}${[last, ...(rest ? [`where ${rest}`] : [])].join(' | ')}`;
};

function sortedOf(_: string, blank = '', aggregate = '', groups = '', direction = ''): string {
  return `${blank}${aggregate.trim()} by ${groups} | sort ${columnOfAggregate(aggregate)} ${direction}`;
}

const stepsOf = (_: string, steps = ''): string =>
  `funnel ${steps
    .trim()
    .split(/\s*(?:,|->)\s*/)
    .join(' -> ')}`;

/** In order; the first ones have names that a later one would remove. */
export const LOG_HABITS: readonly Habit[] = [
  // An interval in quotes, before the rules that read a whole part.
  readsStrings(rule(String.raw`(?<=-\s*interval\s+)["'](\d{1,4}\s*[a-z]+)["']`, '$1')),
  // A period in quotes, before the rule that reads a whole statement.
  readsStrings(rule(String.raw`\bdate_trunc\s*\(\s*["']${UNIT}["']\s*,\s*\w+\s*\)`, '$1', 'source')),
  // Aggregates.
  rule(
    String.raw`^(\s*)timechart\s+span\s*=\s*${ONE}\s+(\S.*?)(?<!\s)\s+by\s+`,
    (_, blank, unit, what) => `${blank}${what} by ${granularityOf(unit)}, `,
    'stage',
  ),
  rule(
    String.raw`^(\s*)timechart\s+span\s*=\s*${ONE}\s+(.+)$`,
    (_, blank, unit, what) => `${blank}${what} by ${granularityOf(unit)}`,
    'stage',
  ),
  rule(
    String.raw`^(\s*)timechart\s+(\S.*?)(?<!\s)\s+span\s*=\s*${ONE}\s*$`,
    (_, blank, what, unit) => `${blank}${what} by ${granularityOf(unit)}`,
    'stage',
  ),
  rule(String.raw`^(\s*)timechart\s+(\S.*?)(?<!\s)\s+by\s+`, '$1$2 by day, ', 'stage'),
  rule(String.raw`^(\s*)timechart\s+(.+)$`, '$1$2 by day', 'stage'),
  rule(String.raw`^(\s*(?:${SUMMARIZE})?)\w+\s*=\s*(?=(?:count|${DISTINCT}|${AGGREGATE})\b)`, '$1', 'stage'),
  rule(
    String.raw`(?<=^\s*(?:${SUMMARIZE})?(?:count|${DISTINCT}|${AGGREGATE})\b[^,]*)\s+as\s+\w+(?=\s+by\b)`,
    '',
    'stage',
  ),
  rule(String.raw`\b${DISTINCT}\s*\(\s*(${FIELD})\s*\)`, 'unique $1', 'stage'),
  rule(
    String.raw`\b(?:percentile|quantile|percentile_cont)\s*\(\s*(\d*\.?\d+)\s*(?:,|\)\s*\()\s*(${FIELD})\s*\)`,
    percentileCall,
    'stage',
  ),
  rule(String.raw`(?<=^\s*)(?:percentile|quantile)\s+(\d*\.?\d+)\s+(?:of\s+)?(${FIELD})`, percentileCall, 'stage'),
  rule(String.raw`\bperc?(\d+)\s*\(\s*(${FIELD})\s*\)`, percentileCall, 'stage'),
  rule(String.raw`^(\s*)count_?if\s*\((.+)\)\s*$`, '$1where $2 | count', 'stage'),
  rule(String.raw`^(\s*)(sum|avg|min|max)_?if\s*\(\s*(${FIELD})\s*,(.+)\)\s*$`, '$1where $4 | $2 $3', 'stage'),
  // sum price where _country = "DE" by day
  rule(
    String.raw`^(\s*)((?:count|${AGGREGATE})(?:\s+${FIELD})?)\s+(?:where|if|when)\s+(\S.*?)((?<!\s)\s+by\s+[^"']+)?\s*$`,
    '$1where $3 | $2$4',
    'stage',
  ),
  // Groups.
  rule(String.raw`\b${BIN}\s*\(\s*(?:\w+\s*,\s*)?${ONE}\s*\)`, (_, unit) => granularityOf(unit), 'stage'),
  rule(String.raw`\b(?:bin|histogram)\s*\(\s*(${FIELD})\s*,\s*(\d+(?:\.\d+)?)\s*\)`, 'bucket($1, $2)', 'stage'),
  rule(String.raw`\bbucket\s+(${FIELD})\s+(\d+(?:\.\d+)?)\b`, 'bucket($1, $2)', 'stage'),
  rule(String.raw`\bbucket\s+(${FIELD})`, 'bucket($1, 10)', 'stage'),
  rule(String.raw`\bdate_trunc\s*\(\s*${ONE}\s*,\s*\w+\s*\)`, (_, unit) => granularityOf(unit), 'stage'),
  rule(
    String.raw`\b(?:by|every|per)\s+(?:interval\s+)?1\s*${UNIT}\b`,
    (_, unit) => `by ${granularityOf(unit)}`,
    'stage',
  ),
  rule(String.raw`^(\s*where\s+\S.*?)(?<!\s)\s+group(?:ed)?\s+by\s+(.+)$`, '$1 | count by $2', 'stage'),
  rule(String.raw`^(\s*)((?:count|${AGGREGATE})(?:\s+${FIELD})?)\s+by\s+(.+?)\s+(desc|asc)\s*$`, sortedOf, 'stage'),
  rule(String.raw`^(\s*top\s+\d+)\s+by\s+${COLUMN}(?:\s+desc)?\s*$`, '$1', 'stage'),
  // Behind an aggregate, by a column of the answer.
  rule(
    String.raw`^(\s*)top\s+(\d+)\s+by\s+(${FIELD})(?:\s+(asc|desc))?\s*$`,
    (_, blank, rows, column, direction = 'desc') => `${blank}sort ${column} ${direction} | limit ${rows}`,
    'stage',
  ),
  rule(String.raw`^(\s*)(?:order|sort)\s+by\s+${COLUMN}(?=\s+(?:asc|desc)\s*$|\s*$)`, '$1sort value', 'stage'),
  // Behind the word of a stage, an equal sign is no condition.
  rule(String.raw`^(\s*(?:window|last|depth|limit|top|by|sort|unit|rolling))\s*==?\s*(?=\S)`, '$1 ', 'stage'),
  // Order and columns. A shell sorts rows by their number.
  rule(String.raw`^(\s*)sort\s+-(?:rn|nr|r)\s*$`, '$1sort value desc', 'stage'),
  rule(String.raw`^(\s*)sort\s+-n\s*$`, '$1sort value asc', 'stage'),
  rule(
    String.raw`^(\s*)(?:project|fields|table|select|keep|columns)\s+(?=${FIELD}(?:\s*,\s*${FIELD})*\s*$)`,
    '$1list ',
    'stage',
  ),
  // Conditions.
  rule(String.raw`\b(not\s+)?${MATCH}\s*\(\s*(${FIELD})\s*,\s*(${VALUE})\s*\)`, matchOf),
  readsStrings(
    rule(String.raw`\b(not\s+|not_?)?(i?)like\s*\(\s*(${FIELD})\s*,\s*${TEXT}\s*\)`, (_, not, i, field, text) =>
      i ? ilikeOf(field, not, text) : likeOf(field, not, text),
    ),
  ),
  readsStrings(
    rule(
      String.raw`\b(?:to_?)?(?:lower|upper)(?:case)?\s*\(\s*(${FIELD})\s*\)\s*==?\s*(["'][a-z0-9 _/-]+["'])`,
      sameText,
    ),
  ),
  // Ranges.
  readsStrings(rule(String.raw`\bdatetime\s*\(\s*(?:${DATE})\s*\)`, '$1', 'stage')),
  rule(String.raw`^(\s*)where\s+time(?:stamp)?\s*>=\s*today(?:\(\))?\s*$`, '$1today', 'stage'),
  readsStrings(rule(String.raw`^(\s*)where\s+(.+)$`, recentOf, 'stage')),
  readsStrings(
    rule(String.raw`^(\s*)where\s+(?:to)?date\s*\(\s*(?:time|timestamp)\s*\)\s*==?\s*${DATE}\s*$`, dayOf, 'stage'),
  ),
  readsStrings(rule(String.raw`^(\s*)on\s+${DATE}\s*$`, dayOf, 'stage')),
  readsStrings(
    rule(
      String.raw`^(\s*)(?:from|since)\s+(?:${PAST})(?:\s+(?:to|until)\s+now(?:\(\))?)?\s*$`,
      (_, blank, ...written) => `${blank}last ${pastOf(written)}`,
      'stage',
    ),
  ),
  rule(String.raw`^(\s*)(?:-|last_?)(\d+(?:mo|[mhdwy]))\s*$`, '$1last $2', 'stage'),
  rule(String.raw`^(\s*)from\s+yesterday\s+to\s+today\s*$`, '$1yesterday', 'stage'),
  // Sources. A table of all events, as in SQL.
  rule(String.raw`^\s*from\s+events?\s*$`, '*', 'source'),
  rule(String.raw`^\s*funnel\s*[([]([^()[\]|]+(?:,|->)[^()[\]|]+)[)\]]\s*$`, stepsOf, 'source'),
  rule(
    String.raw`^(\s*(?:${NAME}|\*))\s+where\s+(\S.*?)(?<!\s)\s+(?:group(?:ed)?\s+)?by\s+(.+)$`,
    '$1 | where $2 | count by $3',
    'source',
  ),
  rule(String.raw`^(\s*(?:${NAME}|\*))\s+where\s+(?=\S)`, '$1 | where ', 'source'),
  rule(String.raw`(?<=^\s*formula\b.*\(\s*(?:${NAME}|\*))\s+where\s+([^()]+?)\s*(?=[,)])`, '[$1]', 'source'),
  rule(String.raw`(?<=^\s*formula\b.*)\b(sum|avg)\s*\(\s*${EVENT_FIELD}\s*\)`, '$1($2, $3)', 'source'),
  rule(String.raw`^\s*(?=(?:count|unique|sum|avg)\s*\([^()]*\)\s*[-+*/])`, 'formula ', 'source'),
  rule(String.raw`^\s*(${AGGREGATE})\s*\(\s*${EVENT_FIELD}\s*\)(\s+by\s+.+)?$`, '$2 | $1 $3$4', 'source'),
  rule(
    String.raw`^\s*(?:increase|count_over_time)\s*\(\s*(${NAME})\s*\[\s*(\d+[mhdwy])\s*\]\s*\)\s*$`,
    '$1 | last $2 | count',
    'source',
  ),
  rule(String.raw`^\s*(?:sum|count)\s+by\s*\(([^()]+)\)\s*\(\s*(${NAME})\s*\)\s*$`, '$2 | count by $1', 'source'),
];
