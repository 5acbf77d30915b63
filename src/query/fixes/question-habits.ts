// Rewrite rules for the words of a question and for settings of charts: keys with a colon
// (`breakdown: _country`), calls without a source, totals and comparisons in words.
import { STAGE_NAMES } from '../language.js';
import { AGGREGATE, FIELD, GRANULARITY, type Habit, NAME, PEOPLE, percentileOf, rule } from './rule.js';

const FIELDS = String.raw`${FIELD}(?:\s*,\s*${FIELD})*`;
const RANGE = String.raw`(?:(?:last|this|since)\s+\S[^"'|]*|today|yesterday)`;
/** Behind a call that a query begins with; in a formula, an operator follows. */
const CALL_END = String.raw`(?=\s*$|\s+(?:by|last|this|since|today|yesterday)\b)`;
/** Before an operator in words. */
const OPERAND = String.raw`(?<=[\w)"'])(?<!\b(?:where|and|or|not))`;
const NUMBER = String.raw`(?=-?\d)`;
const NUMERIC = 'sum|avg|min|max|median|p90|p95|p99';
const STAGE_WORDS = STAGE_NAMES.join('|');
/** Words that are no field behind `total`. */
const NO_FIELD = `(?!(?:of|by|number|count|events?|rows?|unique|distinct|${PEOPLE})\\b)`;

/** A name behind a stage that is an event: no field of its own, no word of a range or of people. */
const EVENT = `(?!_|\\w+\\.|(?:time|\\w+_(?:id|type)|${STAGE_WORDS}|events?|rows?|all|who|per|${PEOPLE})\\b)(${NAME})`;

const PERIODS: Readonly<Record<string, string>> = { daily: 'day', weekly: 'week', monthly: 'month' };
const PERIOD = `(${Object.keys(PERIODS).join('|')})`;
const periodOf = (word = ''): string => PERIODS[word.toLowerCase()] ?? '';
const BACK: Readonly<Record<string, string>> = { day: '1d', week: '1w', month: '1mo', quarter: '3mo', year: '1y' };

export const QUESTION_HABITS: readonly Habit[] = [
  // Keys of settings.
  // conversion_window: 7 days
  rule(String.raw`^(\s*)conversion[\s_-]?window\s*[:=]?\s*(?=\d)`, '$1window ', 'stage'),
  rule(String.raw`(?<!\s)\s+conversion[\s_-]?window\s*[:=]?\s*(\d+\s*\w+)`, ' | window $1', 'source'),
  // breakdown: _country
  rule(String.raw`^(\s*)(?:break\s?down|group|split|segment)\s*:\s*(?:by\s+)?(?=\w)`, '$1by ', 'stage'),
  rule(String.raw`^(\s*)(?:interval|granularity)\s*:\s*(${GRANULARITY})\s*$`, '$1by $2', 'stage'),
  // time_range: last 7 days
  rule(
    String.raw`^(\s*)(?:(?:time|date)[\s_-]?range|range|period)\s*:\s*(?:last\s+(?=\d))?(\d+\s*[a-z]+)\s*$`,
    '$1last $2',
    'stage',
  ),
  rule(String.raw`^(\s*)(?:(?:time|date)[\s_-]?range|range|period)\s*:\s*(?=${RANGE}\s*$)`, '$1', 'stage'),
  // paths: from signup
  rule(String.raw`^\s*(funnel|retention|paths|lifecycle|stickiness)\s*:\s*(?=\S)`, '$1 ', 'source'),
  // Groups.
  // count split by _country
  rule(String.raw`(?<=\w)(?<!\s)\s+(?:break\s?down|broken\s+down|split|segmented)\s+by\b`, ' by'),
  rule(String.raw`\bby\s+(?:each|every)\s+(?=\w)`, 'by ', 'stage'),
  // count for each _country
  rule(String.raw`(?<=\w)(?<!\s)\s+for\s+(?:each|every)\s+(?=${FIELDS}\s*$)`, ' by ', 'stage'),
  rule(String.raw`(?<=\w)(?<!\s)\s+(?:each|every)\s+(${GRANULARITY})\b`, ' by $1', 'stage'),
  // Aggregates.
  // avg(price) by day
  rule(String.raw`^\s*(${NUMERIC})\s*\(\s*(${FIELD})\s*\)${CALL_END}`, '* | $1 $2', 'source'),
  rule(String.raw`^\s*count\s*\(\s*\*?\s*\)${CALL_END}`, '* | count', 'source'),
  // median of price
  rule(String.raw`^(\s*(?:${AGGREGATE}))\s+of\s+(?:the\s+)?(?=${FIELD})`, '$1 ', 'stage'),
  // 95th percentile of price
  rule(
    String.raw`\b(\d\d)th\s+percentile\s+(?:of\s+)?(?=${FIELD})`,
    (written, part) => (percentileOf(Number(part)) === undefined ? (written ?? '') : `${percentileOf(Number(part))} `),
    'stage',
  ),
  // total price
  rule(String.raw`^(\s*)total\s+(?:of\s+)?${NO_FIELD}(?=${FIELD}(?:\s+by\b|\s*$))`, '$1sum ', 'stage'),
  // number of events
  rule(String.raw`^(\s*)(?:total\s+)?(?:number\s+of\s+|total\s+)(?:events|rows)\b`, '$1count', 'stage'),
  rule(
    String.raw`^(\s*)(?:total\s+)?(?:number\s+of\s+|total\s+)(?:unique\s+|distinct\s+)?${PEOPLE}\b`,
    '$1unique',
    'stage',
  ),
  rule(String.raw`^\s*total\s+events\b`, '* | count', 'source'),
  // Comparisons.
  rule(String.raw`${OPERAND}\s+(?:is\s+)?(?:greater|more|higher|larger)\s+than\s+${NUMBER}`, ' > '),
  rule(String.raw`${OPERAND}\s+(?:is\s+)?(?:less|fewer|lower|smaller)\s+than\s+${NUMBER}`, ' < '),
  rule(String.raw`${OPERAND}\s+(?:is\s+)?at\s+least\s+${NUMBER}`, ' >= '),
  rule(String.raw`${OPERAND}\s+(?:is\s+)?at\s+most\s+${NUMBER}`, ' <= '),
  // week over week
  rule(
    String.raw`^(\s*)(day|week|month|quarter|year)[\s-]+(?:over|on)[\s-]+\2\s*$`,
    (_, blank, unit = '') => `${blank}compare ${BACK[unit.toLowerCase()]}`,
    'stage',
  ),
  // during last week
  rule(String.raw`^(\s*)(?:during|in|over|for)\s+(?:the\s+)?(?=(?:last|this)\s+[a-z]+\s*$)`, '$1', 'stage'),
  // sort by -count
  rule(String.raw`^(\s*)sort\s+by\s+-\s*(${FIELD})(?:\s+desc)?\s*$`, '$1sort $2 desc', 'stage'),
  // Sources.
  // retention first signup
  rule(
    String.raw`^(\s*retention)\s+first(?:[\s-]time)?\s+(?!(?:returning|by)\b)(\S.*?)(?<!\s)\s*$`,
    '$1 $2 | first',
    'source',
  ),
  // retention signup weekly
  rule(
    String.raw`^(\s*(?:retention|lifecycle)\s+\S.*?)(?<!\s)\s+${PERIOD}\s*$`,
    (_, source, word) => `${source} by ${periodOf(word)}`,
    'source',
  ),
  // weekly retention of signup
  rule(
    String.raw`^\s*${PERIOD}\s+(retention|lifecycle)\s+(?:of\s+|for\s+)?(\S.*?)(?<!\s)\s*$`,
    (_, word, source, rest) => `${source} ${rest} by ${periodOf(word)}`,
    'source',
  ),
  // conversion rate from signup to purchase
  rule(
    String.raw`^\s*conversion(?:\s+rate)?\s+(?:(?:from|of)\s+)?(${NAME})\s+(?:to|->)\s+(${NAME})(?=\s*$|\s+by\b)`,
    'funnel $1 -> $2',
    'source',
  ),
  // sessions with purchase
  rule(
    String.raw`^\s*sessions\s+(?:with|containing|including)\s+(?:an?\s+)?(${NAME})\s*$`,
    'sessions | where event_type = "$1"',
    'source',
  ),
  // people purchase
  rule(String.raw`^\s*people\s+${EVENT}(?=\s*$|\s+(?:last|this|since|today|yesterday)\b)`, '$1 | people', 'source'),
  // show me purchase
  rule(String.raw`^\s*(?:show|display|find)\s+(?:me\s+)?(?:the\s+|all\s+)?(?=${EVENT})`, '', 'source'),
  // signup then purchase within 7d
  rule(
    String.raw`^\s*${EVENT}\s+(?:and\s+)?(?:then|followed\s+by)\s+${EVENT}(?:\s+(?:within|in)\s+(\d+\s*[a-z]+))?\s*$`,
    (_, first, next, within) => `funnel ${first} -> ${next}${within ? ` | window ${within}` : ''}`,
    'source',
  ),
  // top _country
  rule(String.raw`^(\s*)top\s+(?=_)(${FIELDS})\s*$`, '$1count by $2 | top 10', 'stage'),
  // where power, where not in power
  rule(
    String.raw`^(\s*where\s+)(not\s+)?(?:in\s+)?(?:cohort\s+)?(?!not\b|in\b|cohort\b)(\w+)\s*$`,
    (_, where, not, name) => `${where}cohort.${name} = ${!not}`,
    'stage',
  ),
];
