// Evaluates the condition of a drop rule on an incoming event, as the engine does with the stored
// one (src/query/conditions/plan.ts): a rule drops the events that the query with its condition
// would find. Properties are compared by the type of their value.
import { RE2JS } from 're2js';
import { assertNever } from '../../platform/errors.js';
import { tryParseNumberText } from '../../platform/number-text.js';
import type { Condition, Literal, OrderOperator, ResolvedField, TextPlace } from '../../query/analyze/resolved.js';
import type { EventColumn, PropertyBag } from '../../query/fields.js';
import { textOf } from '../../query/literal-text.js';
import { textOf as textOfValue } from '../schema.js';
import type { IncomingEvent } from './incoming-event.js';
import { createNetworkTest } from './networks.js';
import { ADDRESS_FIELD } from './rules.js';

export type EventTest = (event: IncomingEvent) => boolean;

/** Text is matched with regular expressions up to this length. */
const MATCHED_LENGTH_MAX = 2048;

/** Throws for a condition that has no meaning for one event; such rules are not stored. */
export function toTest(condition: Condition): EventTest {
  switch (condition.kind) {
    case 'and': {
      const items = condition.items.map(toTest);
      return (event) => items.every((item) => item(event));
    }
    case 'or': {
      const items = condition.items.map(toTest);
      return (event) => items.some((item) => item(event));
    }
    case 'not': {
      const item = toTest(condition.item);
      return (event) => !item(event);
    }
    case 'one_of':
      return isAddress(condition.field) ? inNetworks(condition.values) : oneOf(condition.field, condition.values);
    case 'order':
      return order(condition.field, condition.operator, condition.value);
    case 'contains':
      return ofText(condition.field, containsTest(condition.place, condition.text));
    case 'matches':
      return ofText(condition.field, patternTest(condition.pattern));
    case 'exists':
      return exists(condition.field);
    case 'person':
    case 'call':
      throw new Error(`${condition.kind} is of several events`);
    default:
      return assertNever(condition);
  }
}

const isAddress = (field: ResolvedField): boolean => field.kind === 'column' && field.name === ADDRESS_FIELD;

function inNetworks(values: readonly Literal[]): EventTest {
  const isIn = lastRemembered(createNetworkTest(values.map(textOf)));
  return ({ address }) => address !== '' && isIn(address);
}

/** The events of a request often have the same value. */
function lastRemembered(test: (text: string) => boolean): (text: string) => boolean {
  let last: { readonly text: string; readonly result: boolean } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, result: test(text) };
    return last.result;
  };
}

/** What an event has for a field: a value of its type, or undefined. */
type Value =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'time'; readonly ms: number };

type Read = (event: IncomingEvent) => Value | undefined;

function readerOf(field: ResolvedField): Read {
  if (field.kind === 'property' && field.bag !== 'user') {
    const bag: PropertyBag = field.bag;
    return (event) => toValue(event.property(bag, field.key));
  }
  if (field.kind !== 'column') throw new Error(`${field.name} is not a value of one event`);
  if (isAddress(field)) return ({ address }) => (address === '' ? undefined : { kind: 'text', text: address });
  const column = field.field.column as EventColumn;
  switch (column) {
    case 'time':
      return ({ time }) => ({ kind: 'time', ms: time });
    case 'geo_latitude':
    case 'geo_longitude':
      return (event) => {
        const number = event.number(column);
        return Number.isNaN(number) ? undefined : { kind: 'number', number };
      };
    default:
      // A missing text is stored as an empty one.
      return (event) => {
        const text = event.text(column);
        return text === '' ? undefined : { kind: 'text', text };
      };
  }
}

/** As insert/property-buckets.ts stores it. */
function toValue(value: unknown): Value | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  if (typeof value === 'number' && Number.isFinite(value)) return { kind: 'number', number: value };
  return { kind: 'text', text: textOfValue(value) ?? String(value) };
}

/** The engine writes exponents without a plus. */
const numberText = (number: number): string => String(number).replace('e+', 'e');

/** Text form, undefined for a time, which takes no operators of text. */
function textFormOf(value: Value): string | undefined {
  switch (value.kind) {
    case 'text':
      return value.text;
    case 'number':
      return numberText(value.number);
    case 'boolean':
      return String(value.value);
    case 'time':
      return undefined;
    default:
      return assertNever(value);
  }
}

function numberOf(value: Value): number | undefined {
  if (value.kind === 'number') return value.number;
  return value.kind === 'text' ? tryParseNumberText(value.text) : undefined;
}

function ofText(field: ResolvedField, test: (text: string) => boolean): EventTest {
  const read = readerOf(field);
  return (event) => {
    const value = read(event);
    const text = value && textFormOf(value);
    return text !== undefined && test(text);
  };
}

const CONTAINS: Readonly<Record<TextPlace, (form: string, text: string) => boolean>> = {
  anywhere: (form, text) => form.includes(text),
  start: (form, text) => form.startsWith(text),
  end: (form, text) => form.endsWith(text),
};

const containsTest =
  (place: TextPlace, text: string) =>
  (form: string): boolean =>
    CONTAINS[place](form, text);

/** RE2, whose time is linear; a dot matches line breaks too, as in the engine. */
function patternTest(pattern: string): (text: string) => boolean {
  const expression = RE2JS.compile(pattern, RE2JS.DOTALL);
  return lastRemembered((text) => expression.test(text.slice(0, MATCHED_LENGTH_MAX)));
}

function exists(field: ResolvedField): EventTest {
  const read = readerOf(field);
  return (event) => {
    const value = read(event);
    return value !== undefined && !(value.kind === 'text' && value.text === '');
  };
}

/** An integer beyond the exact range is an id: texts are compared with it digit by digit. */
const isRounded = (value: Literal): boolean =>
  value.kind === 'number' && /^-?\d+$/.test(value.text) && !Number.isSafeInteger(value.value);

function oneOf(field: ResolvedField, values: readonly Literal[]): EventTest {
  const read = readerOf(field);
  const isId = field.kind === 'column' && field.field.type === 'id';
  const isProperty = field.kind === 'property';
  const instants = new Set(values.flatMap((value) => (value.kind === 'instant' ? [value.ms] : [])));
  const numbers = new Set(
    values.flatMap((value) => (value.kind === 'number' && !isRounded(value) ? [value.value] : [])),
  );
  // Equal to the number as text: all values of ids, and those that are not numbers.
  const texts = new Set(
    values.filter((value) => isId || value.kind !== 'number' || isRounded(value)).map((value) => textOf(value)),
  );
  const booleans = new Set(values.flatMap((value) => (value.kind === 'boolean' ? [Number(value.value)] : [])));
  const rounded = new Set(
    values.flatMap((value) => (value.kind === 'number' && isRounded(value) ? [value.value] : [])),
  );
  const isNumber = (number: number): boolean =>
    numbers.has(number) || booleans.has(number) || rounded.has(number) || texts.has(numberText(number));
  return (event) => {
    const value = read(event);
    if (value === undefined) return false;
    switch (value.kind) {
      case 'time':
        return instants.has(value.ms);
      case 'number':
        return isNumber(value.number);
      case 'boolean':
        return texts.has(String(value.value));
      case 'text': {
        if (texts.has(value.text) && (value.text !== '' || isProperty)) return true;
        const number = isId || numbers.size === 0 ? undefined : tryParseNumberText(value.text);
        return number !== undefined && numbers.has(number);
      }
      default:
        return assertNever(value);
    }
  };
}

const COMPARE: Readonly<Record<OrderOperator, (difference: number) => boolean>> = {
  '<': (difference) => difference < 0,
  '<=': (difference) => difference <= 0,
  '>': (difference) => difference > 0,
  '>=': (difference) => difference >= 0,
};

function order(field: ResolvedField, operator: OrderOperator, literal: Literal): EventTest {
  const read = readerOf(field);
  const passes = COMPARE[operator];
  if (literal.kind === 'instant') {
    return (event) => {
      const value = read(event);
      return value?.kind === 'time' && passes(value.ms - literal.ms);
    };
  }
  const limit = literal.kind === 'number' ? literal.value : tryParseNumberText(textOf(literal));
  if (limit === undefined) {
    const bytes = Buffer.from(textOf(literal));
    return ofText(field, (text) => passes(Buffer.compare(Buffer.from(text), bytes)));
  }
  return (event) => {
    const value = read(event);
    const number = value && numberOf(value);
    return number !== undefined && passes(number - limit);
  };
}
