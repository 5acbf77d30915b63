// Rewrite rules for habits from other products: keys of objects, cohorts, conditions of steps and
// sources in words; and for several missing pipes.
import { AGGREGATE, type Habit, NAME, rule } from './rule.js';

/** Conditions behind the events of steps; behind the last event alone they are a stage. */
function conditionsInBrackets(written: string): string {
  const steps = written.split(/\s*->\s*/);
  const isOfStep = steps.slice(0, -1).some((step) => /\swhere\s/i.test(step));
  return isOfStep ? steps.map((step) => step.replace(/\s+where\s+(.+?)\s*$/i, '[$1]')).join(' -> ') : written;
}

const isInCohort = (_: string, not = '', name = ''): string => `cohort.${name} = ${not.trim() === ''}`;
const inCohortOf = (written: string, isNot = '', differs = '', other = '', name = ''): string =>
  isInCohort(written, isNot + differs + other, name);
const COHORT_NAME = String.raw`["']?([a-z][\w-]*)["']?`;
const PEOPLE = '(?:users?|people|persons?|visitors?)';

const readsStrings = (habit: Habit): Habit => ({ ...habit, readsStrings: true });

export const PRODUCT_HABITS: readonly Habit[] = [
  // Keys of objects and of JSON columns.
  readsStrings(rule(String.raw`\b(\w*properties|props|event|user|person)\s*\[\s*["']([\w.$-]+)["']\s*\]`, '$1.$2')),
  readsStrings(rule(String.raw`\b(\w*properties|props)\s*->>?\s*["']([\w.$-]+)["']`, '$1.$2', 'stage')),
  // Cohorts.
  readsStrings(
    rule(
      String.raw`\b(?:(?:${PEOPLE}|user_id|distinct_id)\s+)?(?:is\s+)?\b(not\s+)?in\s+(?:the\s+)?cohort\s+${COHORT_NAME}`,
      isInCohort,
      'stage',
    ),
  ),
  readsStrings(rule(String.raw`\bcohort\s*(?:is\s+(not\s)?|(!)?==?|(<)>)\s*${COHORT_NAME}`, inCohortOf, 'stage')),
  rule(String.raw`\bby\s+cohort\s+(?=[a-z])`, 'by cohort.', 'stage'),
  // Operators.
  rule(
    String.raw`\s+(not_)?(?:regexp?|rlike|matches|similar\s+to)\s+(?=["'])`,
    (_, not) => (not ? ' !~ ' : ' ~ '),
    'stage',
  ),
  // Steps and sources.
  rule(String.raw`^\s*funnel\s.+$`, conditionsInBrackets, 'source'),
  rule(
    String.raw`\b(?!(?:count|${AGGREGATE})\b)(${NAME}|["']§\d+§["'])\s*[({]([^(){}=<>~]*[=<>~][^(){}]*)[)}]`,
    '$1[$2]',
    'source',
  ),
  rule(String.raw`^\s*(?:count\s+|unique\s+|distinct\s+|(?:number\s+)?of\s+)+${PEOPLE}\b`, '* | unique', 'source'),
  rule(String.raw`^\s*list\s+(?:all\s+)?users?\s*$`, 'users', 'source'),
  rule(String.raw`^\s*(count|list)\s+(?:all\s+)?(?:events?|rows?)\b`, '* | $1', 'source'),
  rule(String.raw`^(\s*user)\s+([\w.@+-]+)(?=\s*$)`, '$1 "$2"', 'source'),
  rule(String.raw`^(\s*user)\s+(?:id\s*)?=\s*(?=["'])`, '$1 ', 'source'),
  rule(
    String.raw`^\s*count\s*(?:\(\s*(${NAME})\s*\)|(?:\bof\s+|\b(?!\s*(?:by|of|distinct|unique|per)\b))(${NAME})\b)`,
    '$1$2 | count',
    'source',
  ),
];

/** All pipes that are missing in one part. Alone, because other rules read words of stages. */
export const PIPES: Habit = rule(
  String.raw`(?<=\d\s*[a-z]+)\s+(?=by\b)|(?<=[^\s|])\s+(?=(?:where|last|since|count|unique|list|window|limit|results|compare)\b)`,
  ' | ',
);
