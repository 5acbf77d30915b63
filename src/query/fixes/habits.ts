// Rewrite rules for habits from SQL, other products and English (`group by`, `like`, `weekly`).
// Each rule rewrites one part of a query, its source or a stage; suggest.ts compiles the result
// before it is suggested.

import { findNearest } from '../errors.js';
import { OTHER_NAMES, otherNameOf } from '../fields.js';
import { ENGLISH_HABITS } from './english-habits.js';
import { LOG_HABITS } from './log-habits.js';
import { PRODUCT_HABITS, VALUE_LISTS } from './product-habits.js';
import { QUESTION_HABITS } from './question-habits.js';
import {
  AGGREGATE,
  betweenOf,
  FIELD,
  GRANULARITY,
  type Habit,
  ilikeOf,
  likeOf,
  NAME,
  percentileOf,
  readsStrings,
  rule,
  VALUE,
} from './rule.js';
import { selectOf } from './select.js';

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
const COMPARED = String.raw`(?:compare|compared|vs\.?|versus)\s*(?:to|with|against)?\s*`;
/** How far a range is moved back by the name of a period, or by the last letter of "yoy". */
const EARLIER: Readonly<Record<string, string>> = {
  ...{ yesterday: '1d', day: '1d', week: '1w', month: '1mo', quarter: '3mo', year: '1y' },
  ...{ d: '1d', w: '1w', m: '1mo', q: '3mo', y: '1y' },
};
const earlierBy = (word = ''): string => EARLIER[word.toLowerCase()] ?? EARLIER[word.slice(-1).toLowerCase()] ?? '';
const PERIOD_WORDS = Object.keys(PERIODS).join('|');
const ONE_UNIT = ['minute', 'hour', 'day', 'week', 'month', 'year'];
const UNITS = [...ONE_UNIT.map((unit) => `${unit}s`), ...ONE_UNIT];
const SHORT_UNITS: Readonly<Record<string, string>> = {
  ...{ min: 'm', mins: 'm', hr: 'h', hrs: 'h', wk: 'w', wks: 'w', yr: 'y', yrs: 'y' },
  ...{ H: 'h', D: 'd', W: 'w', Y: 'y' },
  // Months in other languages.
  M: 'mo',
};
const unitOf = (word = ''): string => SHORT_UNITS[word] ?? findNearest(word, UNITS) ?? word;
const PERIOD_STARTS: Readonly<Record<string, string>> = { w: 'week', m: 'month', q: 'quarter', y: 'year' };

const NUMBER_WORDS: Readonly<Record<string, number>> = {
  ...{ two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10, twelve: 12 },
};

const anyOf = (names = ''): string => names.split(/\s*(?:,|\+|\bor\b)\s*/i).join(', ');
const hourOrWeekday = (_: string, part = '', whole = ''): string =>
  part.toLowerCase() === 'hour' && whole.toLowerCase() === 'day' ? 'by hour_of_day' : 'by weekday';

/** The operator of a comparison whose sides change places. */
const turned = (operator = ''): string =>
  operator.replace(/[<>]/, (sign) => (sign === '<' ? '>' : '<')).replace('==', '=');

const presenceOf = (_: string, call = '', field = ''): string => `${field} ${/not/i.test(call) ? '' : 'not '}exists`;

const TEXT_CALLS = 'contains|includes|starts_?with|ends_?with';
function textCallOf(_: string, not = '', call = '', field = '', value = ''): string {
  const word = call
    .toLowerCase()
    .replace(/_?with$/, ' with')
    .replace('includes', 'contains');
  return `${field} ${not && 'not '}${word} ${value}`;
}

/** In order: the first that matches and whose result compiles is suggested. */
export const HABITS: readonly Habit[] = [
  ...LOG_HABITS,
  ...PRODUCT_HABITS,
  ...QUESTION_HABITS,
  ...ENGLISH_HABITS,
  rule(String.raw`^\s*select\s+[\s\S]+$`, selectOf, 'source'),
  rule(String.raw`^\s*(?:events?|from)\s+(?=\S)`, '', 'source'),
  rule(String.raw`\bgroup(?:ed)?\s+by\b`, 'by'),
  rule(String.raw`(?<=[^\s|])\s+order(?:ed)?\s+by\b`, ' | sort'),
  rule(String.raw`\border(?:ed)?\s+by\b`, 'sort'),
  rule(String.raw`(?<=[^\s|])\s+limit\s+(\d+)\s*$`, ' | limit $1'),
  rule(String.raw`(?<=\S)\s+having\s+`, ' | where ', 'stage'),
  rule(String.raw`^(\s*)having\b`, '$1where', 'stage'),
  rule(String.raw`^(\s*)filter(?:\s+by)?\b`, '$1where', 'stage'),
  readsStrings(
    rule(
      String.raw`(${FIELD})\s+(not[\s_]+)?(i?)(?:like|(?<=i)(contains))\s+("[^"]*"|'[^']*')`,
      (_, field, not, i, part, text) =>
        i ? ilikeOf(field, not, part ? `"%${text?.slice(1, -1)}%"` : text) : likeOf(field, not, text),
    ),
  ),
  rule(
    String.raw`(${FIELD})\s+is[\s_]+(not[\s_]+)?(?:${PRESENT}|(${ABSENT}))\b`,
    (_, field, not, absent) => `${field} ${Boolean(not) === Boolean(absent) ? '' : 'not '}exists`,
  ),
  rule(String.raw`^(\s*)(?:where\s+time\s+)?between\s+(${VALUE})\s+and\s+(${VALUE})\s*$`, '$1from $2 to $3', 'stage'),
  rule(String.raw`(\bnot\s+)?(?!not\b)(${FIELD})\s+(not\s+)?between\s+(${VALUE})\s+and\s+(${VALUE})`, betweenOf),
  rule(String.raw`(${FIELD})\s*(?:!=|<>)\s*null\b`, '$1 exists'),
  rule(String.raw`(${FIELD})\s*==?\s*null\b`, '$1 not exists'),
  rule(String.raw`\s*&&?\s*`, ' and '),
  rule(String.raw`\s*\|\|\s*`, ' or '),
  rule('<>', '!='),
  rule('={2,3}', '='),
  rule(String.raw`!\s*\(`, 'not ('),
  rule('[“”„]', '"'),
  rule(String.raw`\s*;\s*$`, ''),
  rule(String.raw`(?<==\s*)(/[^\s"'|\])]*)`, '"$1"'),
  rule(
    String.raw`(${FIELD})\s+(?:is|exact)(?:[\s_]+(not))?\s+(${VALUE})`,
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
    String.raw`(?<!\.)[$](${Object.keys(OTHER_NAMES).join('|')})\b`,
    (_, name) => otherNameOf(name?.toLowerCase() ?? '') ?? '',
    'stage',
  ),
  // Alone in the parentheses of a formula's call, a name is an event.
  rule(String.raw`\bcount\s*\(\s*distinct\s+(${FIELD})\s*\)(?<=^\s*formula\b.*)`, 'unique(*, $1)', 'source'),
  rule(String.raw`\bcount\s*\(\s*distinct\s+(${FIELD})\s*\)`, 'unique $1'),
  rule(String.raw`\bcount\s+distinct\s+(${FIELD})`, 'unique $1'),
  rule(String.raw`(?<!\blist\s+)\bdistinct\s+(${FIELD})`, 'unique $1', 'stage'),
  rule(String.raw`\bcount\s*\(\s*(?:\*|1)?\s*\)`, 'count', 'stage'),
  rule(String.raw`\buniq(?:ue)?s?\s*\(\s*(${FIELD})\s*\)`, 'unique $1', 'stage'),
  rule(String.raw`\b(${AGGREGATE})\s*\(\s*(${FIELD})\s*\)`, '$1 $2', 'stage'),
  rule(
    String.raw`\b(?:percentile|quantile)\s*\(\s*(${FIELD})\s*,\s*(\d*\.?\d+)\s*\)`,
    (_, field, part) => `${percentileOf(Number(part)) ?? 'percentile'} ${field}`,
    'stage',
  ),
  readsStrings(rule(String.raw`\bdate_trunc\s*\(\s*["'](${GRANULARITY})["']\s*,\s*\w+\s*\)`, '$1', 'stage')),
  rule(
    String.raw`^(\s*)(?:(daily|weekly|monthly)\s+)?active\s+(?:users?|people)\b`,
    (_, blank, period) => `${blank}unique${period ? ` by ${PERIODS[period.toLowerCase()]}` : ''}`,
    'stage',
  ),
  rule(String.raw`\b(?:count\s+(?:of\s+)?)?unique\s+(?:users?|people|persons?|visitors?)\b`, 'unique', 'stage'),
  rule(String.raw`^(\s*)uniq\b`, '$1unique', 'stage'),
  rule(
    String.raw`^(\s*)([dwm])au\s*$`,
    (_, blank, letter) => `${blank}unique by ${ACTIVE_BY[letter?.toLowerCase() ?? '']}`,
    'stage',
  ),
  rule(
    String.raw`^(\s*)([dwm])au\s+by\s+(?:(day|week|month)\b)?`,
    (written, blank, letter, given) => {
      const period = ACTIVE_BY[letter?.toLowerCase() ?? ''];
      if (given === undefined) return `${blank}unique by ${period}, `;
      // By day, the people of a month are those of a window.
      return given.toLowerCase() === period ? `${blank}unique by ${period}` : (written ?? '');
    },
    'stage',
  ),
  rule(String.raw`^(\s*)(?:totals?|volume)\b`, '$1count', 'stage'),
  rule(String.raw`^(\s*)(?:break(?:\s?down|\s+down)|split|segment(?:ed)?)\s+(?:by\s+)?`, '$1by ', 'stage'),
  rule(String.raw`(?<!\.)\$(?=[a-z])`, '_', 'stage'),
  rule(String.raw`(?<![\w.])(?:properties|props|event)\.(?=")`, 'event_properties.', 'stage'),
  rule(String.raw`\bper\s+(${GRANULARITY})\b`, 'by $1'),
  rule(String.raw`\bper\s+(?:users?|persons?|people|visitors?)\b`, 'per distinct_id', 'stage'),
  rule(String.raw`\bper\s+(?:sessions?|visits?)\b`, 'per session_id', 'stage'),
  rule(String.raw`\bby\s+(${PERIOD_WORDS})\b`, (_, word) => `by ${PERIODS[word?.toLowerCase() ?? '']}`),
  rule(String.raw`\b(${PERIOD_WORDS})\b`, (_, word) => `by ${PERIODS[word?.toLowerCase() ?? '']}`, 'stage'),
  rule(String.raw`\bby\s+(?:day_?of_?week|dow)\b`, 'by weekday', 'stage'),
  rule(String.raw`\bp50\b`, 'median', 'stage'),
  // As the specification says: the nearest that the language has. The hint names all of them.
  rule(String.raw`\bp75\b`, 'p90', 'stage'),
  rule(String.raw`\b(?:average|mean)\b`, 'avg', 'stage'),
  rule(String.raw`^(\s*)(?:percent(?:age)?|share)\b.*$`, '$1share', 'stage'),
  rule(String.raw`^(\s*)(?:moving|trailing|rolling\s+(?:last|window))\s+(\d+\s*\w+)\s*$`, '$1rolling $2', 'stage'),
  rule(String.raw`^(\s*)(?:running(?:\s+(?:total|sum|count))?|cumsum|accumulated?)\s*$`, '$1cumulative', 'stage'),
  rule(String.raw`^(\s*top\s+\d+)\s+desc(?:ending)?\s*$`, '$1', 'stage'),
  rule(String.raw`\btop\s+(\d+)\s+(?:by\s+)?(?!(?:asc|desc)\b)(${FIELD})\s*$`, 'count by $2 | top $1', 'stage'),
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
  rule(String.raw`^(\s*)compare\s+(?=["']?\d{4}-)`, '$1compare from ', 'stage'),
  rule(String.raw`^(\s*)(?:within|in(?=\s+\d)|conversion[\s_]+window)\s+`, '$1window ', 'stage'),
  rule(
    String.raw`^(\s*)hold(?:ing)?\s+(?:properties\s+|property\s+)?constant\s+(${FIELD})\s*$`,
    '$1unit distinct_id, $2',
    'stage',
  ),
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
  rule(String.raw`(?<=^\s*funnel\b[^([]*)\s*(?:,|[-=—]+>|→|(?<![-=—])>|\b(?:then|to)\b)\s*`, ' -> ', 'source'),
  rule(String.raw`^\s*(?=(?:${NAME}|"[^"]*"|'[^']*')\s*->)`, 'funnel ', 'source'),
  rule(String.raw`(?<=^\s*retention\s+\S+)\s*(?:,|->|=>|→|>|\bthen\b)\s*`, ' returning ', 'source'),
  // Sources.
  rule(String.raw`^\s*(?:any|all|every)\s+events?\s*$`, '*', 'source'),
  rule(String.raw`^\s*(${NAME}(?:\s*(?:,|\+|\bor\b)\s*${NAME})+)\s*$`, (_, names) => `(${anyOf(names)})`, 'source'),
  rule(String.raw`^\s*(?:user\s+)?(?:path|flow|journey)s?\s+(?=(?:from|to)\s)`, 'paths ', 'source'),
  rule(String.raw`^\s*experiment\s+(?=\S)`, 'choice ', 'source'),
  rule(String.raw`(?<=^\s*funnel\b.*)\s+(?:without|excluding|not)\s+(?=\S)`, ' exclude ', 'source'),
  rule(
    String.raw`(?<=^\s*retention\s+\S+)\s+(?:return|returns|returned|return(?:ing)?\s+with)\s+`,
    ' returning ',
    'source',
  ),
  rule(String.raw`(?<=^\s*formula\b.*)\b(count|unique)\s+(${NAME})`, '$1($2)', 'source'),
  // Ranges.
  rule(String.raw`^(\s*)where\s+time\s*>=?\s*(?:last\s+)?(\d+\s*[a-z]+)\s*$`, '$1last $2', 'stage'),
  rule(String.raw`^(\s*)(\d+\s*[a-z]+)\s*$`, '$1last $2', 'stage'),
  rule(String.raw`^(\s*)(?:last|past)\s+(minute|hour|day)\s*$`, '$1last 1 $2', 'stage'),
  rule(String.raw`^(\s*)this\s+day\s*$`, '$1today', 'stage'),
  rule(String.raw`^(\s*)(?:previous|prev|prior|past)\s+(week|month|quarter|year)\s*$`, '$1last $2', 'stage'),
  rule(
    String.raw`^(\s*)(?:this\s+)?(?:([wmqy])td|(week|month|quarter|year)[\s-]+to[\s-]+date)\s*$`,
    (_, blank, letter, word) => `${blank}this ${word ?? PERIOD_STARTS[letter?.toLowerCase() ?? '']}`,
    'stage',
  ),
  rule(String.raw`^(\s*)current\s+(week|month|quarter|year)\s*$`, '$1this $2', 'stage'),
  rule(
    String.raw`^(\s*)last\s+(\d{1,3})\s*q(?:uarters?)?\s*$`,
    (_, blank, amount) => `${blank}last ${3 * Number(amount)}mo`,
    'stage',
  ),
  rule(String.raw`^(\s*)from\s+(${VALUE})(?:\s+to\s+now)?\s*$`, '$1since $2', 'stage'),
  rule(
    String.raw`^(\s*(?:last|past|window|rolling)\s+)(${Object.keys(NUMBER_WORDS).join('|')})\s+(?=[a-z]+\s*$)`,
    (_, head, word) => `${head}${NUMBER_WORDS[word?.toLowerCase() ?? '']} `,
    'stage',
  ),
  // Groups.
  rule(String.raw`\bbucket\s*\(\s*(${FIELD})\s*\)`, 'bucket($1, 10)'),
  rule(String.raw`\bbucket\s*\(\s*(${FIELD})\s+(\d+(?:\.\d+)?)\s*\)`, 'bucket($1, $2)'),
  rule(String.raw`\b(?:tostartof)?(${GRANULARITY})\s*\(\s*\w+\s*\)`, (_, word) => word?.toLowerCase() ?? '', 'stage'),
  rule(String.raw`\b(?:to)?date\s*\(\s*\w+\s*\)`, 'day', 'stage'),
  rule(String.raw`\bby\s+(?:the\s+)?(hour|day)\s+of\s+(?:the\s+)?(day|week)\b`, hourOrWeekday, 'stage'),
  rule(String.raw`\s+over\s+time\b`, ' by day', 'stage'),
  rule(String.raw`\bby\s*\(([^()]*)\)`, 'by $1', 'stage'),
  rule(String.raw`(?<=\bby\s+${FIELD}(?:\s*,\s*${FIELD})*)\s+(?:and|&)\s+(?=\w)`, ', ', 'stage'),
  // Order and size.
  // Rows, unless an aggregate comes before.
  rule(String.raw`^(\s*)(?:head|take|first|show|fetch)\s+(\d+)\s*$`, '$1list | limit $2', 'stage'),
  rule(String.raw`^(\s*)(?:head|take|first|show|fetch)\s+(\d+)\s*$`, '$1limit $2', 'stage'),
  rule(String.raw`^(\s*)(?:order_?by|sort_by|order)\s+`, '$1sort ', 'stage'),
  rule(String.raw`^(\s*)sort\s+-\s*(\w+)\s*$`, '$1sort $2 desc', 'stage'),
  rule(String.raw`\b(asc|desc)ending\b`, '$1', 'stage'),
  // Missing values come last in either direction.
  rule(String.raw`(?<=\S)\s+nulls\s+last\b`, '', 'stage'),
  rule(String.raw`^(\s*top\s+\d+)\s+(?:(?:with|and|plus|\+)\s*)?(?:the\s+)?others?\s*$`, '$1 other', 'stage'),
  // Aggregates.
  rule(String.raw`^(\s*)(?:list|show|raw)(?:\s+(?:\*|all|events?|rows?))?\s*$`, '$1list', 'stage'),
  rule(String.raw`^(\s*)(?:stats|summari[sz]e|aggregate|compute|calculate|measure)\s+(?=\w)`, '$1', 'stage'),
  rule(String.raw`\s+as\s+\w+\s*$(?<=^\s*(?:count|${AGGREGATE})\b.*)`, '', 'stage'),
  rule(String.raw`^(\s*)(?:pct|%)(?:\s+of\s+total)?\s*$`, '$1share', 'stage'),
  // Conditions.
  rule(String.raw`\b(not\s+)?exists\s*\(\s*(${FIELD})\s*\)`, '$2 $1exists'),
  rule(String.raw`\b(not\s+)?exists\s+(${FIELD})(?=\s*(?:$|\]|\)|\b(?:and|or)\b))`, '$2 $1exists'),
  rule(String.raw`\b(is_?(?:not_?)?(?:null|empty)|(?:not_?)?empty)\s*\(\s*(${FIELD})\s*\)`, presenceOf),
  rule(String.raw`\b(not\s+)?(${TEXT_CALLS})\s*\(\s*(${FIELD})\s*,\s*(${VALUE})\s*\)`, textCallOf),
  rule(String.raw`^(\s*)(?=${FIELD}\s*(?:[<>~]|!?=))`, '$1where ', 'stage'),
  rule(String.raw`^(\s*)and\s+(?=\w)`, '$1where ', 'stage'),
  // Not behind `not`, which would negate the first half alone.
  rule(
    String.raw`(?<=^\s*where|\band|\bor|[([])(\s*)(-?\d[\d.]*)\s*([<>]=?)\s*(${FIELD})\s*([<>]=?)\s*(-?\d[\d.]*)(?=\s*(?:$|[)\]]|(?:and|or)\b))`,
    (written, blank, first, before, field, after, second) =>
      before?.[0] === after?.[0]
        ? `${blank}${field} ${turned(before)} ${first} and ${field} ${after} ${second}`
        : (written ?? ''),
  ),
  rule(
    String.raw`(?<=^\s*where|\band|\bor|\bnot|[([])(\s*)(-?\d[\d.]*|"[^"]*"|'[^']*')\s*([<>]=?|!?==?)\s*(${FIELD})(?=\s*(?:$|[)\]]|(?:and|or)\b))`,
    (_, blank, value, operator, field) => `${blank}${field} ${turned(operator)} ${value}`,
  ),
  rule(String.raw`\s+(?:is\s+equal\s+to|equals?|eq)\s+(?=${VALUE})`, ' = ', 'stage'),
  rule(String.raw`\s+(?:does\s+not\s+|!\s*)contains?\s+`, ' not contains ', 'stage'),
  rule(String.raw`\s+(?:does\s+not\s+|!\s*)(start|end)s?\s*with\s+`, ' not $1s with ', 'stage'),
  rule(String.raw`(?<=\S)\s+(?:!\s*|not)in\s*(?=[([])`, ' not in ', 'stage'),
  rule(String.raw`\b(and|or)\s+where\s+`, '$1 ', 'stage'),
  rule(String.raw`\bby\b`, 'by', 'stage'),
  rule(String.raw`\s+(?:includes?|has)\s+(?=["'])`, ' contains ', 'stage'),
  rule(String.raw`\s+(?:starts_?with|begins?\s+with)\s+`, ' starts with '),
  rule(String.raw`\s+ends_?with\s+`, ' ends with '),
  rule(String.raw`(${FIELD})\s+not\s+null\b`, '$1 exists', 'stage'),
  rule(String.raw`(${FIELD})\s+(not\s+)?exist\b`, '$1 $2exists', 'stage'),
  rule('=>', '>=', 'stage'),
  rule('=<', '<=', 'stage'),
  rule('≥', '>=', 'stage'),
  rule('≤', '<=', 'stage'),
  rule('≠', '!=', 'stage'),
  rule('[‘’`´]', '"', 'stage'),
  rule(
    String.raw`(?<=[<>=]\s*)(\d{1,3})((?:,\d{3})+)\b`,
    (_, head, rest) => `${head}${rest?.replaceAll(',', '')}`,
    'stage',
  ),
  rule(String.raw`(?<=[<>=]\s*)\.(?=\d)`, '0.', 'stage'),
  rule(String.raw`(?<=["'\d])\s*,\s*(?=${FIELD}\s*(?:[<>~]|!?=))`, ' and ', 'stage'),
  ...VALUE_LISTS,
  rule(String.raw`\bin\s+("[^"]*"|'[^']*')(?!\s*[,(])`, 'in ($1)', 'stage'),
  rule(
    String.raw`(${FIELD})\s*(?:(!=|<>)|==?)\s*([([])([^()[\]]*)[)\]]`,
    (_, field, not, open, values) => `${field} ${not ? 'not in' : 'in'} ${open}${values}${open === '(' ? ')' : ']'}`,
    'stage',
  ),
  rule(String.raw`\bin\s*\{([^{}]*)\}`, 'in ($1)', 'stage'),
  rule(String.raw`(\bnot\s+)?(\w+\s*\([^()]*\))\s+(not\s+)?between\s+(\d+)\s+and\s+(\d+)`, betweenOf, 'stage'),
  rule(String.raw`(\(\s*(?:${NAME}|\*))(?:\s*,|\s+in(?:\s+the)?)\s*last\s+`, '$1 last ', 'stage'),
  rule(
    String.raw`\b(?:did|performed)\s+(not\s+do\s+|not\s+)?(${NAME})(?:\s+in(?:\s+the)?\s+last\s+(\d+\s*[a-z]+))?`,
    (_, not, name, last) => `count(${name}${last ? ` last ${last}` : ''}) ${not ? '=' : '>'} 0`,
    'stage',
  ),
  rule(String.raw`\b(?:in\s+)?(cohort\.\w+)\s*$`, '$1 = true', 'stage'),
  // Funnels, people and experiments.
  rule(String.raw`^(\s*)(?:without|excluding)\s+`, '$1exclude ', 'stage'),
  rule(String.raw`^(\s*)(?:unordered|any\s+order)\s*$`, '$1order any', 'stage'),
  rule(String.raw`^(\s*)strict(?:ly)?\s*$`, '$1order strict', 'stage'),
  rule(String.raw`^(\s*)(?:people|users?)\s+(?:at\s+)?(?:step\s+)?(\d+)\s*$`, '$1people at $2', 'stage'),
  rule(
    String.raw`^(\s*)(?:people\s+)?(?:lost|dropped)\s+(?:at|after|behind)\s+(?:step\s+)?(\d+)\s*$`,
    '$1people lost after $2',
    'stage',
  ),
  rule(String.raw`^(\s*)(?:goal|conversions?|metric)\s+(?=\w)`, '$1results ', 'stage'),
  rule(String.raw`^(\s*)guardrails?\s+`, '$1guard ', 'stage'),
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
  const hide = (whole: string, quote: string, text: string): string =>
    text === '' ? whole : `${quote}§${strings.push(text) - 1}§${quote}`;
  const part = readsStrings ? written : written.replace(STRING, hide);
  const rewritten =
    typeof replacement === 'string'
      ? part.replace(pattern, replacement)
      : part.replace(pattern, (...groups) => replacement(...(groups as string[])));
  return rewritten === part
    ? undefined
    : rewritten.replace(HIDDEN, (_, quote, at) => quote + (strings[Number(at)] ?? `§${at}§`) + quote);
}
