// Selects over sessions: each row covers all events of a session, also beyond the range of the
// query.
import type { ProjectId } from '../../platform/ids.js';
import type { TimeRange } from '../analyze/resolved.js';
import { isOfType } from '../conditions/plan-events.js';
import {
  alias,
  column,
  constant,
  type Expression,
  infix,
  instant,
  isOneOf,
  numberValue,
  rowsOf,
  tupleElement,
} from '../plan/expressions.js';
import { eventPosition, person, positionOf } from '../plan/field-expressions.js';
import { fn } from '../plan/functions.js';
import { type Columns, type EventScan, extend, type Join, type Select, select, step } from '../plan/plan.js';
import {
  type PersonSession,
  type SessionKey,
  type SessionPrefix,
  sessionColumnOf,
  sessionRowOf,
} from '../session-fields.js';
import { scanWithDevices } from './devices.js';

/** Maximum session length: events this far from the range may belong to its sessions. */
const SESSION_MS_MAX = 24 * 3_600_000;

/** Range of events whose sessions may have an event in the given one. */
export const widened = ({ fromMs, toMs }: TimeRange): TimeRange => ({
  fromMs: Math.max(0, fromMs - SESSION_MS_MAX),
  toMs: toMs + SESSION_MS_MAX,
});

const isThere = (of: Expression): Expression => infix('!=', of, constant(''));
const milliseconds = (time: Expression): Expression => fn.toUnixTimestamp64Milli(time);
/** Events of equal position differ in type. */
const TYPE_POSITION = fn.tuple(eventPosition, column('event_type'));
const START = fn.min(column('time'));
const END = fn.max(column('time'));

/** Aggregates that derive session fields from its events. */
export function describeSession(key: SessionKey): Expression {
  const { of, column: name, type } = sessionRowOf(key);
  const value = column(name ?? 'url');
  switch (of) {
    case 'start':
      return START;
    case 'end':
      return END;
    case 'duration':
      return infix('/', infix('-', milliseconds(END), milliseconds(START)), numberValue(1000));
    case 'count':
      return fn.count();
    case 'first_event':
      return fn.argMin(column('event_type'), TYPE_POSITION);
    case 'last_event':
      return fn.argMax(column('event_type'), TYPE_POSITION);
    case 'landing':
      return fn.argMinIf(value, eventPosition, isThere(column('url')));
    case 'exit':
      return fn.argMaxIf(value, eventPosition, isThere(column('url')));
    case 'first':
      if (type === 'text') return fn.argMinIf(value, eventPosition, isThere(value));
      return fn.argMinOrNullIf(value, eventPosition, fn.not(fn.isNaN(value)));
  }
}

export const SESSION_KEY = 'session_key';

/**
 * Hash of a session id, as `user_hash` is of a user id: grouping by it takes three quarters of the
 * time.
 */
export const sessionHash: Expression = fn.xxh3(column('session_id'));

interface SessionsOf {
  readonly projectId: ProjectId;
  readonly span: TimeRange;
  /** Grouping key, when it is not the hash. */
  readonly key?: Expression;
  readonly columns: Columns;
  readonly filter?: readonly Expression[];
  readonly having?: Expression | undefined;
}

/** One row per session with an event in the span. */
export function selectSessions(of: SessionsOf): Select {
  const { projectId, span, key = sessionHash, columns, filter = [], having } = of;
  return select({
    columns: { [SESSION_KEY]: key, ...columns },
    from: scanSessions(projectId, span, { reads: Object.values(columns), filter }),
    groupBy: [SESSION_KEY],
    ...(having && { having }),
  });
}

interface Reads {
  readonly reads: readonly Expression[];
  readonly filter: readonly Expression[];
  readonly joins?: readonly Join[];
}

/** Events with a session. */
const scanSessions = (projectId: ProjectId, span: TimeRange, { reads, filter, joins = [] }: Reads): EventScan =>
  scanWithDevices({
    projectId,
    time: { kind: 'exact', ranges: [span] },
    filter: [isThere(column('session_id')), ...filter],
    reads,
    joins,
  });

/**
 * Session fields as columns for joins to events: nullable, so that an event without a session has
 * null instead of 0.
 */
export const sessionColumns = (
  prefix: SessionPrefix,
  keys: readonly SessionKey[],
  read: (key: SessionKey) => Expression,
): Columns =>
  Object.fromEntries(
    keys.map((key) => {
      const value = read(key);
      return [sessionColumnOf(prefix, key), sessionRowOf(key).type === 'text' ? value : fn.toNullable(value)];
    }),
  );

export interface OwnSessions {
  readonly projectId: ProjectId;
  readonly keys: readonly SessionKey[];
  /** Selection of the events that sessions are joined to. */
  readonly span: TimeRange;
  /** The event types of the selection, if any: sessions without such an event are skipped. */
  readonly eventTypes: readonly string[] | undefined;
}

export function selectOwnSessions({ projectId, keys, span, eventTypes }: OwnSessions): Select {
  const columns = sessionColumns('session', keys, describeSession);
  const filter = eventTypes === undefined ? [] : [hasEventOf(eventTypes, { projectId, span })];
  return selectSessions({ projectId, span: widened(span), columns, filter });
}

/**
 * Superset filter for the sessions of these events (hash collisions pass): additional sessions do
 * not change a join. Sets of hashes are faster than sets of texts.
 */
const isProbablyAmong = (from: EventScan): Expression =>
  isOneOf(sessionHash, rowsOf(select({ columns: { session_hash: sessionHash }, from })));

function hasEventOf(
  eventTypes: readonly string[],
  { projectId, span }: Pick<OwnSessions, 'projectId' | 'span'>,
): Expression {
  return isProbablyAmong({
    kind: 'events',
    projectId,
    time: { kind: 'exact', ranges: [span] },
    joins: [],
    filter: [isOfType(eventTypes)],
  });
}

export const SESSION_PERSON = {
  user_last_session: 'last_session_person',
  user_first_session: 'first_session_person',
} as const;

const isPerson = infix('!=', person, constant(0));

/** All people with an event in the session. */
export const peopleOfSession: Expression = fn.groupUniqArrayIf(person, isPerson);

interface SessionsOfPeople {
  readonly prefix: PersonSession;
  readonly projectId: ProjectId;
  readonly keys: readonly SessionKey[];
  readonly nowMs: number;
  /** Selection of the events that the sessions are joined to. */
  readonly span: TimeRange;
  readonly eventTypes: readonly string[] | undefined;
}

/**
 * Longest range whose people are selected first: in a longer one are most of them, and selecting
 * them costs one more scan.
 */
const FEW_PEOPLE_MS = 31 * 24 * 3_600_000;
const areFew = ({ fromMs, toMs }: TimeRange): boolean => toMs - fromMs <= FEW_PEOPLE_MS;

/** Names of the steps that find the wanted sessions. */
const STEPS = {
  user_last_session: ['session_people', 'session_starts', 'starts_by_person', 'latest_starts', 'last_starts'],
  user_first_session: [
    'people_of_sessions',
    'starts_of_sessions',
    'starts_of_people',
    'earliest_starts',
    'first_starts',
  ],
} as const;

/**
 * Whether an event is of a session that is the last, or first, of a person: of each person those
 * with the latest start. This leaves few sessions whose fields are computed, and reads few columns.
 */
function isOfWantedSession({ prefix, projectId, nowMs, span, eventTypes }: SessionsOfPeople): Expression {
  const [membersName, startsName, byPersonName, tiesName, wantedName] = STEPS[prefix];
  const ever = { fromMs: 0, toMs: nowMs + SESSION_MS_MAX };
  // Events without a person count too: a session may begin with one.
  const members = select({
    columns: { session_hash: sessionHash, member: person, seen_at: START },
    from: scanSessions(projectId, ever, { reads: [person], filter: [] }),
    groupBy: ['session_hash', 'member'],
  });
  const starts = select({
    columns: {
      session_hash: alias('session_hash'),
      members: fn.groupArrayIf(alias('member'), infix('!=', alias('member'), constant(0))),
      start_at: fn.min(alias('seen_at')),
    },
    from: step(membersName, members),
    groupBy: ['session_hash'],
    having: infix('<=', alias('start_at'), instant(nowMs)),
  });
  const byPerson = extend(step(startsName, starts), { wanting_person: fn.arrayJoin(alias('members')) });
  // Sessions of equal start are all kept.
  const ties = select({
    columns: {
      wanting_person: alias('wanting_person'),
      start_at: alias('start_at'),
      session_hashes: fn.groupArray(alias('session_hash')),
    },
    from: step(byPersonName, byPerson),
    ...(areFew(span) && { where: isOneOfPeople({ projectId, span, eventTypes }, 'wanting_person') }),
    groupBy: ['wanting_person', 'start_at'],
  });
  const edge = prefix === 'user_last_session' ? fn.argMax : fn.argMin;
  const wanted = select({
    columns: {
      wanting_person: alias('wanting_person'),
      session_hashes: edge(alias('session_hashes'), alias('start_at')),
    },
    from: step(tiesName, ties),
    groupBy: ['wanting_person'],
  });
  const hashes = select({
    columns: { session_hash: fn.arrayJoin(alias('session_hashes')) },
    from: step(wantedName, wanted),
  });
  return isOneOf(sessionHash, rowsOf(hashes));
}

/** Whether a person has an event in the selection: others are not joined. */
function isOneOfPeople(
  { projectId, span, eventTypes }: Pick<SessionsOfPeople, 'projectId' | 'span' | 'eventTypes'>,
  name: string,
): Expression {
  const from = scanWithDevices({
    projectId,
    time: { kind: 'exact', ranges: [span] },
    filter: eventTypes === undefined ? [] : [isOfType(eventTypes)],
    reads: [person],
  });
  return isOneOf(alias(name), rowsOf(select({ columns: { present_person: person }, from })));
}

/** Per person: the session that started last, or first, of those that started up to `nowMs`. */
export const selectSessionsOfPeople = (of: SessionsOfPeople): Select =>
  of.keys.every((key) => TIME_FIELDS.has(sessionRowOf(key).of)) ? selectTimesOfPeople(of) : selectFieldsOfPeople(of);

/** What the times of the events of a session give, and their number. */
const TIME_FIELDS: ReadonlySet<string> = new Set(['start', 'end', 'duration', 'count']);

/** Finds the sessions and their times in one scan, which reads few columns. */
function selectTimesOfPeople(of: SessionsOfPeople): Select {
  const { prefix, projectId, keys, nowMs, span } = of;
  const kinds = new Set<string>(keys.map((key) => sessionRowOf(key).of));
  const hasEnd = kinds.has('end') || kinds.has('duration');
  const hasCount = kinds.has('count');
  const members = select({
    columns: {
      session_hash: sessionHash,
      member: person,
      seen_at: START,
      ...(hasEnd && { seen_until: END }),
      ...(hasCount && { events_seen: fn.count() }),
      seen_id: fn.any(column('session_id')),
    },
    from: scanSessions(projectId, { fromMs: 0, toMs: nowMs + SESSION_MS_MAX }, { reads: [person], filter: [] }),
    groupBy: ['session_hash', 'member'],
  });
  const sessions = select({
    columns: {
      members: fn.groupArrayIf(alias('member'), infix('!=', alias('member'), constant(0))),
      started_at: fn.min(alias('seen_at')),
      ...(hasEnd && { ended_at: fn.max(alias('seen_until')) }),
      ...(hasCount && { event_count: fn.sum(alias('events_seen')) }),
      // Of sessions with equal start, the larger id is the last, and the smaller the first.
      session_key: fn.any(alias('seen_id')),
      session_hash: alias('session_hash'),
    },
    from: step('session_people', members),
    groupBy: ['session_hash'],
    having: infix('<=', alias('started_at'), instant(nowMs)),
  });
  const name = SESSION_PERSON[prefix];
  const byPerson = extend(step('session_times', sessions), { [name]: fn.arrayJoin(alias('members')) });
  const isLast = prefix === 'user_last_session';
  return select({
    columns: {
      [name]: alias(name),
      ...wantedColumns(prefix, keys, (key) => timeField(key)),
    },
    from: step(isLast ? 'times_by_person' : 'first_times_by_person', byPerson),
    ...(areFew(span) && { where: isOneOfPeople(of, name) }),
    groupBy: [name],
  });
}

function timeField(key: SessionKey): Expression {
  const [start, end] = [alias('started_at'), alias('ended_at')];
  switch (sessionRowOf(key).of) {
    case 'start':
      return start;
    case 'end':
      return end;
    case 'duration':
      return infix('/', infix('-', milliseconds(end), milliseconds(start)), numberValue(1000));
    default:
      return alias('event_count');
  }
}

/** The fields of the last, or first, of the sessions of a person. */
function wantedColumns(
  prefix: PersonSession,
  keys: readonly SessionKey[],
  read: (key: SessionKey) => Expression,
): Columns {
  const started = positionOf(alias('started_at'), alias(SESSION_KEY));
  const wanted = prefix === 'user_last_session' ? fn.argMax : fn.argMin;
  return sessionColumns(prefix, keys, (key) =>
    // Nulls are wrapped in a tuple, because argMax skips plain ones.
    canBeNull(key) ? tupleElement(wanted(fn.tuple(read(key)), started), 1) : wanted(read(key), started),
  );
}

/** A number that no event of the session may have. */
function canBeNull(key: SessionKey): boolean {
  const { of, type } = sessionRowOf(key);
  return of === 'first' && type !== 'text';
}

function selectFieldsOfPeople(of: SessionsOfPeople): Select {
  const { prefix, projectId, keys, nowMs } = of;
  const isLast = prefix === 'user_last_session';
  const described = keys.map((key) => [sessionColumnOf('session', key), describeSession(key)] as const);
  const sessions = selectSessions({
    projectId,
    span: { fromMs: 0, toMs: nowMs + SESSION_MS_MAX },
    // Of sessions with equal start, the larger id is the last, and the smaller the first.
    key: column('session_id'),
    columns: { people: peopleOfSession, started_at: START, ...Object.fromEntries(described) },
    filter: [isOfWantedSession(of)],
    having: infix('<=', alias('started_at'), instant(nowMs)),
  });
  const name = SESSION_PERSON[prefix];
  const byPerson = extend(step(isLast ? 'possible_last_sessions' : 'possible_first_sessions', sessions), {
    [name]: fn.arrayJoin(alias('people')),
  });
  return select({
    columns: {
      [name]: alias(name),
      ...wantedColumns(prefix, keys, (key) => alias(sessionColumnOf('session', key))),
    },
    from: step(isLast ? 'sessions_by_person' : 'first_sessions_by_person', byPerson),
    groupBy: [name],
  });
}
