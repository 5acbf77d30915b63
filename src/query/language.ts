// The stages and aggregates of the query language, each with its form, one line about it, and where
// it may stand. Keywords, errors, hints, llms.txt and the tables of docs/query-language.md derive
// from here; sources/index.ts has the table of the sources.
import { GRANULARITIES } from './fields.js';
import type { StageForms } from './parse/syntax.js';

/** How a source or a stage is written. */
export interface NameRow {
  /** Words that begin it; its kind, when left out. */
  readonly words?: readonly string[];
  /** Node of the grammar; the kind, capitalized, when left out. */
  readonly node?: string;
  /** Subject of errors: "unexpected … in WHAT"; its word, when left out. */
  readonly what?: string;
  /** Example in llms.txt and the reference. */
  readonly example: string;
  /** Explanation there: what the example does not show. */
  readonly about: string;
  /** Hint of syntax errors; the form of the example, when left out. */
  readonly hint?: string;
}

export type NameSpec = Required<NameRow>;

interface StageRow extends NameRow {
  /** What it carries: the builder of that form reads it. */
  readonly form: keyof StageForms;
  /** The sources that take it, in words; left out for stages that most sources take. */
  readonly sources?: string;
  /** Hint for a second one. */
  readonly twice?: string;
}

export const theForm = (example: string): string => `the form is: ${example}`;

/** Fills in what a row leaves out. */
export function completeNames<Row extends NameRow>(kind: string, row: Row, suffix = ''): Row & NameSpec {
  const words = row.words ?? [kind];
  return {
    node: `${kind[0]?.toUpperCase()}${kind.slice(1)}${suffix}`,
    what: words[0] ?? kind,
    hint: theForm(row.example),
    ...row,
    words,
  };
}

const completeStages = <const Rows extends Record<string, StageRow>>(rows: Rows) =>
  Object.fromEntries(Object.entries(rows).map(([kind, row]) => [kind, completeNames(kind, row)])) as {
    readonly [K in keyof Rows]: StageRow & NameSpec & { readonly form: Rows[K]['form'] };
  };

interface AggregateRow {
  /** Name of its column in the answer; `latest` has rows of its own. */
  readonly column?: string;
  readonly example: string;
  readonly about: string;
}

const OF_NUMBERS = 'null without values';
const EXACT = 'exact, interpolated; null without values';

export const AGGREGATES = {
  count: { column: 'count', example: 'count', about: 'events; the default' },
  unique: {
    column: 'unique_count',
    example: 'unique FIELD',
    about: 'distinct values; without a field, people (`distinct_id`). Exact',
  },
  sum: { column: 'total', example: 'sum FIELD', about: '0 without values' },
  avg: { column: 'average', example: 'avg FIELD', about: OF_NUMBERS },
  min: { column: 'min_value', example: 'min FIELD', about: OF_NUMBERS },
  max: { column: 'max_value', example: 'max FIELD', about: OF_NUMBERS },
  median: { column: 'median_value', example: 'median FIELD', about: EXACT },
  p90: { column: 'p90', example: 'p90 FIELD', about: EXACT },
  p95: { column: 'p95', example: 'p95 FIELD', about: EXACT },
  p99: { column: 'p99', example: 'p99 FIELD', about: EXACT },
  latest: { example: 'latest FIELD per FIELD', about: '[the newest value](#latest-values) of each' },
} as const satisfies Record<string, AggregateRow>;

export type AggregateName = keyof typeof AGGREGATES;
const AGGREGATE_NAMES = Object.keys(AGGREGATES) as AggregateName[];

export const ONE_AGGREGATE =
  'an answer has one aggregate, as in unique by day; a formula has several: formula count(signup) as events, unique(signup) as people';

const BY_A_FIELD = 'it is a column of sessions by day; by a field';
/** By a field, the columns of `sessions` by day are aggregates and a formula. */
export const SESSION_COLUMN_FORMS: ReadonlyMap<string, string> = new Map([
  ['avg_duration', `${BY_A_FIELD}: sessions | avg session.duration by session.utm_source`],
  ['avg_events', `${BY_A_FIELD}: sessions | avg session.event_count by session.utm_source`],
  [
    'bounce_rate',
    `${BY_A_FIELD}: formula unique(page_view[session.event_count = 1]) / unique(page_view) as bounce_rate | unit session_id | by session.utm_source`,
  ],
]);

export const CONDITION_FORM =
  'a condition is: field = value, with =, !=, <, <=, >, >=, ~, !~, contains, starts with, ends with, in (…) or exists, and not before the words; text goes in quotes';

const TIME_RANGES = 'time ranges are: today, yesterday, this week, this month, this quarter, this year';
const ONE_RANGE = 'a query has one time range';

export const STAGES = completeStages({
  where: {
    form: 'condition',
    example: 'where CONDITION',
    about:
      '`= != < <= > >=`, `contains`, `starts with`, `ends with`, `~ "regex"`, `in ("a", "b")`, `exists`; negated `!~`, else with `not` before the word; joined by `and`, `or`, parentheses. Text in quotes. `count(a last 30d) >= 3`: of the person, or `per session_id`; sum, avg, min, max, unique',
    hint: `${CONDITION_FORM}; conditions are joined with and, or, and parentheses`,
  },
  last: {
    form: 'duration',
    example: 'last 7d',
    about: 'units m, h, d, w, mo, y, or words: `last 7 days`; rolling',
    hint: 'the form is: last 7d, or last 7 days, with one of the units m, h, d, w, mo, y; or last week, last month',
    twice: ONE_RANGE,
  },
  from_to: {
    form: 'moments',
    node: 'FromTo',
    words: ['from'],
    example: 'from 2026-01-01 to 2026-02-01',
    about: 'the end is excluded',
    twice: ONE_RANGE,
  },
  since: { form: 'moment', example: 'since 2026-11-01', about: 'until now', twice: ONE_RANGE },
  named_range: {
    form: 'period',
    node: 'NamedRange',
    words: ['today', 'yesterday', 'this'],
    what: 'the time range',
    example: 'this month',
    about: 'or `week`, `quarter`, `year`; `today`, `yesterday`; `last month`: the whole month before',
    hint: TIME_RANGES,
    twice: ONE_RANGE,
  },
  aggregate: {
    form: 'aggregate',
    words: AGGREGATE_NAMES,
    what: 'the aggregate',
    example: 'count by FIELD, day',
    about: `${AGGREGATE_NAMES.join(', ')}; all but count take a field: \`p95 FIELD by day\`. \`unique\` alone counts people. \`latest FIELD per FIELD\`: newest value of each. \`count per FIELD | p90 count\`: of the counts`,
    hint: 'the form is: count by day, or unique user_id by _country',
    twice: 'a query has one aggregate; use a separate query for the other',
  },
  list: {
    form: 'columns',
    example: 'list FIELD, FIELD',
    about: 'rows instead of an aggregate',
    hint: 'the form is: list, or list time, user_id',
    sources: 'an event source, user, users, latest and choice',
  },
  sort: {
    form: 'keys',
    example: 'sort COLUMN desc',
    about: 'by a column of the answer',
    hint: 'the form is: sort count desc',
    twice: 'one sort takes several columns, separated by commas',
  },
  limit: { form: 'count', example: 'limit 10', about: 'at most 10,000' },
  top: {
    form: 'top',
    example: 'top 10',
    about: 'by the metric, descending; `top 10 other`: and the rest',
  },
  by: {
    form: 'groups',
    example: 'by FIELD',
    about: `fields and ${GRANULARITIES.join(', ')}; \`bucket(price, 10)\`, \`day of user.first_seen\``,
    hint: 'the form is: by day, _country; a key with other characters goes in quotes: event_properties."Button Name"',
  },
  window: {
    form: 'duration',
    example: 'window 7d',
    about: 'how long after the first event; of retention: length of periods. A month has 30 days',
    sources: 'funnel, retention, paths and choice',
  },
  depth: { form: 'count', example: 'depth 5', about: 'events of a path at most', sources: 'paths' },
  exclude: {
    form: 'events',
    node: 'ExcludeStage',
    example: 'exclude refund, cancel',
    about: 'events that end an attempt',
    sources: 'funnel',
  },
  returning: {
    form: 'pattern',
    node: 'ReturningStage',
    example: 'returning login',
    about: 'the event that counts as a return',
    sources: 'retention',
  },
  unbounded: {
    form: 'nothing',
    example: 'unbounded',
    about: 'in that period or later',
    sources: 'retention',
  },
  first: {
    form: 'nothing',
    example: 'first',
    about: 'by the first a ever',
    sources: 'retention',
  },
  times: {
    form: 'optional_duration',
    example: 'times',
    about: 'how long steps take; `times 1h`: the histogram',
    sources: 'funnel',
  },
  order: {
    form: 'order',
    example: 'order any',
    about: 'or `order strict`: no event between',
    hint: 'the form is: order any, or order strict; rows are ordered by sort: sort count desc',
    sources: 'funnel',
  },
  results: {
    form: 'outcome',
    example: 'results purchase',
    about:
      'conversion to the event, with statistics; `results sum(purchase, price)` or `avg(…)`: means of a value per unit',
    hint: 'the form is: results purchase, or results sum(purchase, price)',
    sources: 'choice',
    twice: 'one outcome at a time; use a separate query for the other',
  },
  guard: {
    form: 'guards',
    example: 'guard error, refund',
    about: 'further events, which warn and never decide',
    sources: 'choice',
  },
  cuped: {
    form: 'duration',
    example: 'cuped 14d',
    about: 'less variance, by the same sum before the exposure',
    sources: 'choice',
  },
  plan: {
    form: 'percent',
    example: 'plan 10%',
    about: 'units and days until a lift of 10 % is found with 80 % power',
    sources: 'choice',
  },
  winsorize: {
    form: 'nothing',
    example: 'winsorize off',
    about: 'values above the 99.9th percentile count in full',
    sources: 'choice',
  },
  unit: {
    form: 'fields',
    example: 'unit user.company_id',
    about: 'what is counted instead of people: values of a field, or of two',
    sources: 'unique, formula, funnel, retention, lifecycle, stickiness, paths and choice',
  },
  compare: {
    form: 'comparison',
    example: 'compare previous',
    about: 'adds `previous`, `change`; or `1y`, `weekdays`, `from A to B`',
    hint: 'the form is: compare previous, compare 1y, compare weekdays, or compare from 2026-01-01 to 2026-02-01',
    sources: 'aggregates such as count by day, formula, funnel, retention and sessions',
    twice: 'a query has one comparison',
  },
  people: {
    form: 'people',
    example: 'people at 2',
    about: 'who is behind a number; `people lost after 1`; `people dormant`; of events `people`',
    hint: 'the form is: people, people at 2, people lost after 1, people dormant, or people at 3 of 2026-11-02',
    sources: 'an event source, funnel, retention and lifecycle',
  },
  rolling: {
    form: 'duration',
    example: 'rolling 28d',
    about: 'each bucket covers the days that end with it',
    sources: 'aggregates of events by day, week, month, quarter or year',
  },
  cumulative: {
    form: 'nothing',
    example: 'cumulative',
    about: 'running total of the range',
    sources: 'aggregates of events by day, week, month, quarter or year',
  },
  share: {
    form: 'nothing',
    example: 'share',
    about: 'column `share`: part of all groups',
    sources: 'count, unique and sum of events by a field',
  },
});

export const STAGE_NAMES: readonly string[] = Object.values(STAGES).flatMap(({ words }) => words);
