// Selects over profiles that read only the fields and keys of the query.
import type { ProjectId } from '../../platform/ids.js';
import { alias, type CallValue, column, type Expression, type ProfileProperty } from '../plan/expressions.js';
import { fn } from '../plan/functions.js';
import { type Columns, type Join, type Select, select } from '../plan/plan.js';
import { PROFILE_FIELDS, PROFILE_KEYS, type ProfileKey } from '../profile-fields.js';

export interface ProfileReads {
  readonly fields: readonly ProfileKey[];
  readonly properties: readonly ProfileProperty[];
}

const propertyColumns = (properties: readonly ProfileProperty[]): Columns =>
  Object.fromEntries(properties.map(({ name, value }) => [name, value]));

export const PROFILE_PERSON = 'profile_person';

/** Times are nullable, so that a missing profile has null instead of 1970. */
export const optionalProfileColumns = (fields: readonly ProfileKey[]): Columns =>
  Object.fromEntries(
    fields.map((key) => {
      const { column: name, type } = PROFILE_FIELDS[key];
      return [name, type === 'optional_time' ? fn.toNullable(column(key)) : column(key)];
    }),
  );

/** For joins to events by hash of distinct_id. */
export function selectProfilesToJoin(projectId: ProjectId, { fields, properties }: ProfileReads): Select {
  return select({
    columns: {
      [PROFILE_PERSON]: column('user_hash'),
      ...optionalProfileColumns(fields),
      ...propertyColumns(properties),
    },
    from: { kind: 'profiles', projectId, filter: [] },
  });
}

interface ProfilesOf {
  readonly properties: readonly ProfileProperty[];
  readonly filter: readonly Expression[];
  readonly joins: readonly Join[];
  /** Values of calls that are read, from the joins. */
  readonly calls: readonly CallValue[];
}

/** For the source `users`: all columns; the engine reads only the used ones. */
export function selectProfiles(projectId: ProjectId, { properties, filter, joins, calls }: ProfilesOf): Select {
  return select({
    columns: {
      ...Object.fromEntries(PROFILE_KEYS.map((key) => [PROFILE_FIELDS[key].column, column(key)])),
      props_str: column('props_str'),
      props_num: column('props_num'),
      props_bool: column('props_bool'),
      ...propertyColumns(properties),
      ...Object.fromEntries(calls.map(({ call }) => [call.name, alias(call.name)])),
    },
    from: { kind: 'profiles', projectId, joins, filter },
  });
}
