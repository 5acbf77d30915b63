// Rewrite rules for English phrases: ranges without a word in front, months by name, and sources
// with the prepositions of a sentence.
import { STAGE_NAMES } from '../language.js';
import { dayAfter } from './past.js';
import { FIELD, GRANULARITY, type Habit, NAME, readsStrings, rule } from './rule.js';

const DAY = String.raw`["']?(\d{4}-\d\d-\d\d)["']?`;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH = String.raw`(${MONTHS.join('|')})[a-z]*\.?`;
const PEOPLE = '(?:users|people|persons|visitors)';
/** Words that may follow an event, so that they are not taken for a second one. */
const NO_EVENT = `(?:${[...STAGE_NAMES, 'of', 'for', 'from', 'after', 'to', 'in', 'on', 'per', 'with'].join('|')})`;

const ACTIVE_BY: Readonly<Record<string, string>> = {
  ...{ daily: ' by day', weekly: ' by week', monthly: ' by month' },
  ...{ d: ' by day', w: ' by week', m: ' by month' },
};

/** By the word without its ending: page and pages, country and countries. */
const FIELD_OF: Readonly<Record<string, string>> = {
  ...{ event: 'event_type', page: '_path', countr: '_country', browser: '_browser', referrer: '_referrer_domain' },
  ...{ cit: '_city', device: '_device_type' },
};

/** All days of a month, whose number begins at 1. */
function wholeMonth(blank: string, year: number, month: number): string {
  const start = (of: number): string => new Date(Date.UTC(year, of - 1, 1)).toISOString().slice(0, 10);
  return `${blank}from ${start(month)} to ${start(month + 1)}`;
}

export const ENGLISH_HABITS: readonly Habit[] = [
  // Ranges.
  // 2026-11-01 to 2026-11-15
  readsStrings(rule(String.raw`^(\s*)${DAY}\s+(?:to|until|till)\s+${DAY}\s*$`, '$1from $2 to $3', 'stage')),
  // 2026-11-01..2026-11-15 includes the last day
  readsStrings(
    rule(
      String.raw`^(\s*)(?:from\s+)?${DAY}\s*(?:\.{2,3}|[-–—]|\bthrough\b)\s*${DAY}\s*$`,
      (_, blank, first, last = '') => `${blank}from ${first} to ${dayAfter(last)}`,
      'stage',
    ),
  ),
  // in November 2026
  rule(
    String.raw`^(\s*)(?:(?:in|during|for|of)\s+)?${MONTH}\s+(\d{4})\s*$`,
    (_, blank = '', name = '', year) => wholeMonth(blank, Number(year), MONTHS.indexOf(name.toLowerCase()) + 1),
    'stage',
  ),
  // in 2026-11
  rule(
    String.raw`^(\s*)(?:in|during|for)\s+(\d{4})-(0[1-9]|1[0-2])\s*$`,
    (_, blank = '', year, month) => wholeMonth(blank, Number(year), Number(month)),
    'stage',
  ),
  // Groups.
  // weekday, count day; a week alone may be meant as a range
  rule(String.raw`^(\s*)(weekday|hour_of_day)\s*$`, '$1by $2', 'stage'),
  rule(String.raw`^(\s*count)\s+(${GRANULARITY}|hour_of_day)\s*$`, '$1 by $2', 'stage'),
  // percent by _country
  rule(String.raw`^(\s*)(?:percent(?:age)?|share)\s+(?:(?:of|by)\s+)?(${FIELD})\s*$`, '$1count by $2 | share', 'stage'),
  // Sources.
  // show events
  rule(String.raw`^\s*(?:(?:show|all)\s+)?(?:event\s+(?:types|names)|(?<=\w\s+)events)\s*$`, 'inspect *', 'source'),
  rule(String.raw`^\s*(?:show|list|all)\s+(?:the\s+)?(?:fields|properties)\s*$`, 'fields', 'source'),
  // properties of purchase
  rule(
    String.raw`^\s*(?:fields|properties|props|describe|schema|columns)\s+(?:(?:of|for|in)\s+)?(?!(?:of|for|in)\b)(${NAME}|["'][^"']*["'])\s*$`,
    'inspect $1',
    'source',
  ),
  // top pages
  rule(
    String.raw`^\s*top\s+(\d+\s+)?(${Object.keys(FIELD_OF).join('|')})(?:s|ies|y)?\s*$`,
    (_, size = '10', stem = '') => `* | count by ${FIELD_OF[stem.toLowerCase()]} | top ${size.trim()}`,
    'source',
  ),
  // funnel steps a, b
  rule(String.raw`^\s*funnel\s+(?:steps?|from|of|for)\b\s*:?\s*(?=\S)`, 'funnel ', 'source'),
  // retention of signup
  rule(String.raw`^\s*(?:cohort\s+)?retention\s+(?:of|for|from|after)\s+(?=\S)`, 'retention ', 'source'),
  rule(String.raw`^\s*cohort\s+retention\s+(?=\S)`, 'retention ', 'source'),
  // retention signup purchase
  rule(
    String.raw`^(\s*retention\s+(?!${NO_EVENT}\b)${NAME})\s+(?!${NO_EVENT}\b)(?=${NAME}(?:\s+by\s+[a-z]+)?\s*$)`,
    '$1 returning ',
    'source',
  ),
  // paths after signup
  rule(String.raw`^\s*paths?\s+(?:after|following|starting\s+(?:at|with|from))\s+(?=\S)`, 'paths from ', 'source'),
  rule(String.raw`^\s*paths?\s+(?:before|leading\s+to|ending\s+(?:at|with|in))\s+(?=\S)`, 'paths to ', 'source'),
  // users who did purchase
  rule(
    String.raw`^\s*${PEOPLE}\s+(?:who|that|which)\s+(?:did|do|performed|had|have)\s+(${NAME})\s*$`,
    'users | where count($1) > 0',
    'source',
  ),
  // weekly active users
  rule(
    String.raw`^\s*(?:(daily|weekly|monthly)\s+)?active\s+${PEOPLE}\s*$`,
    (_, period = '') => `* | unique${ACTIVE_BY[period.toLowerCase()] ?? ''}`,
    'source',
  ),
  // dau last 30 days: without the range it could be an event
  rule(
    String.raw`^\s*([dwm])au\s+(?:(?:for|in|over)\s+)?(?:the\s+)?(?=(?:last|this|since|yesterday|today)\b)`,
    (_, letter) => `* | unique${ACTIVE_BY[letter?.toLowerCase() ?? ''] ?? ''} | `,
    'source',
  ),
  // formula purchase / page_view
  rule(
    String.raw`^(\s*formula\s+)(${NAME})\s+/\s+(${NAME})(?=\s*$|\s+(?:by|as)\b)`,
    '$1count($2) / count($3)',
    'source',
  ),
];
