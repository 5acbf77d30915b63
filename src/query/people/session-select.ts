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
  integer,
  isOneOf,
  numberValue,
  rowsOf,
  tupleElement,
} from '../plan/expressions.js';
import { eventPosition, person } from '../plan/field-expressions.js';
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
export const SESSION_MS_MAX = 24 * 3_600_000;

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
}

/**
 * Whether an event may belong to a person's last session. Sessions last less than a day, so the
 * last one started less than a day before the person's newest event. This leaves few sessions to
 * compute. The first one has, by the same reason, an event of the person less than a day after the
 * oldest.
 */
function canBeWanted({ prefix, projectId, nowMs }: SessionsOfPeople): Expression {
  const ever = { fromMs: 0, toMs: nowMs + SESSION_MS_MAX };
  const isLast = prefix === 'user_last_session';
  const isPast = infix('<=', column('time'), instant(nowMs));
  const ms = milliseconds(column('time'));
  const [word, edge] = isLast
    ? // 1970 without past events: then every session may be the last.
      ['newest', fn.maxIf(ms, isPast)]
    : ['oldest', fn.min(ms)];
  const edges = select({
    columns: { [`${word}_person`]: person, [`${word}_ms`]: edge },
    from: scanSessions(projectId, ever, { reads: [], filter: [isPerson] }),
    groupBy: [`${word}_person`],
  });
  const join: Join = {
    step: step(`${word}_events`, edges),
    left: person,
    right: `${word}_person`,
    others: 'left out',
  };
  const day = integer(SESSION_MS_MAX);
  const isNear = isLast
    ? infix('>', ms, infix('-', alias(`${word}_ms`), day))
    : infix('<', ms, infix('+', alias(`${word}_ms`), day));
  return isProbablyAmong(scanSessions(projectId, ever, { reads: [], filter: [isPerson, isNear], joins: [join] }));
}

/** Per person: the session that started last, or first, of those that started up to `nowMs`. */
export function selectSessionsOfPeople(of: SessionsOfPeople): Select {
  const { prefix, projectId, keys, nowMs } = of;
  const isLast = prefix === 'user_last_session';
  const described = keys.map((key) => [sessionColumnOf('session', key), describeSession(key)] as const);
  const sessions = selectSessions({
    projectId,
    span: { fromMs: 0, toMs: nowMs + SESSION_MS_MAX },
    // Of sessions with equal start, the larger id is the last, and the smaller the first.
    key: column('session_id'),
    columns: { people: peopleOfSession, started_at: START, ...Object.fromEntries(described) },
    filter: [canBeWanted(of)],
    having: infix('<=', alias('started_at'), instant(nowMs)),
  });
  const name = SESSION_PERSON[prefix];
  const byPerson = extend(step(isLast ? 'possible_last_sessions' : 'possible_first_sessions', sessions), {
    [name]: fn.arrayJoin(alias('people')),
  });
  const started = fn.tuple(alias('started_at'), alias(SESSION_KEY));
  const wanted = isLast ? fn.argMax : fn.argMin;
  return select({
    columns: {
      [name]: alias(name),
      ...sessionColumns(prefix, keys, (key) =>
        // Wrapped in a tuple, because argMax skips plain nulls.
        tupleElement(wanted(fn.tuple(alias(sessionColumnOf('session', key))), started), 1),
      ),
    },
    from: step(isLast ? 'sessions_by_person' : 'first_sessions_by_person', byPerson),
    groupBy: [name],
  });
}
