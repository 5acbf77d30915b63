// Names to fields. A name that is not known is answered with the nearest one that is.
import { findNearest, quote } from '../errors.js';
import {
  DISTINCT_ID,
  EVENT_FIELD_NAMES,
  findEventField,
  GRANULARITIES,
  type Granularity,
  type PropertyBag,
} from '../fields.js';
import type { FieldName } from '../parse/syntax.js';
import type { Group, ResolvedField } from './resolved.js';
import { report, type Scope } from './scope.js';

const BAGS: readonly PropertyBag[] = ['event_properties', 'user_properties'];
const UNAVAILABLE_PREFIXES = ['user', 'session', 'user_last_session'] as const;
const PREFIXES: readonly string[] = [...BAGS, ...UNAVAILABLE_PREFIXES];

export function resolveField(scope: Scope, name: FieldName): ResolvedField | undefined {
  if (name.path === DISTINCT_ID) return { kind: 'distinct_id', name: name.written };
  const field = findEventField(name.path);
  if (field) return { kind: 'column', name: name.written, field };

  const dot = name.path.indexOf('.');
  if (dot < 0) return reportUnknown(scope, name);
  const prefix = name.path.slice(0, dot);
  const key = name.path.slice(dot + 1);
  const bag = BAGS.find((candidate) => candidate === prefix);
  if (bag && key !== '') return { kind: 'property', name: name.written, bag, key };
  if (bag) return report(scope, name.span, `${quote(name.written)} has no key`, `write ${bag}.KEY, as in ${bag}.plan`);
  if (UNAVAILABLE_PREFIXES.some((candidate) => candidate === prefix)) {
    return report(
      scope,
      name.span,
      `${prefix}.KEY is not available yet, in ${quote(name.written)}`,
      'event fields, event_properties.KEY and user_properties.KEY are available',
    );
  }
  const nearest = findNearest(prefix, PREFIXES);
  if (nearest) return reportNearest(scope, name, `${nearest}.${key}`);
  return reportUnknown(scope, name);
}

const reportNearest = (scope: Scope, name: FieldName, nearest: string): undefined =>
  report(scope, name.span, `unknown field ${quote(name.written)}`, `nearest is "${nearest}"`);

function reportUnknown(scope: Scope, name: FieldName): undefined {
  const bag = BAGS.find((candidate) => candidate === name.path);
  if (bag) return report(scope, name.span, `${quote(name.written)} has no key`, `write ${bag}.KEY, as in ${bag}.plan`);
  const nearest = findNearest(name.path, [...EVENT_FIELD_NAMES, ...GRANULARITIES]);
  if (nearest) return reportNearest(scope, name, nearest);
  return report(
    scope,
    name.span,
    `unknown field ${quote(name.written)}`,
    `a custom property is written event_properties.${/^[\w.$-]+$/.test(name.path) ? name.path : 'KEY'}; fields are ${EVENT_FIELD_NAMES.join(', ')}`,
  );
}

const findGranularity = (name: FieldName): Granularity | undefined =>
  GRANULARITIES.find((granularity) => granularity === name.written);

export function resolveGroups(scope: Scope, names: readonly FieldName[]): Group[] {
  const groups: Group[] = [];
  for (const name of names) {
    if (groups.some((group) => group.name === name.written)) {
      report(scope, name.span, `${quote(name.written)} is grouped by twice`, 'leave one of them out');
      continue;
    }
    const granularity = findGranularity(name);
    if (granularity) {
      groups.push({ kind: 'bucket', name: name.written, granularity });
      continue;
    }
    const field = resolveField(scope, name);
    if (field) groups.push({ kind: 'field', name: name.written, field });
  }
  return groups;
}
