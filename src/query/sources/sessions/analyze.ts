// Analyzer of the source `sessions`: sessions by day, or an aggregate over sessions. A condition on event fields keeps
// sessions with such an event.

import { resolveAnswerOrder } from '../../analyze/answer-order.js';
import { resolveSessionField } from '../../analyze/resolve-field.js';
import type { Condition, ResolvedField, ResolvedQuery } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { isKind, isSize, onlyStage, reportMisfit, resolveRowsMax } from '../../analyze/stages.js';
import { joinConditions } from '../../conditions/resolve.js';
import { quote } from '../../errors.js';
import { DISTINCT_ID } from '../../fields.js';
import type { FieldName, Stage } from '../../parse/syntax.js';
import { isSessionKey } from '../../session-fields.js';
import { analyzeAggregate, checkOrder, fitsEvents, resolveSelection } from '../events/analyze.js';

function findSessionField(scope: Scope, name: FieldName): ResolvedField | undefined {
  const { path, written, span } = name;
  if (path.startsWith('session.')) {
    return resolveSessionField(scope, name, { prefix: 'session', key: path.slice('session.'.length) });
  }
  return report(
    scope,
    span,
    `${quote(written)} is no field of sessions`,
    isSessionKey(path)
      ? `write session.${path}`
      : 'sessions are summed up by session.KEY, as in session.landing_path; fields of events go in where',
  );
}

export function analyzeSessions(scope: Scope, stages: readonly Stage[]): ResolvedQuery | undefined {
  for (const stage of stages) if (!fitsSessions(stage)) reportMisfit(scope, stage, 'sessions');
  checkOrder(scope, stages);
  const { range, condition } = resolveSelection(scope, { stages });
  const { ofSessions, ofEvents } = split(condition);
  const selection = { eventTypes: undefined, range, condition: ofEvents };
  const rows = { kind: 'sessions', condition: ofSessions } as const;
  const aggregate = onlyStage(scope, stages, {
    matches: isKind('aggregate'),
    what: 'the aggregate',
    hint: 'a query has one aggregate; use a separate query for the other',
  });
  if (aggregate || stages.some(isKind('by'))) {
    const sessions: Scope = { ...scope, findField: findSessionField };
    const isOfPeople = aggregate?.name === 'unique' && aggregate.field?.path === DISTINCT_ID;
    return analyzeAggregate(sessions, {
      stages,
      aggregate: isOfPeople ? { ...aggregate, field: undefined } : aggregate,
      selection,
      mode: 'sessions',
      rows,
      person: { kind: 'distinct_id', name: DISTINCT_ID },
    });
  }
  const size = onlyStage(scope, stages, { matches: isSize, what: 'the number of rows', hint: 'remove one of them' });
  return {
    kind: 'sessions',
    rows,
    selection,
    ...resolveAnswerOrder(scope, stages, { columns: COLUMNS, metric: 'sessions' }),
    rowsMax: size && resolveRowsMax(scope, size),
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
}

const fitsSessions = (stage: Stage): boolean => fitsEvents(stage) && stage.kind !== 'list';

const COLUMNS = ['day', 'sessions', 'avg_duration', 'avg_events', 'bounce_rate'];

interface Split {
  readonly ofSessions: Condition | undefined;
  readonly ofEvents: Condition | undefined;
}

/**
 * Splits a condition: parts on session fields apply to sessions. The rest must hold for one single event, so it stays one
 * condition.
 */
function split(condition: Condition | undefined): Split {
  const parts = condition === undefined ? [] : conjuncts(condition);
  return {
    ofSessions: joinConditions(parts.filter(isOfSession)),
    ofEvents: joinConditions(parts.filter((part) => !isOfSession(part))),
  };
}

const conjuncts = (condition: Condition): readonly Condition[] =>
  condition.kind === 'and' ? condition.items.flatMap(conjuncts) : [condition];

function isOfSession(condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.items.every(isOfSession);
    case 'not':
      return isOfSession(condition.item);
    case 'person':
      return false;
    default:
      return isOwnSession(condition.field);
  }
}

/** Excludes user_last_session, which may differ between events of a session. */
const isOwnSession = (field: ResolvedField): boolean =>
  field.kind === 'column' && field.field.category === 'session' && field.field.column.startsWith('session_');
