// Joins of a scan: sessions and profiles, as required by the columns that are read.
import type { ProjectId } from '../../platform/ids.js';
import type { TimeRange } from '../analyze/resolved.js';
import { type Expression, type ProfileProperty, partsOf } from '../plan/expressions.js';
import { person } from '../plan/field-expressions.js';
import { type Join, step } from '../plan/plan.js';
import { PROFILE_FIELDS, PROFILE_KEYS } from '../profile-fields.js';
import { SESSION_KEYS, type SessionKey, type SessionPrefix, sessionColumnOf } from '../session-fields.js';
import { PROFILE_PERSON, selectProfilesToJoin } from './profile-select.js';
import {
  SESSION_KEY,
  SESSION_PERSON,
  selectOwnSessions,
  selectSessionsOfPeople,
  sessionHash,
} from './session-select.js';

interface JoinContext {
  readonly projectId: ProjectId;
  readonly nowMs: number;
  /** Selection of the scanned events. */
  readonly span: TimeRange;
  readonly eventTypes: readonly string[] | undefined;
}

export function joinsFor(reads: readonly Expression[], { projectId, nowMs, span, eventTypes }: JoinContext): Join[] {
  const found = findReads(reads);
  const keysOf = (prefix: SessionPrefix) =>
    SESSION_KEYS.filter((key) => found.columns.has(sessionColumnOf(prefix, key)));
  const fields = PROFILE_KEYS.filter((key) => found.columns.has(PROFILE_FIELDS[key].column));
  const own = keysOf('session');
  const joins: Join[] = [];
  const properties = [...found.profileProperties.values()];
  if (fields.length > 0 || properties.length > 0) {
    const rows = step('profiles_of_people', selectProfilesToJoin(projectId, { fields, properties }));
    joins.push({ step: rows, left: person, right: PROFILE_PERSON, others: 'kept' });
  }
  if (own.length > 0) {
    const rows = step('own_sessions', selectOwnSessions({ projectId, keys: own, span, eventTypes }));
    joins.push({ step: rows, left: sessionHash, right: SESSION_KEY, others: 'kept' });
  }
  for (const prefix of ['user_last_session', 'user_first_session'] as const) {
    const keys = keysOf(prefix);
    if (keys.length === 0) continue;
    const name = prefix === 'user_last_session' ? 'last_sessions' : 'first_sessions';
    const rows = step(name, selectSessionsOfPeople({ prefix, projectId, keys, nowMs, span, eventTypes }));
    joins.push({ step: rows, left: person, right: SESSION_PERSON[prefix], others: 'kept' });
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

interface Found {
  readonly columns: ReadonlySet<string>;
  readonly profileProperties: ReadonlyMap<string, ProfileProperty>;
}

function findReads(reads: readonly Expression[]): Found {
  const columns = new Set<string>();
  const profileProperties = new Map<string, ProfileProperty>();
  for (const part of partsOf(reads)) {
    if (part.kind === 'column') columns.add(part.column);
    if (part.kind === 'profile_property') profileProperties.set(part.name, part);
  }
  return { columns, profileProperties };
}
