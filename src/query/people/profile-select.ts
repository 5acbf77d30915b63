// Selects over profiles that read only the fields and keys of the query.
import type { ProjectId } from '../../platform/ids.js';
import { call, column } from '../plan/expressions.js';
import type { Expression, ProfileProperty, PropertyColumn, Select, SelectColumn } from '../plan/plan.js';
import { PROFILE_FIELDS, type ProfileKey } from '../profile-fields.js';

export interface ProfileReads {
  readonly fields: readonly ProfileKey[];
  readonly properties: readonly ProfileProperty[];
}

const BUCKETS = ['props_str', 'props_num', 'props_bool'] as const satisfies readonly PropertyColumn[];

const propertyOf = ({ name, value }: ProfileProperty): SelectColumn => ({ alias: name, expression: value });

export const fieldOf = (key: ProfileKey): SelectColumn => ({
  alias: PROFILE_FIELDS[key].column,
  expression: column(key),
});

export const PROFILE_ACTOR = 'profile_actor';

/** For joins to events by hash of distinct_id. Times are nullable, so that a missing profile has null instead of 1970. */
export function selectProfilesToJoin(projectId: ProjectId, { fields, properties }: ProfileReads): Select {
  const columns = fields.map(fieldOf).map(({ alias: name, expression }, index) => {
    const isTime = PROFILE_FIELDS[fields[index] ?? 'user_id'].type === 'optional_time';
    return { alias: name, expression: isTime ? call('toNullable', expression) : expression };
  });
  return {
    kind: 'select',
    columns: [{ alias: PROFILE_ACTOR, expression: column('user_hash') }, ...columns, ...properties.map(propertyOf)],
    from: { kind: 'profiles', projectId, filter: [] },
  };
}

interface ProfilesOf {
  readonly properties: readonly ProfileProperty[];
  readonly filter: readonly Expression[];
}

/** For the source `users`: all columns; the engine reads only the used ones. */
export function selectProfiles(projectId: ProjectId, { properties, filter }: ProfilesOf): Select {
  const fields = (Object.keys(PROFILE_FIELDS) as ProfileKey[]).map(fieldOf);
  const buckets = BUCKETS.map((name) => ({ alias: name, expression: column(name) }));
  return {
    kind: 'select',
    columns: [...fields, ...buckets, ...properties.map(propertyOf)],
    from: { kind: 'profiles', projectId, filter },
  };
}
