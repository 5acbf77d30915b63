// Analyzer of the source `sessions`: sessions by day, or an aggregate over sessions. A condition on
// event fields keeps sessions with such an event.
import { type AggregateQuery, takeAggregate } from '../../analyze/aggregate.js';
import { type AnswerOrder, takeAnswerOrder } from '../../analyze/answer-order.js';
import { resolveSessionField } from '../../analyze/resolve-field.js';
import type { Condition, EventSelection, ResolvedField, SessionRows, TimeRange } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { takeEarlier, takeSelection } from '../../analyze/selection.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { namesOfCompared } from '../../compared-names.js';
import { joinConditions } from '../../conditions/resolve.js';
import { quote } from '../../errors.js';
import { DISTINCT_ID } from '../../fields.js';
import { SESSION_COLUMN_FORMS } from '../../language.js';
import type { FieldName } from '../../parse/syntax.js';
import { isSessionKey, longSessionKey } from '../../session-fields.js';

function findSessionField(scope: Scope, name: FieldName): ResolvedField | undefined {
  const { path, written, span } = name;
  if (path.startsWith('session.')) {
    return resolveSessionField(scope, name, { prefix: 'session', key: path.slice('session.'.length) });
  }
  const key = longSessionKey(path.replace(/^_/, ''));
  const own = isSessionKey(key) ? `session.${key}` : undefined;
  return report(
    scope,
    span,
    `${quote(written)} is no field of sessions`,
    own === undefined
      ? (SESSION_COLUMN_FORMS.get(path) ??
          'sessions are summed up by session.KEY, as in session.landing_path; fields of events go in where')
      : `write ${own}`,
    own,
  );
}

export interface SessionsQuery extends AnswerOrder {
  readonly kind: 'sessions';
  readonly rows: SessionRows;
  readonly selection: EventSelection;
  /** The range of `compare`. */
  readonly earlier: TimeRange | undefined;
}

export function analyzeSessions(
  scope: Scope,
  _: object,
  stages: StageReader,
): AggregateQuery | SessionsQuery | undefined {
  stages.checkOrder();
  const aggregate = stages.takeOne('aggregate');
  const { range, condition } = takeSelection(scope, stages);
  const { ofSessions, ofEvents } = split(condition);
  const selection = { eventTypes: undefined, range, condition: ofEvents };
  const rows = { kind: 'sessions', condition: ofSessions } as const;
  const by = stages.takeAll('by');
  if (!aggregate && by.length === 0) {
    const earlier = takeEarlier(scope, stages, selection);
    const columns = earlier ? [...COLUMNS, 'previous_day', ...namesOfCompared(...METRICS)] : COLUMNS;
    const answer = takeAnswerOrder(scope, stages, { columns, metric: 'sessions' });
    return { kind: 'sessions', rows, selection, earlier, ...answer };
  }
  const isOfPeople = aggregate?.name === 'unique' && aggregate.field?.path === DISTINCT_ID;
  return takeAggregate({ ...scope, findField: findSessionField }, stages, {
    aggregate: isOfPeople ? { ...aggregate, field: undefined } : aggregate,
    by,
    selection,
    mode: 'sessions',
    rows,
    person: { kind: 'distinct_id', name: DISTINCT_ID },
  });
}

export const METRICS = ['sessions', 'avg_duration', 'avg_events', 'bounce_rate'];
const COLUMNS = ['day', ...METRICS];

interface Split {
  readonly ofSessions: Condition | undefined;
  readonly ofEvents: Condition | undefined;
}

/**
 * Splits a condition: parts on session fields apply to sessions. The rest must hold for one single
 * event, so it stays one condition.
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
    case 'call':
      return false;
    default:
      return isOwnSession(condition.field);
  }
}

/**
 * Excludes user_last_session and user_first_session, which may differ between events of a session.
 */
const isOwnSession = (field: ResolvedField): boolean =>
  field.kind === 'column' && field.field.category === 'session' && field.field.column.startsWith('session_');
