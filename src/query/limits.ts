// Limits of a query's form, in one table. They bound the cost of a query before a row is read: to
// parse, compile and send it, and for ClickHouse to plan it. docs/query-language.md has the same
// table, and a test compares the two.

/** Maximum size of a query's text in bytes, which all entry points enforce. */
export const QUERY_BYTES_MAX = 16 * 1024;

/** For the finest granularity: about a week of minutes. */
export const MINUTE_BUCKETS_MAX = 10_000;

export interface FormLimit {
  readonly max: number;
  /** The counted things, in the plural. */
  readonly what: string;
  /** What to do above the limit. */
  readonly hint: string;
}

const SEVERAL = 'ask in several queries';

export const FORM_LIMITS = {
  nesting: {
    max: 64,
    what: 'levels of parentheses, or operations in a row of a formula',
    hint: 'and binds tighter than or; most parentheses are unnecessary',
  },
  stages: { max: 50, what: 'stages', hint: 'join the conditions of several where with and' },
  groups: { max: 16, what: 'fields in by', hint: `group by fewer fields, or ${SEVERAL}` },
  conditions: {
    max: 64,
    what: 'conditions in where and in brackets',
    hint: `write in (…) for many values of one field, or ${SEVERAL}`,
  },
  conditionFields: {
    max: 32,
    what: 'different fields in the conditions',
    hint: `name fewer fields, or ${SEVERAL}`,
  },
  times: {
    max: 100,
    what: 'times in the conditions',
    hint: 'use >= and < for a period, or a time range',
  },
  patterns: {
    max: 16,
    what: 'regular expressions',
    hint: 'join expressions on one field with |, or use contains, or in (…)',
  },
  patternStates: {
    max: 5_000,
    what: 'states in all regular expressions together',
    hint: 'shorten repetitions such as {1000} and classes such as \\pL, or use contains, or in (…)',
  },
  listFields: { max: 50, what: 'fields in list', hint: 'list event_properties shows all properties in one column' },
  sortKeys: {
    max: 16,
    what: 'columns in sort',
    hint: 'remove the last ones; they only order rows that are equal in all others',
  },
  // Each step is a level of nesting in the statement.
  steps: { max: 20, what: 'steps in a funnel', hint: 'remove some steps' },
  events: { max: 100, what: 'events, in all steps, calls and excluded ones together', hint: SEVERAL },
  excluded: { max: 50, what: 'excluded events in a funnel', hint: 'remove some events' },
  calls: {
    max: 20,
    what: 'calls in a formula, and in the conditions',
    hint: `${SEVERAL}, and compute with their answers`,
  },
  // Each is a scan of the events.
  callKeys: {
    max: 4,
    what: 'different per in the calls of conditions',
    hint: `name fewer fields after per, or ${SEVERAL}`,
  },
} as const satisfies Record<string, FormLimit>;

export type FormLimitName = keyof typeof FORM_LIMITS;
