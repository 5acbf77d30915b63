// Sessions as rows: a select over all events of each session, wherever the range of the question ends.
import type { ProjectId } from '../../platform/ids.js';
import { type SessionKey, sessionColumnOf, sessionRowOf } from '../session-fields.js';
import {
  alias,
  call,
  column,
  constant,
  equals,
  infix,
  instantParameter,
  not,
  parameter,
  textParameter,
  tupleElement,
} from './expressions.js';
import { actor, eventPosition } from './field-expressions.js';
import type { EventScan, Expression, ScanTime, Select, SelectColumn } from './plan.js';

/** A session lasts up to a day, so events this far from a range can belong to a session of it. */
export const SESSION_MS_MAX = 24 * 3_600_000;

/** Both ends of a select over sessions are known in milliseconds; no start means all that ever happened. */
export interface SessionSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export const widened = ({ fromMs, toMs }: SessionSpan): SessionSpan => ({
  fromMs: Math.max(0, fromMs - SESSION_MS_MAX),
  toMs: toMs + SESSION_MS_MAX,
});

const isThere = (of: Expression): Expression => infix('!=', of, constant(''));
const milliseconds = (time: Expression): Expression => call('toUnixTimestamp64Milli', time);
const START = call('min', column('time'));
const END = call('max', column('time'));

/** What the events of one group say about their session. */
export function describeSession(key: SessionKey): Expression {
  const { of, column: name, type } = sessionRowOf(key);
  const value = column(name ?? 'url');
  switch (of) {
    case 'start':
      return START;
    case 'end':
      return END;
    case 'duration':
      return infix('/', infix('-', milliseconds(END), milliseconds(START)), parameter('Float64', 1000));
    case 'count':
      return call('count');
    case 'landing':
      return call('argMinIf', value, eventPosition, isThere(column('url')));
    case 'exit':
      return call('argMaxIf', value, eventPosition, isThere(column('url')));
    case 'first':
      if (type === 'text') return call('argMinIf', value, eventPosition, isThere(value));
      return call('argMinOrNullIf', value, eventPosition, not(call('isNaN', value)));
  }
}

export const SESSION_KEY = 'session_key';

/** Stands for a session's id as `uid` does for a user's: by it sessions are put together in three quarters of the time. */
export const sessionHash: Expression = call('xxh3', column('session_id'));

const timeOf = ({ fromMs, toMs }: SessionSpan): ScanTime => ({
  kind: 'exact',
  ranges: [{ from: instantParameter(fromMs), to: instantParameter(toMs) }],
});

interface SessionsOf {
  readonly projectId: ProjectId;
  readonly span: SessionSpan;
  /** What tells sessions apart, where it is not their hash. */
  readonly key?: Expression;
  readonly columns: readonly SelectColumn[];
  /** Whether the columns tell whose events they are. */
  readonly isStitched?: boolean;
  readonly filter?: readonly Expression[];
  readonly having?: Expression | undefined;
}

/** One row for each session with an event in the span. */
export function selectSessions(of: SessionsOf): Select {
  const { projectId, span, key = sessionHash, columns, isStitched, filter, having } = of;
  return {
    kind: 'select',
    columns: [{ alias: SESSION_KEY, expression: key }, ...columns],
    from: {
      kind: 'events',
      projectId,
      stitching: isStitched ? 'hash' : 'none',
      time: timeOf(span),
      filter: [isThere(column('session_id')), ...(filter ?? [])],
    },
    groupBy: [SESSION_KEY],
    ...(having && { having }),
  };
}

const isOptional = (key: SessionKey): boolean => sessionRowOf(key).type !== 'text';

/** Joined to events, what is missing has to be null: an event without a session has none of duration 0. */
export const optional = (key: SessionKey, value: Expression): Expression =>
  isOptional(key) ? call('toNullable', value) : value;

export interface OwnSessions {
  readonly projectId: ProjectId;
  readonly keys: readonly SessionKey[];
  /** Of the events that sessions are joined to. */
  readonly span: SessionSpan;
  /** The only event type among them, where there is one: sessions without such an event are not put together. */
  readonly eventType: string | undefined;
}

export function selectOwnSessions({ projectId, keys, span, eventType }: OwnSessions): Select {
  const columns = keys.map((key) => ({
    alias: sessionColumnOf('session', key),
    expression: optional(key, describeSession(key)),
  }));
  const filter = eventType === undefined ? [] : [hasEventOf(eventType, { projectId, span })];
  return selectSessions({ projectId, span: widened(span), columns, filter });
}

/**
 * Whether a session is among those of these events, or, by chance, not: sessions that nobody asked for change no answer where
 * the ones that were are joined. Sets of hashes are built and asked faster than sets of texts.
 */
function isProbablyAmong(events: EventScan): Expression {
  const select: Select = {
    kind: 'select',
    columns: [{ alias: 'session_hash', expression: sessionHash }],
    from: events,
  };
  return infix('IN', sessionHash, { kind: 'subselect', select });
}

function hasEventOf(eventType: string, { projectId, span }: Pick<OwnSessions, 'projectId' | 'span'>): Expression {
  return isProbablyAmong({
    kind: 'events',
    projectId,
    stitching: 'none',
    time: timeOf(span),
    filter: [equals(column('event_type'), textParameter(eventType))],
  });
}

export const LAST_SESSION_ACTOR = 'last_session_actor';

const isPerson = infix('!=', actor, constant(0));

/** Everybody who has an event in the session. */
export const peopleOfSession: Expression = call('groupUniqArrayIf', actor, isPerson);

/**
 * Whether an event is of a session that can be somebody's last. No session is longer than a day, so the last one started
 * less than a day before the person's newest event, and so did whatever the person did in it. This leaves few of all
 * sessions to be put together.
 */
function canBeLast(projectId: ProjectId, nowMs: number): Expression {
  const scan: EventScan = {
    kind: 'events',
    projectId,
    stitching: 'hash',
    time: timeOf({ fromMs: 0, toMs: nowMs + SESSION_MS_MAX }),
    filter: [isThere(column('session_id')), isPerson],
  };
  const isPast = infix('<=', column('time'), instantParameter(nowMs));
  const newest: Select = {
    kind: 'select',
    columns: [
      { alias: 'newest_actor', expression: actor },
      // 1970 where nothing is past: then every session can be the last.
      { alias: 'newest_ms', expression: call('maxIf', milliseconds(column('time')), isPast) },
    ],
    from: scan,
    groupBy: ['newest_actor'],
  };
  const isNear = infix(
    '>',
    milliseconds(column('time')),
    infix('-', alias('newest_ms'), parameter('Int64', SESSION_MS_MAX)),
  );
  return isProbablyAmong({
    ...scan,
    joins: [{ name: 'newest', select: newest, left: actor, right: 'newest_actor', others: 'left out' }],
    filter: [...scan.filter, isNear],
  });
}

/** For each person the session that started last, of those up to `nowMs` that hold an event of the person. */
export function selectLastSessions(projectId: ProjectId, keys: readonly SessionKey[], nowMs: number): Select {
  const described = keys.map((key) => ({ alias: sessionColumnOf('session', key), expression: describeSession(key) }));
  const sessions = selectSessions({
    projectId,
    span: { fromMs: 0, toMs: nowMs + SESSION_MS_MAX },
    // Of sessions that started at the same time, the last is the one whose id comes last.
    key: column('session_id'),
    columns: [
      { alias: 'actors', expression: peopleOfSession },
      { alias: 'started_at', expression: START },
      ...described,
    ],
    isStitched: true,
    filter: [canBeLast(projectId, nowMs)],
    having: infix('<=', alias('started_at'), instantParameter(nowMs)),
  });
  const byPerson: Select = {
    kind: 'select',
    columns: [
      { alias: LAST_SESSION_ACTOR, expression: call('arrayJoin', alias('actors')) },
      ...['started_at', SESSION_KEY, ...described.map((of) => of.alias)].map((name) => ({
        alias: name,
        expression: alias(name),
      })),
    ],
    from: sessions,
  };
  const started = call('tuple', alias('started_at'), alias(SESSION_KEY));
  // In a tuple, a null is a value like any other; alone, argMax would pass over it.
  const ofLast = (key: SessionKey): Expression =>
    tupleElement(call('argMax', call('tuple', alias(sessionColumnOf('session', key))), started), 1);
  return {
    kind: 'select',
    columns: [
      { alias: LAST_SESSION_ACTOR, expression: alias(LAST_SESSION_ACTOR) },
      ...keys.map((key) => ({
        alias: sessionColumnOf('user_last_session', key),
        expression: optional(key, ofLast(key)),
      })),
    ],
    from: byPerson,
    groupBy: [LAST_SESSION_ACTOR],
  };
}
