// Analyzer of the source `users`: profiles as rows. Bare KEY and user.KEY are the same; the time range is on last_seen.

import { isTimeField, profileColumn, profileField } from '../../analyze/resolve-field.js';
import type { EventSelection, ListColumn, ListOrder, ResolvedField, ResolvedQuery } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { isKind, isSize, onlyStage, reportMisfit, resolveRowsMax } from '../../analyze/stages.js';
import { quote } from '../../errors.js';
import { DISTINCT_ID, findEventField } from '../../fields.js';
import { isDefined } from '../../is-defined.js';
import type { FieldName, SortKey, Stage } from '../../parse/syntax.js';
import { isProfileKey, type ProfileKey } from '../../profile-fields.js';
import { analyzeAggregate, checkOrder, fitsEvents, resolveSelection } from '../events/analyze.js';

const DEFAULT_DAYS = 30;
const OF_EVENTS = /^(event_properties|user_properties|session|user_last_session)\./;

/** Event fields that profiles have too: distinct_id is the user_id. Other event fields do not exist on profiles. */
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

const DEFAULT_LIST: readonly ListColumn[] = [
  ...(['user_id', 'email', 'email_domain', 'first_seen', 'last_seen'] as const).map(column),
  { kind: 'properties', name: 'properties', bag: 'user' },
];

export function analyzeUsers(events: Scope, stages: readonly Stage[]): ResolvedQuery | undefined {
  const scope: Scope = { ...events, findField: findProfileField };
  for (const stage of stages) if (!fitsEvents(stage)) reportMisfit(scope, stage, 'users');
  checkOrder(scope, stages);
  const selection = resolveSelection(scope, { stages, form: { defaultDays: DEFAULT_DAYS } });
  const list = onlyStage(scope, stages, { matches: isKind('list'), what: 'list', hint: 'remove one of them' });
  const aggregate = onlyStage(scope, stages, {
    matches: isKind('aggregate'),
    what: 'the aggregate',
    hint: 'a query has one aggregate; use a separate query for the other',
  });
  const by = stages.find(isKind('by'));
  if (list && (aggregate || by)) {
    report(
      scope,
      list.span,
      `list does not go with ${aggregate?.name ?? 'by'}`,
      'list shows profiles, an aggregate sums them up: leave one out',
    );
  }
  if (!aggregate && !by) return analyzeList(scope, { stages, fields: list?.fields ?? [], selection });
  const person = profileColumn('user_id', 'user_id');
  return analyzeAggregate(scope, { stages, aggregate, selection, mode: 'users', rows: { kind: 'profiles' }, person });
}

interface ListParts {
  readonly stages: readonly Stage[];
  readonly fields: readonly FieldName[];
  readonly selection: EventSelection;
}

function analyzeList(scope: Scope, { stages, fields, selection }: ListParts): ResolvedQuery {
  const size = onlyStage(scope, stages, { matches: isSize, what: 'the number of rows', hint: 'remove one of them' });
  if (size?.kind === 'top') {
    report(scope, size.span, 'top does not go with list, which has no metric', 'write sort and limit');
  }
  const sort = onlyStage(scope, stages, {
    matches: isKind('sort'),
    what: 'sort',
    hint: 'one sort takes several fields',
  });
  return {
    kind: 'list',
    mode: 'users',
    rows: { kind: 'profiles' },
    selection,
    columns: fields.length > 0 ? fields.map((name) => resolveColumn(scope, name)).filter(isDefined) : DEFAULT_LIST,
    order: sort ? sort.keys.map((key) => resolveOrder(scope, key)).filter(isDefined) : [NEWEST_FIRST],
    rowsMax: size && resolveRowsMax(scope, size),
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
}

const NEWEST_FIRST: ListOrder = { direction: 'desc', field: profileColumn('last_seen', 'last_seen') };

function resolveColumn(scope: Scope, name: FieldName): ListColumn | undefined {
  if (name.path === 'properties') return { kind: 'properties', name: name.written, bag: 'user' };
  const field = findProfileField(scope, name);
  return field && { kind: 'field', name: name.written, field };
}

function resolveOrder(scope: Scope, { field, direction }: SortKey): ListOrder | undefined {
  const found = findProfileField(scope, field);
  return found && { direction: direction ?? (isTimeField(found) ? 'desc' : 'asc'), field: found };
}
