// Resolves calls in conditions: aggregates over the events of the row's person, as in `where
// count(purchase last 30d) >= 3`.
import { isTimeField } from '../analyze/resolve-field.js';
import type {
  CallCondition,
  CallTest,
  Condition,
  EventSelection,
  Measure,
  OrderOperator,
  ResolvedCall,
  ResolvedField,
  TimeRange,
} from '../analyze/resolved.js';
import { type CallComparison, report, type Scope } from '../analyze/scope.js';
import { findNearest, quote } from '../errors.js';
import { DISTINCT_ID } from '../fields.js';
import { isDefined } from '../is-defined.js';
import type { Call, Duration, Value } from '../parse/syntax.js';
import { type CalendarSpan, resolveSpan, startOfSpan } from '../time/range.js';
import { findFieldOrProperty, resolveEvents } from './events.js';

/** What the conditions of a source filter. */
export interface CallRows {
  readonly range: TimeRange;
  readonly rows: ResolvedCall['rows'];
  /** Rewrites the durations of the query, and not those of definitions, which are queries apart. */
  readonly readDuration?: ((duration: Duration) => Duration) | undefined;
}

const FUNCTIONS = ['count', 'unique', 'sum', 'avg', 'min', 'max'] as const;
type CallFunction = (typeof FUNCTIONS)[number];
const isFunction = (name: string): name is CallFunction => FUNCTIONS.some((known) => known === name);

const FORM =
  'calls in conditions are count(event), sum(event, field), avg, min, max and unique(event, field), as in where count(purchase last 30d) >= 3';

const PERSON: ResolvedField = { kind: 'distinct_id', name: DISTINCT_ID };

const rangeOf = (last: CalendarSpan | undefined, { fromMs, toMs }: TimeRange): TimeRange => ({
  fromMs: last ? startOfSpan(toMs, last, 'UTC') : fromMs,
  toMs,
});

export const callResolver =
  ({ range, rows, readDuration }: CallRows) =>
  (scope: Scope, condition: CallComparison): CallCondition | Condition | undefined => {
    // Brackets and fields of a call are those of its events, also where the rows are profiles.
    const ofEvents: Scope = { ...scope, findField: findFieldOrProperty };
    const { call } = condition;
    const measure = resolveMeasure(ofEvents, call);
    const events = resolveEvents(ofEvents, call.event);
    const isOfQuery = call.last?.span.within === undefined;
    const last = call.last && resolveSpan(scope, (isOfQuery && readDuration?.(call.last)) || call.last);
    const key = resolveKey(ofEvents, call, rows);
    // An unknown function may be of texts.
    const test = isFunction(call.name.text) ? resolveTest(scope, condition) : undefined;
    if (!measure || !events || !key || !test || (call.last && !last)) return undefined;
    const asked = { events, measure, key, rows, last, range: rangeOf(last, range) };
    const resolved: Condition = { kind: 'call', call: { name: nameOf(scope, asked), ...asked }, test };
    return isNegative(condition) ? { kind: 'not', item: resolved } : resolved;
  };

/** Equal calls share a column. */
function nameOf({ calls }: Scope, call: Omit<ResolvedCall, 'name'>): string {
  const identity = JSON.stringify(call);
  const name = calls.get(identity) ?? `call_${calls.size + 1}`;
  calls.set(identity, name);
  return name;
}

const isNegative = ({ operator }: CallComparison): boolean => /^(?:!=|not )/.test(operator.text);

/** The person, or the field of `per`. */
function resolveKey(scope: Scope, { name, per }: Call, rows: ResolvedCall['rows']): ResolvedField | undefined {
  if (!per) return PERSON;
  const field = findFieldOrProperty(scope, per);
  if (!field || field.kind === 'distinct_id') return field;
  const form = `per ${per.written} does not fit ${name.text}(…)`;
  if (rows === 'profiles')
    return report(scope, per.span, `${form} of users`, 'a call of users is of the user: leave per out');
  if (!isTimeField(field)) return field;
  return report(
    scope,
    per.span,
    `${form}, because it is a time`,
    'per takes a field with equal values: per session_id',
  );
}

function resolveMeasure(scope: Scope, call: Call): Measure | undefined {
  const { name, field: written, span, event } = call;
  const known = name.text;
  if (!isFunction(known)) {
    const nearest = findNearest(name.text, FUNCTIONS);
    const hint = nearest ? `nearest is "${nearest}"; ${FORM}` : FORM;
    return report(scope, name.span, `unknown function ${quote(name.text)} in a condition`, hint, nearest);
  }
  if (known === 'count') {
    if (!written) return { kind: 'count' };
    return report(scope, written.span, `count takes no field, but has ${quote(written.written)}`, FORM);
  }
  if (!written) {
    if (known === 'unique') return { kind: 'unique', field: PERSON };
    return report(scope, span, `${known} has no field`, `write ${known}(${event.written}, price)`);
  }
  const field = findFieldOrProperty(scope, written);
  if (!field) return undefined;
  if (known === 'unique') return { kind: 'unique', field };
  if (!isTimeField(field)) return { kind: 'numeric', function: known, field };
  return report(
    scope,
    written.span,
    `${known} does not fit ${written.written}, which is a time`,
    'it takes a field that holds numbers',
  );
}

const ORDERS: readonly string[] = ['<', '<=', '>', '>='];

/** The comparison without its negation. */
function resolveTest(scope: Scope, { call, operator, values: written }: CallComparison): CallTest | undefined {
  const name = `${call.name.text}(…)`;
  const positive = operator.text.replace(/^not /, '').replace('!=', '=');
  if (positive === 'exists') {
    if (['avg', 'min', 'max'].includes(call.name.text)) return { operator: 'exists' };
    return report(scope, operator.span, `${name} always exists`, `it is 0 without events: ${name} > 0`);
  }
  if (positive !== '=' && positive !== 'in' && !ORDERS.includes(positive)) {
    const hint = 'a call is compared by =, !=, <, <=, >, >= or in (…)';
    return report(scope, operator.span, `${operator.text} does not fit ${name}, which is a number`, hint);
  }
  const values = written.map((value) => resolveNumber(scope, name, value)).filter(isDefined);
  const [value] = values;
  if (value === undefined || values.length < written.length) return undefined;
  return ORDERS.includes(positive) ? { operator: positive as OrderOperator, value } : { operator: 'in', values };
}

function resolveNumber(scope: Scope, name: string, value: Value): number | undefined {
  const number = value.kind === 'number' ? Number(value.text) : undefined;
  if (number !== undefined && Number.isFinite(number)) return number;
  const text = value.kind === 'boolean' ? String(value.value) : value.text;
  return report(scope, value.span, `${name} is a number, and ${quote(text)} is not`, `write a number: ${name} >= 3`);
}

/** The selection over another range, which is that of its calls too. */
export const overRange = (selection: EventSelection, range: TimeRange): EventSelection => ({
  ...selection,
  range,
  condition: selection.condition && conditionOver(selection.condition, range),
});

/** The condition with calls over another range. */
export function conditionOver(condition: Condition, range: TimeRange): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { ...condition, items: condition.items.map((item) => conditionOver(item, range)) };
    case 'not':
      return { ...condition, item: conditionOver(condition.item, range) };
    case 'call':
      return { ...condition, call: { ...condition.call, range: rangeOf(condition.call.last, range) } };
    default:
      return condition;
  }
}

/** Whether a call is in the condition. */
export function hasCall(condition: Condition | undefined): boolean {
  switch (condition?.kind) {
    case 'and':
    case 'or':
      return condition.items.some(hasCall);
    case 'not':
      return hasCall(condition.item);
    default:
      return condition?.kind === 'call';
  }
}
