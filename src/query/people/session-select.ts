// Selects over sessions: each row covers all events of a session, also beyond the range of the query.

import type { ProjectId } from '../../platform/ids.js';
import { isOfType } from '../conditions/plan-events.js';
import {
  alias,
  call,
  column,
  constant,
  infix,
  instantParameter,
  not,
  parameter,
  tupleElement,
} from '../plan/expressions.js';
import { actor, eventPosition } from '../plan/field-expressions.js';
import type { EventScan, Expression, ScanTime, Select, SelectColumn } from '../plan/plan.js';
import { type SessionKey, sessionColumnOf, sessionRowOf } from '../session-fields.js';

/** Maximum session length: events this far from the range may belong to its sessions. */
export const SESSION_MS_MAX = 24 * 3_600_000;

/** Time span of a select over sessions, epoch milliseconds; without start it is unbounded. */
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

/** Hash of a session id, as `user_hash` is of a user id: grouping by it takes three quarters of the time. */
export const sessionHash: Expression = call('xxh3', column('session_id'));

const timeOf = ({ fromMs, toMs }: SessionSpan): ScanTime => ({
  kind: 'exact',
  ranges: [{ from: instantParameter(fromMs), to: instantParameter(toMs) }],
});

interface SessionsOf {
  readonly projectId: ProjectId;
  readonly span: SessionSpan;
  /** Grouping key, when it is not the hash. */
  readonly key?: Expression;
  readonly columns: readonly SelectColumn[];
  /** Whether the columns need stitched identities. */
  readonly isStitched?: boolean;
  readonly filter?: readonly Expression[];
  readonly having?: Expression | undefined;
}

/** One row per session with an event in the span. */
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

/** For joins to events: nullable, so that an event without a session has null instead of a duration of 0. */
export const optional = (key: SessionKey, value: Expression): Expression =>
  isOptional(key) ? call('toNullable', value) : value;

export interface OwnSessions {
  readonly projectId: ProjectId;
  readonly keys: readonly SessionKey[];
  /** Selection of the events that sessions are joined to. */
  readonly span: SessionSpan;
  /** The event types of the selection, if any: sessions without such an event are skipped. */
  readonly eventTypes: readonly string[] | undefined;
}

export function selectOwnSessions({ projectId, keys, span, eventTypes }: OwnSessions): Select {
  const columns = keys.map((key) => ({
    alias: sessionColumnOf('session', key),
    expression: optional(key, describeSession(key)),
  }));
  const filter = eventTypes === undefined ? [] : [hasEventOf(eventTypes, { projectId, span })];
  return selectSessions({ projectId, span: widened(span), columns, filter });
}

/**
 * Superset filter for the sessions of these events (hash collisions pass): additional sessions do not change a join. Sets of
 * hashes are faster than sets of texts.
 */
function isProbablyAmong(events: EventScan): Expression {
  const select: Select = {
    kind: 'select',
    columns: [{ alias: 'session_hash', expression: sessionHash }],
    from: events,
  };
  return infix('IN', sessionHash, { kind: 'subselect', select });
}

function hasEventOf(
  eventTypes: readonly string[],
  { projectId, span }: Pick<OwnSessions, 'projectId' | 'span'>,
): Expression {
  return isProbablyAmong({
    kind: 'events',
    projectId,
    stitching: 'none',
    time: timeOf(span),
    filter: [isOfType(eventTypes)],
  });
}

export const LAST_SESSION_ACTOR = 'last_session_actor';

const isPerson = infix('!=', actor, constant(0));

/** All people with an event in the session. */
export const peopleOfSession: Expression = call('groupUniqArrayIf', actor, isPerson);

/**
 * Whether an event may belong to a person's last session. Sessions last less than a day, so the last one started less than a
 * day before the person's newest event. This leaves few sessions to compute.
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
      // 1970 without past events: then every session may be the last.
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

/** Per person: the session that started last, up to `nowMs`. */
export function selectLastSessions(projectId: ProjectId, keys: readonly SessionKey[], nowMs: number): Select {
  const described = keys.map((key) => ({ alias: sessionColumnOf('session', key), expression: describeSession(key) }));
  const sessions = selectSessions({
    projectId,
    span: { fromMs: 0, toMs: nowMs + SESSION_MS_MAX },
    // Of sessions with equal start, the larger id is the last.
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
  // Wrapped in a tuple, because argMax skips plain nulls.
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
