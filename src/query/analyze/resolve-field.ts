// Resolves names to fields. The error for an unknown name shows the nearest known one.
import { findNearest, quote } from '../errors.js';
import {
  DISTINCT_ID,
  EVENT_FIELD_NAMES,
  findEventField,
  GRANULARITIES,
  isTimeType,
  otherNameOf,
  type PropertyBag,
} from '../fields.js';
import { SESSION_COLUMN_FORMS } from '../language.js';
import { isMetricColumn, metricColumnOf } from '../metric-words.js';
import { propertyName } from '../parse/strings.js';
import type { FieldName } from '../parse/syntax.js';
import { isProfileKey, PROFILE_FIELDS, type ProfileKey } from '../profile-fields.js';
import {
  isSessionKey,
  longSessionKey,
  SESSION_KEYS,
  type SessionPrefix,
  sessionColumnOf,
  sessionRowOf,
} from '../session-fields.js';
import type { PropertyField, ResolvedField } from './resolved.js';
import { report, type Scope } from './scope.js';

const BAGS: readonly PropertyBag[] = ['event_properties', 'user_properties'];
export const SESSION_PREFIXES: readonly SessionPrefix[] = ['session', 'user_last_session', 'user_first_session'];
const PREFIXES: readonly string[] = [...BAGS, 'user', ...SESSION_PREFIXES];

const COHORT_FORM = 'a cohort is a condition or a group: where cohort.power = true, or by cohort.power';

/** Whether the field holds times, which are neither numbers nor text. */
export const isTimeField = (field: ResolvedField): boolean =>
  field.kind === 'column' ? isTimeType(field.field.type) : field.kind === 'computed' && field.type === 'time';

export function resolveField(scope: Scope, name: FieldName): ResolvedField | undefined {
  return scope.findField ? scope.findField(scope, name) : resolveEventField(scope, name);
}

export function resolveEventField(scope: Scope, name: FieldName): ResolvedField | undefined {
  if (name.path === DISTINCT_ID) return { kind: 'distinct_id', name: name.written };
  const field = findEventField(name.path);
  if (field) return { kind: 'column', name: name.written, field };

  const dot = name.path.indexOf('.');
  if (dot < 0) return reportUnknown(scope, name);
  const prefix = name.path.slice(0, dot);
  const key = name.path.slice(dot + 1);
  const bag = BAGS.find((candidate) => candidate === prefix);
  if (bag && key !== '') return propertyField(scope, { name: name.written, bag, key });
  if (bag) return report(scope, name.span, `${quote(name.written)} has no key`, `write ${bag}.KEY, as in ${bag}.plan`);
  if (prefix === 'cohort') return report(scope, name.span, `${quote(name.written)} does not fit here`, COHORT_FORM);
  if (prefix === 'user') {
    if (key !== '') return profileField(scope, name.written, key);
    return report(scope, name.span, `${quote(name.written)} has no key`, 'write user.KEY, as in user.plan');
  }
  const session = SESSION_PREFIXES.find((candidate) => candidate === prefix);
  if (session) return resolveSessionField(scope, name, { prefix: session, key });
  const nearest = otherNameOf(name.path) ? undefined : findNearest(prefix, PREFIXES);
  if (nearest) return reportNearest(scope, name, `${nearest}.${key}`);
  return reportUnknown(scope, name);
}

export function propertyField(scope: Scope, named: Omit<PropertyField, 'kind' | 'guess'>): PropertyField {
  const { name: written, bag, key } = named;
  scope.mentions.properties.push({ written, bag, key });
  return { kind: 'property', ...named, guess: scope.guessOf(bag, key) };
}

export const profileField = (scope: Scope, name: string, key: string): ResolvedField =>
  isProfileKey(key) ? profileColumn(name, key) : propertyField(scope, { name, bag: 'user', key });

export function profileColumn(name: string, key: ProfileKey): ResolvedField {
  const field = { name, ...PROFILE_FIELDS[key], category: 'user', hash: undefined } as const;
  return { kind: 'column', name, field };
}

interface SessionField {
  readonly prefix: SessionPrefix;
  readonly key: string;
}

export function resolveSessionField(
  scope: Scope,
  { written: name, span }: FieldName,
  { prefix, key: written }: SessionField,
): ResolvedField | undefined {
  const key = longSessionKey(written);
  if (!isSessionKey(key)) {
    const nearest = findNearest(key, SESSION_KEYS);
    return report(
      scope,
      span,
      `unknown field ${quote(name)}`,
      nearest ? `nearest is "${prefix}.${nearest}"` : `${prefix}.KEY has the keys ${SESSION_KEYS.join(', ')}`,
      nearest && `${prefix}.${nearest}`,
    );
  }
  const { type } = sessionRowOf(key);
  const column = sessionColumnOf(prefix, key);
  return { kind: 'column', name, field: { name, column, type, category: 'session', hash: undefined } };
}

/** Of these and a property with the same name, a misspelled name means the one of the language. */
const OWN_NAMES: readonly string[] = [...EVENT_FIELD_NAMES, ...GRANULARITIES];

const reportName = (scope: Scope, { written, span }: FieldName, hint: string, replacement?: string): undefined =>
  report(scope, span, `unknown field ${quote(written)}`, hint, replacement);

const reportNearest = (scope: Scope, name: FieldName, nearest: string): undefined =>
  reportName(scope, name, `nearest is "${nearest}"`, nearest);

function reportUnknown(scope: Scope, name: FieldName): undefined {
  const bag = BAGS.find((candidate) => candidate === name.path);
  if (bag) return report(scope, name.span, `${quote(name.written)} has no key`, `write ${bag}.KEY, as in ${bag}.plan`);
  const keys = scope.propertyKeys ?? [];
  const other = keys.includes(name.path) ? undefined : (otherNameOf(name.path, keys) ?? columnOf(scope, name.path));
  if (other) return reportNearest(scope, name, other);
  if (name.path === 'cohort' && !keys.includes('cohort')) {
    return report(scope, name.span, '"cohort" has no name', COHORT_FORM);
  }
  const isCohort = scope.definitions?.some((defined) => defined.kind === 'cohort' && defined.name === name.path);
  if (isCohort && !keys.includes(name.path)) return reportNearest(scope, name, `cohort.${name.path}`);
  if (name.path === 'received_at' && !keys.includes(name.path)) {
    return reportName(scope, name, 'the time at which an event arrived is not a field; time is when it happened');
  }
  const known = () => [...OWN_NAMES, ...keys];
  const nearest = scope.nearest.find('field', name.path, known);
  const key = longSessionKey(name.path);
  if (isSessionKey(key) && nearest !== `_${key}`) return reportNearest(scope, name, `session.${key}`);
  const isColumn = scope.columns?.includes(name.path) && (nearest === undefined || nearest === name.path);
  if (isColumn) return reportColumn(scope, name);
  const metric = keys.includes(name.path) ? undefined : metricColumnOf(name.path);
  if (metric !== undefined && scope.columns?.some(isMetricColumn)) return reportMetric(scope, name, metric);
  const isMisspelled = nearest !== name.path && OWN_NAMES.some((own) => own === nearest);
  if (nearest && keys.includes(nearest) && !isMisspelled) return reportNearest(scope, name, writtenProperty(nearest));
  if (nearest === name.path) return reportPeriod(scope, name);
  if (nearest) return reportNearest(scope, name, nearest);
  return reportName(
    scope,
    name,
    `a custom property is written event_properties.${/^[\w.$-]+$/.test(name.path) ? name.path : 'KEY'}; fields are ${EVENT_FIELD_NAMES.join(', ')}`,
    // A name with an underscore is a misspelled field.
    name.path.startsWith('_') ? undefined : writtenProperty(name.path),
  );
}

/** The field that SQL names with its table, here the event of the query, in front. */
function columnOf({ mentions }: Scope, path: string): string | undefined {
  const [event = '', ...rest] = path.split('.');
  const key = rest.join('.');
  if (key === '' || !mentions.events.has(event)) return undefined;
  return findEventField(key) ? key : writtenProperty(key);
}

const reportPeriod = (scope: Scope, name: FieldName): undefined =>
  reportName(
    scope,
    name,
    `it is a group of time: count by ${name.path} | where ${name.path} = … filters its rows; a property is written ${writtenProperty(name.path)}`,
  );

/** Has no replacement: a property of this name would be another question. */
const reportColumn = (scope: Scope, name: FieldName): undefined =>
  reportName(
    scope,
    name,
    (scope.columns?.includes('avg_events') && SESSION_COLUMN_FORMS.get(name.path)) ||
      `it is a column of the answer and no field of events; only the rows of an aggregate or a formula are filtered by columns, as in unique by _country | where unique_count > 20, and none are grouped by them; a property is written ${writtenProperty(name.path)}`,
  );

/** Has a replacement when the answer has the column that is meant. */
function reportMetric(scope: Scope, name: FieldName, meant: string): undefined {
  const metrics = [...new Set(scope.columns?.filter(isMetricColumn))];
  return reportName(
    scope,
    name,
    `rows of the answer are filtered behind the aggregate, by its column ${metrics.join(', ')}; a property is written ${writtenProperty(name.path)}`,
    metrics.includes(meant) ? meant : undefined,
  );
}

const writtenProperty = (key: string): string => propertyName('event_properties', key);
