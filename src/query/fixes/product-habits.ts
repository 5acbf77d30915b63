// Rewrite rules for habits from other products and from English: keys of objects, cohorts, values
// and fields without commas, conditions of steps and sources in words; and for several missing
// pipes.
import { STAGE_NAMES } from '../language.js';
import { AGGREGATE, FIELD, type Habit, NAME, PEOPLE, readsStrings, rule } from './rule.js';

/**
 * Conditions behind the events of steps, `funnel a where price > 3 -> b`; behind the last event
 * alone they are a stage.
 */
function conditionsInBrackets(written: string): string {
  const steps = written.split(/\s*->\s*/);
  const isOfStep = steps.slice(0, -1).some((step) => /\swhere\s/i.test(step));
  return isOfStep ? steps.map((step) => step.replace(/\s+where\s+(.+?)\s*$/i, '[$1]')).join(' -> ') : written;
}

const isInCohort = (_: string, not = '', name = ''): string => `cohort.${name} = ${not.trim() === ''}`;
const inCohortOf = (written: string, isNot = '', differs = '', other = '', name = ''): string =>
  isInCohort(written, isNot + differs + other, name);
const COHORT_NAME = String.raw`["']?([a-z][\w-]*)["']?`;

/** A value in a list of conditions, which has no operator of its own: `AT`, `"DE"`, `4.2`. */
const OTHER_VALUE = String.raw`(?:"[^"]*"|'[^']*'|\d[\d.]*|(?!(?:not|and|or)\b)[a-z][\w-]*)(?![\w.-])`;
const CONDITION_END = String.raw`(?=\s*(?:$|[)\]]|(?:and|or)\b))`;
const inList = (field = '', first = '', rest = ''): string =>
  `${field} in (${first}${rest.replace(/\s+(?:or|and)\s+/gi, ', ')})`;

/** Words behind fields that are no fields. */
const NO_FIELDS: ReadonlySet<string> = new Set([
  ...STAGE_NAMES,
  'asc',
  'desc',
  'of',
  'per',
  'in',
  'with',
  'for',
  'all',
]);

/** `list time user_id`, unless a word may be something else than a field. */
function commasInList(written: string, head = '', fields = ''): string {
  const words = fields.trim().split(/\s*,\s*|\s+(?:and\s+)?/);
  return words.some((word) => word === '' || NO_FIELDS.has(word.toLowerCase())) ? written : head + words.join(', ');
}

export const PRODUCT_HABITS: readonly Habit[] = [
  // Keys of objects and of JSON columns.
  // event["plan"]
  readsStrings(rule(String.raw`\b(\w*properties|props|event|user|person)\s*\[\s*["']([\w.$-]+)["']\s*\]`, '$1.$2')),
  // properties->>'plan'
  readsStrings(rule(String.raw`\b(\w*properties|props)\s*->>?\s*["']([\w.$-]+)["']`, '$1.$2', 'stage')),
  // Cohorts.
  // user_id not in cohort power
  readsStrings(
    rule(
      String.raw`\b(?:(?:${PEOPLE}|user_id|distinct_id)\s+)?(?:is\s+)?\b(not\s+)?in\s+(?:the\s+)?cohort\s+${COHORT_NAME}`,
      isInCohort,
      'stage',
    ),
  ),
  // cohort != "power"
  readsStrings(rule(String.raw`\bcohort\s*(?:is\s+(not\s)?|(!)?==?|(<)>)\s*${COHORT_NAME}`, inCohortOf, 'stage')),
  rule(String.raw`\bby\s+cohort\s+(?=[a-z])`, 'by cohort.', 'stage'),
  // Operators.
  // _path not_regex "^/docs"
  rule(
    String.raw`\s+(not_)?(?:regexp?|rlike|matches|similar\s+to)\s+(?=["'])`,
    (_, not) => (not ? ' !~ ' : ' ~ '),
    'stage',
  ),
  // Several fields.
  rule(String.raw`^(\s*list\s+)([\w.\s,]+)$`, commasInList, 'stage'),
  // count by _country _os
  rule(
    String.raw`\bby\s+(?!(?:each|every)\s)[\w.\s,]+`,
    (written) =>
      written?.replace(/(?<=[\w.])(?<!\b(?:by|and))\s+(?=_\w|(?:user|session|event_properties)\.)/gi, ', ') ?? '',
    'stage',
  ),
  // Steps and sources.
  rule(String.raw`^\s*funnel\s.+$`, conditionsInBrackets, 'source'),
  // signup{_os = "iOS"}
  rule(
    String.raw`\b(?!(?:count|${AGGREGATE})\b)(${NAME}|["']§\d+§["'])\s*[({]([^(){}=<>~]*[=<>~][^(){}]*)[)}]`,
    '$1[$2]',
    'source',
  ),
  // count of distinct users
  rule(String.raw`^\s*(?:count\s+|unique\s+|distinct\s+|(?:number\s+)?of\s+)+${PEOPLE}\b`, '* | unique', 'source'),
  rule(String.raw`^\s*list\s+(?:all\s+)?users?\s*$`, 'users', 'source'),
  rule(String.raw`^\s*(count|list)\s+(?:all\s+)?(?:events?|rows?)\b`, '* | $1', 'source'),
  // user ann@shop.example
  rule(String.raw`^(\s*user)\s+([\w.@+-]+)(?=\s*$)`, '$1 "$2"', 'source'),
  // user id = "u1"
  rule(String.raw`^(\s*user)\s+(?:id\s*)?=\s*(?=["'])`, '$1 ', 'source'),
  // count(signup), count of signup
  rule(
    String.raw`^\s*count\s*(?:\(\s*(${NAME})\s*\)|(?:\bof\s+|\b(?!\s*(?:by|of|distinct|unique|per)\b))(${NAME})\b)`,
    '$1$2 | count',
    'source',
  ),
];

/** Several values of one field; behind the rules of `is`, which writes the `=` that they read. */
export const VALUE_LISTS: readonly Habit[] = [
  // _country = DE or AT
  rule(
    String.raw`(?<![\w.])(${FIELD})\s*=\s*(${OTHER_VALUE})((?:\s+or\s+${OTHER_VALUE})+)${CONDITION_END}`,
    (_, field, first, rest) => inList(field, first, rest),
    'stage',
  ),
  // _country != DE and AT
  rule(
    String.raw`(?<![\w.])(${FIELD})\s*!=\s*(${OTHER_VALUE})((?:\s+and\s+${OTHER_VALUE})+)${CONDITION_END}`,
    (_, field, first, rest) => inList(`${field} not`, first, rest),
    'stage',
  ),
];

/**
 * All pipes that are missing in one part, `signup last 7d by day`. Alone, because other rules read
 * words of stages.
 */
export const PIPES: Habit = rule(
  String.raw`(?<=\d\s*[a-z]+|\b(?:last|this)\s+[a-z]+|\b(?:today|yesterday))\s+(?=by\b)` +
    String.raw`|(?<=[^\s|])\s+(?=(?:where|last|this|today|yesterday|since|count|unique|list|window|limit|results|compare)\b)`,
  ' | ',
);
