// One line for each source and each stage of a query that says what it does there, with the names
// and numbers that the query has.
import type {
  ComparedTo,
  Duration,
  FieldName,
  GroupKey,
  PeopleAsked,
  SortKey,
  SourceKind,
  StageKind,
  StageOf,
} from '../../../src/query/parse/syntax.js';
import { plural } from '../texts/plural.js';

const UNITS: Readonly<Record<string, string>> = {
  ...{ m: 'minute', h: 'hour', d: 'day', w: 'week', mo: 'month', y: 'year' },
};
const long = ({ amount, unit }: Duration): string => plural(amount, UNITS[unit] ?? unit.replace(/s$/, ''));

const NOUNS: { readonly [K in SourceKind]?: string } = { users: 'people', sessions: 'sessions' };
const nounOf = (source: SourceKind): string => NOUNS[source] ?? 'events';

const names = (fields: readonly FieldName[]): string => fields.map(({ written }) => written).join(', ');

function group(key: GroupKey): string {
  if (key.kind === 'name') return key.name.written;
  if (key.kind === 'bucket') return `step of ${key.width.text} of ${key.field.written}`;
  return `${key.period.written} of ${key.field.written}`;
}
const each = (keys: readonly GroupKey[]): string => keys.map((key) => `each ${group(key)}`).join(' and ');

function measure({ name, field, per }: StageOf<'aggregate'>, source: SourceKind): string {
  const of = field?.written ?? '';
  switch (name) {
    case 'count':
      return `the number of ${nounOf(source)}${per ? ` of each ${per.written}` : ''}`;
    case 'unique':
      return field ? `the number of different values of ${of}` : 'the number of different people';
    case 'sum':
      return `the sum of ${of}`;
    case 'avg':
      return `the average of ${of}`;
    case 'min':
      return `the smallest ${of}`;
    case 'max':
      return `the largest ${of}`;
    case 'median':
      return `the median of ${of}`;
    case 'p90':
    case 'p95':
    case 'p99':
      return `the value of ${of} that ${name.slice(1)} % do not exceed`;
    case 'latest':
      return `the newest ${of} of each ${per?.written ?? ''}`;
  }
}

const DIRECTIONS = { asc: ', smallest first', desc: ', largest first' };
const sortKey = ({ field, direction }: SortKey): string =>
  `${field.written}${direction === undefined ? '' : DIRECTIONS[direction]}`;

function people(who: PeopleAsked, source: SourceKind): string {
  switch (who.kind) {
    case 'all':
      return 'the people behind the number';
    case 'at':
      return source === 'retention'
        ? `the people who came back in period ${who.number.text}`
        : `the people who did step ${who.number.text}`;
    case 'lost_after':
      return `the people who did step ${who.number.text}, and not the next`;
    case 'status':
      return `the people who are ${who.status.text}`;
  }
}

function compared(to: ComparedTo): string {
  switch (to.kind) {
    case 'previous':
      return 'the time range before';
    case 'weekdays':
      return 'the time range before, moved by whole weeks';
    case 'duration':
      return `the time range ${long(to.duration)} earlier`;
    case 'moments':
      return `${to.from.text} until just before ${to.to.text}`;
  }
}

const WINDOWS: { readonly [K in SourceKind]?: (length: string) => string } = {
  retention: (length) => `periods are ${length} long, from the person's own start`,
  choice: (length) => `what counts is done within ${length} of the exposure`,
  paths: (length) => `a path covers at most ${length}`,
};

interface Place {
  readonly source: SourceKind;
  /** Whether an aggregate stands before the stage. */
  readonly isBehind: boolean;
}

export const STAGE_EXPLANATIONS: { readonly [K in StageKind]: (stage: StageOf<K>, place: Place) => string } = {
  where: (_, { source, isBehind }) => `only the ${isBehind ? 'rows of the answer' : nounOf(source)} that fulfil this`,
  last: ({ duration }) => `time range: the last ${long(duration)}, up to now`,
  from_to: ({ from, to }) => `time range: from ${from.text} until just before ${to.text}`,
  since: ({ from }) => `time range: from ${from.text} until now`,
  named_range: ({ word, unit }) =>
    word === 'this'
      ? `time range: the current ${unit?.text ?? ''} so far`
      : word === 'last'
        ? `time range: the whole ${unit?.text ?? ''} before this one`
        : word === 'today'
          ? 'time range: today so far'
          : 'time range: the whole of yesterday',
  aggregate: (stage, { source, isBehind }) =>
    `${isBehind ? 'of these numbers: ' : ''}${measure(stage, source)}${stage.by.length > 0 ? `, for ${each(stage.by)}` : ''}`,
  list: ({ fields }, { source }) =>
    `the ${nounOf(source)} themselves, one row each${fields.length > 0 ? `, with ${names(fields)}` : ''}`,
  sort: ({ keys }) => `rows are ordered by ${keys.map(sortKey).join(', then ')}`,
  limit: ({ count }) => `at most ${count.text} rows`,
  top: ({ count, withOther }) =>
    `only the ${count.text} groups with the largest numbers${withOther ? ', and the others together as one' : ''}`,
  by: ({ keys }) => `separate numbers for ${each(keys)}`,
  window: ({ duration }, { source }) =>
    WINDOWS[source]?.(long(duration)) ?? `all steps are done within ${long(duration)} of the first`,
  depth: ({ count }) => `a path has at most ${count.text} events`,
  exclude: () => 'one of these events ends an attempt',
  returning: () => 'who does this has come back',
  unbounded: () => 'who comes back in a later period counts, too',
  first: () => "a person's first such event ever decides, also one before the time range",
  times: ({ duration }) =>
    duration ? `how long each step takes, as a histogram in steps of ${long(duration)}` : 'how long each step takes',
  order: ({ order }) =>
    order === 'any' ? 'the steps may be done in any order' : 'no other event may be done between two steps',
  results: ({ call }) =>
    call ? 'compares the mean of this value between the variants' : 'compares how many did this between the variants',
  guard: () => 'these events are watched too: they warn, and never decide',
  cuped: ({ duration }) => `less variance, by the same value in the ${long(duration)} before the exposure`,
  plan: ({ amount }) => `how many people and days it takes to find a lift of ${amount.text} %`,
  winsorize: () => 'the largest values count in full',
  unit: ({ fields }) => `different values of ${names(fields)} are counted instead of people`,
  compare: ({ to }) => `beside each number the earlier one, of ${compared(to)}`,
  people: ({ who }, { source }) => people(who, source),
  rolling: ({ duration }) => `each row covers the ${long(duration)} that end with it`,
  cumulative: () => 'each row is the total since the start of the time range',
  share: () => "each group's part of all groups",
};

export const SOURCE_EXPLANATIONS: { readonly [K in SourceKind]: string } = {
  event: 'these events',
  all: 'all events',
  funnel: 'people who did the first step, and how many of them did each of the next ones',
  retention: 'people by when they did the first event, and how many of them came back later',
  paths: 'the events of a person, one after another',
  sessions: 'visits: events of one person without a long pause',
  lifecycle: 'people who are new, returning, back after a pause or gone, in each period',
  stickiness: 'people by the number of days on which they did this',
  user: 'the events of one person',
  users: 'people, with their profiles',
  formula: 'a number that is computed from others',
  fields: 'the fields of the events, with type and coverage',
  inspect: 'what has been sent: the event types, or the properties of one',
  choice: 'an experiment, by its variants',
  metric: 'a number that the project has defined',
};
