// Analyzer of the source `users`: profiles as rows. Bare KEY and user.KEY are the same; the time
// range is on last_seen.
import type { AggregateQuery } from '../../analyze/aggregate.js';
import type { ListDefaults, ListQuery } from '../../analyze/list.js';
import { profileColumn, profileField } from '../../analyze/resolve-field.js';
import type { ListColumn, ResolvedField } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { takeSelection } from '../../analyze/selection.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { quote } from '../../errors.js';
import { DISTINCT_ID, findEventField } from '../../fields.js';
import type { FieldName } from '../../parse/syntax.js';
import { isProfileKey, type ProfileKey } from '../../profile-fields.js';
import { analyzeRows } from '../events/analyze.js';

const OF_EVENTS = /^(event_properties|user_properties|session|user_last_session|user_first_session)\./;

/**
 * Event fields that profiles have too: distinct_id is the user_id. Other event fields do not exist
 * on profiles.
 */
function findProfileField(scope: Scope, { path, written, span }: FieldName): ResolvedField | undefined {
  if (path === DISTINCT_ID) return profileColumn(written, 'user_id');
  const isColumn = findEventField(path) !== undefined && !isProfileKey(path);
  if (isColumn || OF_EVENTS.test(path)) {
    const property = isColumn ? `; a property that is called so is user.${path}` : '';
    return report(
      scope,
      span,
      `${quote(written)} is a field of events, and users are profiles`,
      `a profile has user_id, email, email_domain, first_seen, last_seen, and its properties by their bare names${property}`,
    );
  }
  const key = path.startsWith('user.') ? path.slice('user.'.length) : path;
  if (key !== '') return profileField(scope, written, key);
  return report(scope, span, `${quote(written)} has no key`, 'write user.KEY or KEY, as in plan');
}

const column = (key: ProfileKey): ListColumn => ({ kind: 'field', name: key, field: profileColumn(key, key) });

const DEFAULTS: ListDefaults = {
  columns: [
    ...(['user_id', 'email', 'email_domain', 'first_seen', 'last_seen'] as const).map(column),
    { kind: 'properties', name: 'properties', bag: 'user' },
  ],
  order: { direction: 'desc', field: profileColumn('last_seen', 'last_seen') },
  bags: { properties: 'user' },
};

export function analyzeUsers(events: Scope, _: object, stages: StageReader): AggregateQuery | ListQuery | undefined {
  const scope: Scope = { ...events, findField: findProfileField };
  stages.checkOrder();
  return analyzeRows(scope, stages, {
    aggregate: stages.takeOne('aggregate'),
    selection: takeSelection(scope, stages, { rows: 'profiles' }),
    mode: 'users',
    rows: { kind: 'profiles' },
    isListed: true,
    noun: 'profiles',
    defaults: DEFAULTS,
    person: profileColumn('user_id', 'user_id'),
  });
}
