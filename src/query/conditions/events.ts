// Resolves event patterns: `signup`, `signup[plan = "pro"]`, `(signup, purchase)`. Used by sources,
// steps and calls.
import { propertyField, resolveEventField } from '../analyze/resolve-field.js';
import type { Condition, EventSet, Literal, ResolvedField } from '../analyze/resolved.js';
import type { Scope } from '../analyze/scope.js';
import { DISTINCT_ID, findEventField, requireEventField } from '../fields.js';
import { isDefined } from '../is-defined.js';
import { textOf } from '../literal-text.js';
import type { EventMatch, EventPattern, FieldName } from '../parse/syntax.js';
import { resolveCondition } from './resolve.js';

const PREFIX = /^(event_properties|user_properties|user|session|user_last_session|user_first_session|cohort)\./;

/**
 * A name that is no field is a property of the event; names with `_` in front or a known prefix are
 * fields.
 */
export function findFieldOrProperty(scope: Scope, name: FieldName): ResolvedField | undefined {
  const { path, written } = name;
  const isField = path === DISTINCT_ID || findEventField(path) || path.startsWith('_') || PREFIX.test(path);
  if (isField) return resolveEventField(scope, name);
  return propertyField(scope, { name: written, bag: 'event_properties', key: path });
}

/** Undefined when a condition has a problem, which is reported. */
export function resolveEvents(events: Scope, pattern: EventPattern): EventSet | undefined {
  const scope: Scope = { ...events, findField: findFieldOrProperty, resolveCall: undefined };
  const matches = pattern.matches.map((match) => resolveMatch(scope, match)).filter(isDefined);
  if (matches.length < pattern.matches.length) return undefined;
  const named = matches.map(({ type }) => type).filter(isDefined);
  const eventTypes = named.length < matches.length ? undefined : [...new Set(named)];
  return { name: pattern.written, eventTypes, condition: joinMatches(matches) };
}

interface Match {
  readonly type: string | undefined;
  readonly condition: Condition | undefined;
}

function resolveMatch(scope: Scope, { name, condition }: EventMatch): Match | undefined {
  if (name) scope.mentions.events.add(name.text);
  if (condition === undefined) return { type: name?.text, condition };
  const resolved = resolveCondition(scope, condition);
  return resolved && { type: name?.text, condition: resolved };
}

const EVENT_TYPE: ResolvedField = { kind: 'column', name: 'event_type', field: requireEventField('event_type') };

/** The condition besides the event types. */
function joinMatches(matches: readonly Match[]): Condition | undefined {
  if (matches.every(({ condition }) => condition === undefined)) return undefined;
  const items = matches.flatMap(({ type, condition }): Condition[] => {
    if (matches.length === 1 || type === undefined) return condition ? [condition] : [];
    const isOfType: Condition = { kind: 'one_of', field: EVENT_TYPE, values: [{ kind: 'text', text: type }] };
    return [condition ? { kind: 'and', items: [isOfType, condition] } : isOfType];
  });
  return items.length === 1 ? items[0] : { kind: 'or', items };
}

/** Whether no event is in both: their types differ, or a field has to equal different values. */
export function areDisjoint(one: EventSet, other: EventSet): boolean {
  const { eventTypes } = other;
  if (one.eventTypes && eventTypes && !one.eventTypes.some((type) => eventTypes.includes(type))) return true;
  return requiredValues(one).some(([field, values]) =>
    requiredValues(other).some(([otherField, otherValues]) => field === otherField && areApart(values, otherValues)),
  );
}

/**
 * Whether no stored value equals one of each. A value may equal literals of two kinds: the number 1
 * equals `1`, `"1"` and `true`. Of one kind, it equals a single text, number, boolean or instant.
 */
function areApart(values: readonly Literal[], others: readonly Literal[]): boolean {
  const kinds = new Set([...values, ...others].map(({ kind }) => kind));
  const compared = others.map(comparedAs);
  return kinds.size === 1 && !values.some((value) => compared.includes(comparedAs(value)));
}

/** Numbers are compared by size: `5` and `5.0` are one. */
const comparedAs = (value: Literal): string | number => (value.kind === 'number' ? value.value : textOf(value));

/** Fields that have to equal one of some values. */
function requiredValues({ condition }: EventSet): (readonly [string, readonly Literal[]])[] {
  const items = condition === undefined ? [] : condition.kind === 'and' ? condition.items : [condition];
  return items.flatMap((item) => (item.kind === 'one_of' ? [[JSON.stringify(item.field), item.values] as const] : []));
}
