// Generators of random, valid questions of every source, and the rounds in which a property test
// asks them.
import fc from 'fast-check';
import { METRICS } from './aggregate.js';
import { stepName } from './funnel.js';
import { contexts, type HistoryOptions, histories, record, written } from './generate.js';
import { calls, withCalls } from './generate-calls.js';
import { byCohort, cohorts } from './generate-cohorts.js';
import { earlierRanges, withComparison } from './generate-comparisons.js';
import { ranges, wheres } from './generate-conditions.js';
import {
  aggregateReadings,
  aggregates,
  CALL_RANGES,
  endings,
  filters,
  fitForRanges,
  groups,
  limits,
  withEnding,
  withoutRanges,
} from './generate-readings.js';
import { counting, units } from './generate-units.js';
import { outcomes } from './generate-values.js';
import type { History } from './history.js';
import type * as ask from './question.js';
import { groupColumn } from './to-query-text.js';
import * as words from './vocabulary.js';
import type { Context } from './world.js';

export interface Round {
  readonly context: Context;
  readonly history: History;
  readonly questions: readonly ask.Question[];
}

export type Source = ask.Question['source'];

export interface RoundOptions extends HistoryOptions {
  readonly questionsMax?: number;
  /** Whether some questions group by a cohort, which is a definition beside their text. */
  readonly hasCohorts?: boolean;
}

/**
 * One history and several questions of one source, because storing a history costs more than a
 * question.
 */
export function rounds(source: Source, options: RoundOptions = {}): fc.Arbitrary<Round> {
  const { questionsMax = 10, hasCohorts = false, exposures = source === 'choice' ? 5 : 1 } = options;
  return contexts.chain((context) =>
    record({
      context: fc.constant(context),
      history: histories(context, { ...options, exposures }),
      questions: fc.array(hasCohorts ? grouped(source, context) : questions(source, context), {
        minLength: 1,
        maxLength: questionsMax,
        size: 'max',
      }),
    }),
  );
}

export function questions(source: Source, context: Context): fc.Arbitrary<ask.Question> {
  const drawn = fc.tuple(BY_SOURCE[source](context), units).map(([question, unit]) => counting(question, unit));
  return fc.tuple(drawn, earlierRanges(context)).map(([question, compare]) => withComparison(question, compare));
}

const grouped = (source: Source, context: Context): fc.Arbitrary<ask.Question> =>
  fc.tuple(questions(source, context), cohorts(anyEventSets)).map(([question, cohort]) => byCohort(question, cohort));

const eventTypes = fc.constantFrom('signup', 'view', 'signup', 'view', 'pay', ...words.EVENT_TYPES);
const anyEventTypes = fc.oneof(eventTypes, fc.constant(null));

const PROPERTY_FIELDS = words.MIXED_KEYS.map((key) => `event_properties.${key}`);
const CORE_FIELDS = ['event_type', 'user_id', 'distinct_id', 'device_id', 'session_id'];
const DERIVED_FIELDS =
  '_path _path_clean _hostname _referrer_domain _platform _device_type _country _page _region_code'.split(' ');
const USER_FIELDS = ['user_properties.plan', 'user.plan', 'user.seats', 'user.email_domain'];
const SESSION_TEXTS =
  'first_event last_event landing_path exit_path landing_path_clean utm_source gclid language country referring_domain'
    .split(' ')
    .map((key) => `session.${key}`);
const SESSION_NUMBERS = ['session.event_count', 'session.duration'];
const LAST_SESSION_FIELDS = [
  ...['user_last_session.exit_path', 'user_last_session.event_count', 'user_last_session.country'],
  ...['user_first_session.utm_source', 'user_first_session.event_count', 'user_first_session.first_event'],
];

const EVENT_FIELDS = [
  ...PROPERTY_FIELDS,
  ...PROPERTY_FIELDS,
  ...CORE_FIELDS,
  ...DERIVED_FIELDS,
  ...USER_FIELDS,
  ...SESSION_TEXTS,
  'session.event_count',
  ...LAST_SESSION_FIELDS,
];
/** Event types, some with conditions, and any of several. */
const matches: fc.Arbitrary<ask.Match> = record({ event: eventTypes, where: wheres(EVENT_FIELDS) });
const eventSets: fc.Arbitrary<ask.Events> = fc.oneof(
  { weight: 4, arbitrary: eventTypes },
  matches.filter(({ where }) => where.length > 0).map((match): ask.Events => [match]),
  fc.array(matches, { minLength: 2, maxLength: 3 }),
);
const anyEventSets = fc.oneof(eventSets, fc.constant(null));

const EVENT_NUMBERS = ['event_properties.amount', 'event_properties.cart.total', 'user.seats', ...SESSION_NUMBERS];
const EVENT_TIMES = ['user.first_seen', 'session.start_time'];
const PROFILE_FIELDS = ['plan', 'user.plan', 'seats', 'email', 'email_domain', 'user_id'];

const LISTS = fc.constant<ask.Reading>({ kind: 'list' });
const NO_READING = fc.constant(undefined);

const EVENT_AGGREGATES = aggregateReadings({ texts: EVENT_FIELDS, numbers: EVENT_NUMBERS, times: EVENT_TIMES }, true);
const LIST_SORTS = ['time', 'event_type', 'insert_id'];

const eventReads = withEnding<ask.Reading | undefined>(
  fc.oneof({ weight: 6, arbitrary: EVENT_AGGREGATES }, LISTS, NO_READING),
  LIST_SORTS,
);

const userReads = withEnding<ask.Reading | undefined>(
  fc.oneof({ weight: 2, arbitrary: EVENT_AGGREGATES }, LISTS, NO_READING),
  LIST_SORTS,
);

const asked = (context: Context, fields = EVENT_FIELDS) => ({
  range: ranges(context),
  where: withCalls(wheres(fields), calls(anyEventSets, fields === EVENT_FIELDS)),
});

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 });

const rarely = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, arbitrary);

const windows = maybe(
  fc.constantFrom<ask.Span[]>(
    { count: 1, unit: 'm' },
    { count: 30, unit: 'm' },
    { count: 2, unit: 'h' },
    { count: 1, unit: 'd' },
    { count: 2, unit: 'w' },
  ),
);

const BREAKDOWNS = ['_platform', '_country', 'event_properties.plan', 'user.plan', 'session.landing_path'];
const breakdowns = maybe(fc.constantFrom(...BREAKDOWNS));
const periods = maybe(fc.constantFrom<ask.CalendarPeriod[]>('day', 'week', 'month'));

function events(context: Context): fc.Arbitrary<ask.Question> {
  return record({ event: anyEventSets, ...asked(context), read: eventReads }).map(({ read, ...rest }) =>
    written({ source: 'events' as const, ...rest, ...read }),
  );
}

function latest(context: Context): fc.Arbitrary<ask.Question> {
  const ofValue = record({
    kind: fc.constant('aggregate' as const),
    aggregate: aggregates({ texts: ['last_value'], numbers: ['last_value'] }, false),
    by: fc.constantFrom<ask.Group[][]>([], [{ kind: 'field', field: 'last_value' }]),
    having: filters,
  }).map(({ having, ...reading }): ask.Reading => {
    return having ? { ...reading, having: { column: METRICS[reading.aggregate.kind], ...having } } : reading;
  });
  return record({
    event: anyEventSets,
    ...asked(context),
    field: fc.constantFrom(...PROPERTY_FIELDS, '_path', 'user_properties.plan'),
    per: maybe(fc.constantFrom('user_id', 'device_id', 'session_id', '_platform')),
    read: withEnding<ask.Reading | undefined>(fc.oneof(ofValue, LISTS, NO_READING), ['entity', 'set_at']),
  }).map(({ read, ...rest }) => written({ source: 'latest' as const, ...rest, ...read }));
}

function funnel(context: Context): fc.Arbitrary<ask.Question> {
  return (
    record({
      source: fc.constant('funnel' as const),
      steps: fc.array(eventSets, { minLength: 2, maxLength: 4 }),
      exclude: fc.uniqueArray(eventSets, { maxLength: 2 }),
      window: windows,
      order: maybe(fc.constantFrom('any' as const, 'strict' as const)),
      period: maybe(fc.constantFrom<ask.CalendarPeriod[]>('day', 'week', 'month')),
      by: breakdowns,
      times: fc.option(
        fc.constantFrom<('all' | ask.Span)[]>('all', 'all', { count: 10, unit: 'm' }, { count: 1, unit: 'h' }),
        { nil: undefined, freq: 2 },
      ),
      ...asked(context),
    })
      // An event cannot be both a step and excluded.
      .map((drawn) => ({
        ...drawn,
        exclude: (drawn.order === 'any' ? [] : drawn.exclude).filter(
          (one) => !drawn.steps.some((step) => stepName(step) === stepName(one)),
        ),
      }))
      .map(written)
  );
}

function retention(context: Context): fc.Arbitrary<ask.Question> {
  const monthly = fc.constant<ask.Range>({ kind: 'last', span: { count: 4, unit: 'm' } });
  const { where } = asked(context);
  return (
    record({
      source: fc.constant('retention' as const),
      event: fc.oneof({ weight: 5, arbitrary: eventSets }, fc.constant(null)),
      returning: maybe(fc.oneof(eventSets, fc.constant('any'))),
      period: maybe(
        fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'quarter' as const, 'year' as const),
      ),
      by: fc.option(fc.constantFrom(...BREAKDOWNS), { nil: undefined, freq: 3 }),
      first: fc.boolean(),
      window: maybe(fc.constantFrom(1, 24, 36, 168).map((count): ask.Span => ({ count, unit: 'h' }))),
      reading: fc.constantFrom({}, { unbounded: true }, ...EVENT_NUMBERS.map((sum) => ({ sum }))),
      range: fc.oneof(ranges(context), monthly),
      where,
    })
      .map(({ reading, ...drawn }) => ({ ...drawn, ...reading }))
      // In a retention `m` means months, so minutes are not generated.
      .filter(({ range }) => range?.kind !== 'last' || range.span.unit !== 'm' || range.span.count === 4)
      .map(written)
  );
}

function paths(context: Context): fc.Arbitrary<ask.Question> {
  return record({
    source: fc.constant('paths' as const),
    direction: fc.constantFrom('from' as const, 'to' as const),
    event: eventSets,
    window: windows,
    depth: maybe(fc.constantFrom(1, 2, 3, 8)),
    by: maybe(fc.constantFrom('_path', 'event_properties.plan', '_platform')),
    limit: maybe(limits),
    ...asked(context),
  }).map(written);
}

function sessions(context: Context): fc.Arbitrary<ask.Question> {
  const readings = aggregateReadings(
    { texts: [...SESSION_TEXTS, 'session.event_count'], numbers: SESSION_NUMBERS },
    false,
  );
  return record({ ...asked(context), read: withEnding(fc.oneof(readings, NO_READING), []) }).map(({ read, ...rest }) =>
    written({ source: 'sessions' as const, ...rest, ...read }),
  );
}

function lifecycle(context: Context): fc.Arbitrary<ask.Question> {
  return record({
    source: fc.constant('lifecycle' as const),
    event: anyEventSets,
    period: periods,
    ...asked(context),
  }).map(written);
}

function stickiness(context: Context): fc.Arbitrary<ask.Question> {
  return record({ source: fc.constant('stickiness' as const), event: anyEventSets, ...asked(context) }).map(written);
}

function user(context: Context): fc.Arbitrary<ask.Question> {
  const id = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('u1', 'u1', 'd1') },
    fc.constantFrom(...words.USERS, ...words.DEVICES, ...words.EMAILS, 'nobody'),
  );
  return record({ id, ...asked(context), read: userReads }).map(({ read, ...rest }) =>
    written({ source: 'user' as const, ...rest, ...read }),
  );
}

function users(context: Context): fc.Arbitrary<ask.Question> {
  const ofProfiles = aggregateReadings(
    { texts: PROFILE_FIELDS, numbers: ['seats', 'user.seats'], times: ['first_seen', 'last_seen'] },
    false,
  );
  const readings = ofProfiles.map((reading) => ({
    ...reading,
    by: reading.by.filter((group) => group.kind !== 'time' || group.of !== undefined),
  }));
  return record({
    ...asked(context, PROFILE_FIELDS),
    read: withEnding<ask.Reading | undefined>(fc.oneof(readings, LISTS, NO_READING), ['user_id', 'last_seen']),
  }).map(({ read, ...rest }) => written({ source: 'users' as const, ...rest, ...read }));
}

function formula(context: Context): fc.Arbitrary<ask.Question> {
  const fields = ['event_properties.amount', 'event_properties.cart.total', 'user.seats'];
  const leaf: fc.Arbitrary<ask.Expression> = fc.oneof(
    fc.constantFrom(2, 0.5, 100, 0).map((value): ask.Expression => ({ kind: 'number', value })),
    {
      weight: 4,
      arbitrary: record({
        kind: fc.constant('term' as const),
        function: fc.constantFrom('count' as const, 'unique' as const, 'sum' as const, 'avg' as const),
        event: anyEventSets,
        field: fc.constantFrom(...fields),
        last: rarely(CALL_RANGES),
      }).map((drawn): ask.Expression => {
        const { field, ...term } = written(drawn);
        return term.function === 'count' || term.function === 'unique' ? term : { ...term, field };
      }),
    },
    record({
      kind: fc.constant('term' as const),
      function: fc.constant('unique' as const),
      field: fc.constantFrom('event_properties.plan', '_path', 'device_id', 'user.plan'),
      event: anyEventSets,
      last: rarely(CALL_RANGES),
    }).map(written),
  );
  const joined = (part: fc.Arbitrary<ask.Expression>): fc.Arbitrary<ask.Expression> =>
    record({
      kind: fc.constant('binary' as const),
      operator: fc.constantFrom('/' as const, '+' as const, '-' as const, '*' as const),
      left: part,
      right: part,
    });
  const expressions = fc.oneof(joined(leaf), leaf, joined(fc.oneof(leaf, joined(leaf))));
  const others = fc.oneof(fc.constant([]), fc.array(expressions, { minLength: 1, maxLength: 2 }));
  return record({
    expressions: fc.tuple(expressions, others),
    by: groups(EVENT_FIELDS, { times: EVENT_TIMES, numbers: EVENT_NUMBERS }),
    ranges: fc.boolean(),
    filter: filters,
    ...asked(context),
  }).chain(({ expressions: [first, rest], by: drawn, ranges: hasRanges, filter, ...of }) => {
    const by = hasRanges ? fitForRanges(drawn, of.range) : drawn;
    const all = hasRanges ? [first, ...rest] : [first, ...rest].map(withoutRanges);
    const columns = all.map((expression, index) =>
      all.length === 1 ? { expression } : { name: `c${index}`, expression },
    ) as [ask.FormulaColumn, ...ask.FormulaColumn[]];
    const names = [...by.map(groupColumn), ...columns.map(({ name }) => name ?? 'value')];
    const having = filter && { column: columns.at(-1)?.name ?? 'value', ...filter };
    return endings(names, true).map((ending) =>
      written({ source: 'formula' as const, columns, by, having, ending, ...of }),
    );
  });
}

function fields(context: Context): fc.Arbitrary<ask.Question> {
  return record({ source: fc.constant('fields' as const), range: ranges(context) }).map(written);
}

function inspect(context: Context): fc.Arbitrary<ask.Question> {
  return record({
    source: fc.constant('inspect' as const),
    event: anyEventTypes,
    range: ranges(context),
    where: wheres(EVENT_FIELDS),
  }).map(written);
}

function choice(context: Context): fc.Arbitrary<ask.Question> {
  const results = record({
    outcome: outcomes(eventTypes, anyEventSets, eventSets),
    window: maybe(
      fc.constantFrom<ask.Span[]>({ count: 1, unit: 'd' }, { count: 2, unit: 'h' }, { count: 2, unit: 'w' }),
    ),
    unit: maybe(fc.constantFrom('user_id', 'device_id', 'session_id', 'distinct_id', 'event_properties.plan')),
  }).map(({ outcome, ...rest }) => written({ ...outcome, ...rest }));
  const exposures = withEnding(
    fc.oneof(
      NO_READING,
      aggregateReadings({ texts: ['variant_key', 'choice_key', '_platform'], numbers: ['variant_weight'] }, true),
    ),
    [],
  );
  const choiceKey = fc.constantFrom(...words.CHOICES);
  return fc.oneof(
    record({ choice: choiceKey, range: ranges(context), where: wheres(EVENT_FIELDS), results }).map((drawn) =>
      written({ source: 'choice' as const, ...drawn }),
    ),
    record({ choice: choiceKey, ...asked(context), read: exposures }).map(({ read, ...rest }) =>
      written({ source: 'choice' as const, ...rest, ...read }),
    ),
  );
}

const BY_SOURCE = {
  events,
  latest,
  funnel,
  retention,
  paths,
  sessions,
  lifecycle,
  stickiness,
  user,
  users,
  formula,
  fields,
  inspect,
  choice,
} as const satisfies Record<Source, (context: Context) => fc.Arbitrary<ask.Question>>;

export const SOURCES = Object.keys(BY_SOURCE) as Source[];
