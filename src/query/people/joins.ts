// Joins of a scan: sessions and profiles, as required by the columns that are read.
import type { ProjectId } from '../../platform/ids.js';
import { actor } from '../plan/field-expressions.js';
import type { Expression, Join, ProfileProperty } from '../plan/plan.js';
import { PROFILE_FIELDS, PROFILE_KEYS } from '../profile-fields.js';
import { SESSION_KEYS, type SessionKey, type SessionPrefix, sessionColumnOf } from '../session-fields.js';
import { PROFILE_ACTOR, selectProfilesToJoin } from './profile-select.js';
import {
  LAST_SESSION_ACTOR,
  SESSION_KEY,
  type SessionSpan,
  selectLastSessions,
  selectOwnSessions,
  sessionHash,
} from './session-select.js';

interface JoinContext {
  readonly projectId: ProjectId;
  readonly nowMs: number;
  /** Selection of the scanned events. */
  readonly span: SessionSpan;
  readonly eventTypes: readonly string[] | undefined;
}

export function joinsFor(reads: readonly Expression[], { projectId, nowMs, span, eventTypes }: JoinContext): Join[] {
  const found = findReads(reads);
  const keysOf = (prefix: SessionPrefix) =>
    SESSION_KEYS.filter((key) => found.columns.has(sessionColumnOf(prefix, key)));
  const fields = PROFILE_KEYS.filter((key) => found.columns.has(PROFILE_FIELDS[key].column));
  const own = keysOf('session');
  const last = keysOf('user_last_session');
  const joins: Join[] = [];
  const properties = [...found.profileProperties.values()];
  if (fields.length > 0 || properties.length > 0) {
    const select = selectProfilesToJoin(projectId, { fields, properties });
    joins.push({ name: 'profile', select, left: actor, right: PROFILE_ACTOR, others: 'kept' });
  }
  if (own.length > 0) {
    const select = selectOwnSessions({ projectId, keys: own, span, eventTypes });
    joins.push({ name: 'own_session', select, left: sessionHash, right: SESSION_KEY, others: 'kept' });
  }
  if (last.length > 0) {
    const select = selectLastSessions(projectId, last, nowMs);
    joins.push({ name: 'last_session', select, left: actor, right: LAST_SESSION_ACTOR, others: 'kept' });
  }
  return joins;
}

/** Session fields that are read. */
export function sessionKeysIn(reads: readonly Expression[]): SessionKey[] {
  const { columns } = findReads(reads);
  return SESSION_KEYS.filter((key) => columns.has(sessionColumnOf('session', key)));
}

export const profilePropertiesIn = (reads: readonly Expression[]): ProfileProperty[] => [
  ...findReads(reads).profileProperties.values(),
];

function findReads(reads: readonly Expression[]): Found {
  const found: Found = { columns: new Set(), profileProperties: new Map() };
  for (const read of reads) collect(read, found);
  return found;
}

interface Found {
  readonly columns: Set<string>;
  readonly profileProperties: Map<string, ProfileProperty>;
}

function collect(expression: Expression, found: Found): void {
  switch (expression.kind) {
    case 'column':
      found.columns.add(expression.column);
      return;
    case 'profile_property':
      found.profileProperties.set(expression.name, expression);
      return;
    case 'call':
      for (const argument of expression.arguments) collect(argument, found);
      return;
    case 'infix':
      for (const operand of expression.operands) collect(operand, found);
      return;
    case 'list':
      for (const item of expression.items) collect(item, found);
      return;
    case 'lambda':
      collect(expression.body, found);
      return;
    case 'tuple_element':
      collect(expression.of, found);
      return;
    default:
      return;
  }
}
