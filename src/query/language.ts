// The names of the query language in one table: every source and every stage with its form, one line about it, and where a stage
// may stand. Errors, hints and llms.txt derive from it; a test compares it with the grammar and its keywords.
import { GRANULARITIES } from './fields.js';
import { AGGREGATE_NAMES, type SourceKind, type StageKind } from './parse/syntax.js';

export interface NameSpec {
  /** Node of the grammar. */
  readonly node: string;
  /** Words that begin it; none for a source that begins with an event. */
  readonly words: readonly string[];
  /** Subject of syntax errors: "unexpected … in WHAT". */
  readonly what: string;
  /** Hint of syntax errors. */
  readonly hint: string;
  /** For llms.txt. */
  readonly example: string;
  /** For llms.txt: what the example does not show. */
  readonly about: string;
}

export interface StageSpec extends NameSpec {
  /** The sources that take it, in words; undefined for stages that most sources take. */
  readonly sources?: string;
}

const theForm = (example: string): string => `the form is: ${example}`;

export const SOURCES: Readonly<Record<SourceKind, NameSpec>> = {
  event: {
    node: 'EventSource',
    words: [],
    what: 'the source',
    hint: 'after the source comes a pipe and a stage: signup | count; an event name with other characters than letters, digits and _ . : / $ - goes in quotes',
    example: 'signup',
    about: 'events of a type; `"any name"` in quotes',
  },
  all: {
    node: 'AllSource',
    words: [],
    what: 'the source',
    hint: 'after the source comes a pipe and a stage: * | count',
    example: '*',
    about: 'all events; may be left out: `| last 7d | count`',
  },
  funnel: {
    node: 'FunnelSource',
    words: ['funnel'],
    what: 'funnel',
    hint: theForm('funnel signup -> pay exclude refund'),
    example: 'funnel a -> b -> c exclude x',
    about:
      'people who do a, then b, then c within `window` (1h) of a. Columns step, event, users, rate, step_rate, median_seconds',
  },
  retention: {
    node: 'RetentionSource',
    words: ['retention'],
    what: 'retention',
    hint: theForm('retention signup returning login'),
    example: 'retention a returning b by week',
    about: 'cohorts by first a, and who does b (any event when left out) in later periods: day, week, month',
  },
  paths: {
    node: 'PathsSource',
    words: ['paths'],
    what: 'paths',
    hint: theForm('paths from signup, or paths to signup'),
    example: 'paths from a',
    about:
      'or `paths to a`: one sequence of events per person, within `window` (1h) and `depth` (5); `by FIELD` relabels',
  },
  sessions: {
    node: 'SessionsSource',
    words: ['sessions'],
    what: 'sessions',
    hint: theForm('sessions | last 30d'),
    example: 'sessions',
    about: 'sessions by day with durations and bounce rate, or any aggregate by `session.KEY`',
  },
  lifecycle: {
    node: 'LifecycleSource',
    words: ['lifecycle'],
    what: 'lifecycle',
    hint: theForm('lifecycle login'),
    example: 'lifecycle a by week',
    about: 'people New, Returning, Resurrected, Dormant in each period',
  },
  stickiness: {
    node: 'StickinessSource',
    words: ['stickiness'],
    what: 'stickiness',
    hint: theForm('stickiness login'),
    example: 'stickiness a',
    about: 'people by number of active days',
  },
  user: {
    node: 'UserSource',
    words: ['user'],
    what: 'user',
    hint: theForm('user "id", with the id in quotes'),
    example: 'user "id or e-mail"',
    about: 'events of one person',
  },
  users: {
    node: 'UsersSource',
    words: ['users'],
    what: 'users',
    hint: theForm('users | where plan = "pro"'),
    example: 'users',
    about: 'profiles; fields are bare: `plan`, `email`',
  },
  formula: {
    node: 'FormulaSource',
    words: ['formula'],
    what: 'formula',
    hint: theForm('formula count(pay) / count(signup)'),
    example: 'formula count(a) / unique(b)',
    about: 'also sum(a, FIELD), avg(a, FIELD), + - * /, numbers; `by day`',
  },
  fields: {
    node: 'FieldsSource',
    words: ['fields'],
    what: 'fields',
    hint: theForm('fields | last 30d'),
    example: 'fields',
    about: 'every field with type and coverage',
  },
  inspect: {
    node: 'InspectSource',
    words: ['inspect'],
    what: 'inspect',
    hint: theForm('inspect *, or inspect signup'),
    example: 'inspect *',
    about: 'event types; `inspect a`: properties of one',
  },
  choice: {
    node: 'ChoiceSource',
    words: ['choice'],
    what: 'choice',
    hint: theForm('choice checkout_button | results pay'),
    example: 'choice KEY | results a',
    about: 'result of an experiment: conversion to a by variant, with a verdict',
  },
};

export const CONDITION_FORM =
  'a condition is: field = value, with =, !=, <, <=, >, >=, ~, !~, contains, starts with, ends with, in (…) or exists, and not before the words; text goes in quotes';

const TIME_RANGES = 'time ranges are: today, yesterday, this week, this month, this quarter, this year';

export const STAGES: Readonly<Record<Exclude<StageKind, 'broken'>, StageSpec>> = {
  where: {
    node: 'Where',
    words: ['where'],
    what: 'where',
    hint: `${CONDITION_FORM}; conditions are joined with and, or, and parentheses`,
    example: 'where CONDITION',
    about:
      '`= != < <= > >=`, `contains`, `starts with`, `ends with`, `~ "regex"`, `in ("a", "b")`, `exists`; negated `!~`, else with `not` before the word; joined by `and`, `or`, parentheses. Text in quotes',
  },
  last: {
    node: 'Last',
    words: ['last'],
    what: 'last',
    hint: 'the form is: last 7d, or last 7 days, with one of the units m, h, d, w, mo, y; or last week, last month',
    example: 'last 7d',
    about: 'units m, h, d, w, mo, y, or words: `last 7 days`; rolling',
  },
  from_to: {
    node: 'FromTo',
    words: ['from'],
    what: 'from',
    hint: theForm('from 2026-01-01 to 2026-02-01'),
    example: 'from 2026-01-01 to 2026-02-01',
    about: 'the end is excluded',
  },
  since: {
    node: 'Since',
    words: ['since'],
    what: 'since',
    hint: theForm('since 2026-11-01'),
    example: 'since 2026-11-01',
    about: 'until now',
  },
  last_period: {
    node: 'NamedRange',
    words: ['last'],
    what: 'the time range',
    hint: 'the period before this one: last week, last month, last quarter, last year',
    example: 'last month',
    about: 'the whole period before: `last week`, `last month`, `last quarter`, `last year`',
  },
  named_range: {
    node: 'NamedRange',
    words: ['today', 'yesterday'],
    what: 'the time range',
    hint: TIME_RANGES,
    example: 'today',
    about: 'or `yesterday`',
  },
  this: {
    node: 'NamedRange',
    words: ['this'],
    what: 'the time range',
    hint: TIME_RANGES,
    example: 'this month',
    about: 'or `this week`, `this quarter`, `this year`',
  },
  aggregate: {
    node: 'Aggregate',
    words: AGGREGATE_NAMES,
    what: 'the aggregate',
    hint: theForm('count by day, or unique user_id by _country'),
    example: 'count by FIELD, day',
    about: `${AGGREGATE_NAMES.join(', ')}; all but count take a field: \`p95 FIELD by day\`. \`unique\` alone counts people. \`latest FIELD per FIELD\`: newest value of each`,
  },
  list: {
    node: 'List',
    words: ['list'],
    what: 'list',
    hint: theForm('list, or list time, user_id'),
    example: 'list FIELD, FIELD',
    about: 'rows instead of an aggregate',
    sources: 'an event source, user, users, latest and choice',
  },
  sort: {
    node: 'Sort',
    words: ['sort'],
    what: 'sort',
    hint: theForm('sort count desc'),
    example: 'sort COLUMN desc',
    about: 'by a column of the answer',
  },
  limit: {
    node: 'Limit',
    words: ['limit'],
    what: 'limit',
    hint: theForm('limit 10'),
    example: 'limit 100',
    about: 'at most 10,000',
  },
  top: {
    node: 'Top',
    words: ['top'],
    what: 'top',
    hint: theForm('top 10'),
    example: 'top 10',
    about: 'by the metric, descending',
  },
  by: {
    node: 'By',
    words: ['by'],
    what: 'by',
    hint: theForm('by day, _country; a key with other characters goes in quotes: event_properties."Button Name"'),
    example: 'by FIELD',
    about: `fields and ${GRANULARITIES.join(', ')}; behind an aggregate, or a stage of its own`,
  },
  window: {
    node: 'Window',
    words: ['window'],
    what: 'window',
    hint: theForm('window 7d'),
    example: 'window 7d',
    about: 'of funnel, paths, choice',
    sources: 'funnel, paths and choice',
  },
  depth: {
    node: 'Depth',
    words: ['depth'],
    what: 'depth',
    hint: theForm('depth 5'),
    example: 'depth 5',
    about: 'of paths',
    sources: 'paths',
  },
  exclude: {
    node: 'ExcludeStage',
    words: ['exclude'],
    what: 'exclude',
    hint: theForm('exclude refund, cancel'),
    example: 'exclude x',
    about: 'of funnel',
    sources: 'funnel',
  },
  returning: {
    node: 'ReturningStage',
    words: ['returning'],
    what: 'returning',
    hint: theForm('returning login'),
    example: 'returning b',
    about: 'of retention',
    sources: 'retention',
  },
  results: {
    node: 'Results',
    words: ['results'],
    what: 'results',
    hint: theForm('results purchase'),
    example: 'results a',
    about: 'of choice',
    sources: 'choice',
  },
  unit: {
    node: 'Unit',
    words: ['unit'],
    what: 'unit',
    hint: theForm('unit user_id'),
    example: 'unit user_id',
    about: 'of choice',
    sources: 'choice',
  },
};

const wordsOf = (table: Readonly<Record<string, NameSpec>>): readonly string[] =>
  Object.values(table).flatMap(({ words }) => words);

export const SOURCE_NAMES = wordsOf(SOURCES);
export const STAGE_NAMES = wordsOf(STAGES);
