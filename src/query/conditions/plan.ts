// Plans conditions as ClickHouse expressions. Decisions that do not depend on data are made here,
// so that a comparison reads only the property maps that can contain an equal value, and each
// expression is true or false and never null.

import { assertNever } from '../../platform/errors.js';
import type { ProjectId } from '../../platform/ids.js';
import { tryParseNumberText } from '../../platform/number-text.js';
import type {
  Condition,
  Literal,
  OrderOperator,
  PropertyField,
  ResolvedField,
  TextPlace,
} from '../analyze/resolved.js';
import type { EventField } from '../fields.js';
import { isDefined } from '../is-defined.js';
import { textOf } from '../literal-text.js';
import { isOfPeople } from '../people/devices.js';
import {
  allOf,
  anyOf,
  column,
  constant,
  type Expression,
  equals,
  FALSE,
  infix,
  instant,
  instants,
  isOneOf,
  list,
  nullAsFalse,
  numberValue,
  numberValues,
  rowsOf,
  textValue,
  textValues,
} from '../plan/expressions.js';
import {
  type Bucket,
  guessedBuckets,
  isOptional,
  isPresentField,
  numberInText,
  property,
  type Reading,
  readNumber,
  readText,
  refuseWhere,
} from '../plan/field-expressions.js';
import { fn } from '../plan/functions.js';
import { select, step } from '../plan/plan.js';
import { planCall } from './plan-call.js';

export function planCondition(condition: Condition, projectId: ProjectId): Expression {
  switch (condition.kind) {
    case 'and':
      return allOf(condition.items.map((item) => planCondition(item, projectId)));
    case 'or':
      return anyOf(condition.items.map((item) => planCondition(item, projectId)));
    case 'not':
      return fn.not(planCondition(condition.item, projectId));
    case 'one_of':
      return condition.field.kind === 'distinct_id'
        ? planPersonOneOf(condition.values.map(textOf).filter(isNotEmpty), projectId)
        : planOneOf(condition.field, condition.values);
    case 'order':
      return planOrder(condition);
    case 'contains':
      return planContains(condition);
    case 'matches':
      return planMatches(condition.field, condition.pattern);
    case 'exists':
      return isPresentField(condition.field);
    case 'person':
      return planPerson(condition.id, projectId);
    case 'call':
      return planCall(condition);
    default:
      return assertNever(condition);
  }
}

type TextLiteral = Extract<Literal, { kind: 'text' }>;
type NumberLiteral = Extract<Literal, { kind: 'number' }>;
type BooleanLiteral = Extract<Literal, { kind: 'boolean' }>;

type ColumnField = Extract<ResolvedField, { kind: 'column' }>;
type DistinctId = Extract<ResolvedField, { kind: 'distinct_id' }>;

const isText = (value: Literal): value is TextLiteral => value.kind === 'text';
const isNumber = (value: Literal): value is NumberLiteral => value.kind === 'number';
const isBoolean = (value: Literal): value is BooleanLiteral => value.kind === 'boolean';

/**
 * An integer beyond the exact range of a double is an id, whose neighbours round to the same
 * number. Texts are compared with it digit by digit; stored numbers were rounded at acceptance, and
 * are compared with its rounded value.
 */
const isRounded = (value: Literal): boolean =>
  isNumber(value) && /^-?\d+$/.test(value.text) && !Number.isSafeInteger(value.value);
const isExact = (value: Literal): boolean => !isRounded(value);

/**
 * Equal to one value, or to one of several: an IN with a single array keeps the SQL short and uses
 * the index.
 */
const equalsAny =
  <Value>(one: (value: Value) => Expression, several: (values: readonly Value[]) => Expression) =>
  (expression: Expression, values: readonly Value[]): Expression => {
    const [first] = values;
    if (first === undefined) return FALSE;
    return values.length === 1 ? equals(expression, one(first)) : isOneOf(expression, several(values));
  };

const equalsText = equalsAny(textValue, textValues);
const equalsNumber = equalsAny(numberValue, numberValues);
const equalsInstant = equalsAny(instant, instants);

function planOneOf(field: Exclude<ResolvedField, DistinctId>, values: readonly Literal[]): Expression {
  switch (field.kind) {
    case 'property':
      return planPropertyOneOf(field, values);
    case 'column':
      switch (field.field.type) {
        case 'id':
          return planIdOneOf(field.field, values.map(textOf).filter(isNotEmpty));
        case 'text':
          return planTextOneOf(readText(field), values);
        case 'number':
        case 'optional_number':
          return withoutNull(field, planNumberColumnOneOf(column(field.field.column), values));
        case 'time':
        case 'optional_time':
          return planTimeOneOf(field, values);
        default:
          return assertNever(field.field.type);
      }
    case 'cohort':
    case 'computed':
      return planTextOneOf(readText(field), values);
    default:
      return assertNever(field);
  }
}

const isNotEmpty = (text: string): boolean => text !== '';

/**
 * The analyzer only allows instants. The engine compares a bucket with one instant, but refuses a
 * list of them. It turns a plain chain of equalities into a list.
 */
function planTimeOneOf(field: ColumnField, values: readonly Literal[]): Expression {
  const time = column(field.field.column);
  const times = values.flatMap((value) => (value.kind === 'instant' ? [value.ms] : []));
  const isAt = (ms: number) => nullAsFalse(equals(time, instant(ms)));
  return field.isBucket ? anyOf(times.map(isAt)) : withoutNull(field, equalsInstant(time, times));
}

/**
 * Hashes of ids for IN, in one parameter, because ClickHouse accepts a thousand. Several are rows,
 * because ClickHouse builds no set from a computed array: that is 50 times slower for 2,000 ids,
 * and uses no index.
 */
function hashesOf(ids: readonly string[]): Expression {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) return list([fn.sipHash64(textValue(only))]);
  return rowsOf(select({ columns: { id_hash: fn.sipHash64(fn.arrayJoin(textValues(ids))) }, from: undefined }));
}

/** Looks up the hash first: it has an index, and a quarter of the size of the text. */
function planIdOneOf({ column: name, hash }: EventField, texts: readonly string[]): Expression {
  const isOne = equalsText(column(name), texts);
  return hash && texts.length > 0 ? allOf([isOneOf(column(hash), hashesOf(texts)), isOne]) : isOne;
}

function planPersonOneOf(texts: readonly string[], projectId: ProjectId): Expression {
  if (texts.length === 0) return FALSE;
  return isOfPeople(projectId, hashesOf(texts), { by: 'device_id', values: textValues(texts) });
}

/** Hashes of a distinct_id, and of the profiles with this e-mail address. */
function hashesOfPerson(id: string, projectId: ProjectId): Expression {
  const byId = select({ columns: { person_hash: fn.sipHash64(textValue(id)) }, from: undefined });
  const byEmail = select({
    columns: { person_hash: column('user_hash') },
    from: { kind: 'profiles', projectId, filter: [equals(column('email'), textValue(id))] },
  });
  return rowsOf(step('named_people', { kind: 'union', selects: [byId, byEmail] }));
}

/** Events of a person by distinct_id, or by the e-mail address of a profile. */
function planPerson(id: string, projectId: ProjectId): Expression {
  const hashes = hashesOfPerson(id, projectId);
  return isOfPeople(projectId, hashes, { by: 'device_hash', values: hashes });
}

/**
 * Hashes of the people whose events alone can match, when the condition names them: an event of a
 * device that is mapped to another person does not match.
 */
export function hashesOfPeople(condition: Condition, projectId: ProjectId): Expression | undefined {
  switch (condition.kind) {
    case 'and':
      return condition.items.map((item) => hashesOfPeople(item, projectId)).find(isDefined);
    case 'person':
      return hashesOfPerson(condition.id, projectId);
    case 'one_of': {
      const texts = condition.values.map(textOf).filter(isNotEmpty);
      return condition.field.kind === 'distinct_id' && texts.length > 0 ? hashesOf(texts) : undefined;
    }
    default:
      return undefined;
  }
}

/** An empty text in a column of text is a missing value, which equals nothing, not even "". */
function planTextOneOf({ expression: text, type }: Reading, values: readonly Literal[]): Expression {
  const texts = values.filter((value) => !isNumber(value) || isRounded(value)).map(textOf);
  const numbers = values
    .filter(isNumber)
    .filter(isExact)
    .map((value) => value.value);
  const isOneText = equalsText(text, type === 'nullable_text' ? texts : texts.filter(isNotEmpty));
  return anyOf([
    type === 'nullable_text' && isOneText !== FALSE ? nullAsFalse(isOneText) : isOneText,
    numbers.length === 0 ? FALSE : nullAsFalse(equalsNumber(numberInText(text), numbers)),
  ]);
}

function planNumberColumnOneOf(number: Expression, values: readonly Literal[]): Expression {
  const numbers = values
    .map((value) => (isBoolean(value) ? Number(value.value) : numberSpelled(value)))
    .filter((value) => value !== undefined);
  return equalsNumber(number, numbers);
}

/** A text equals a number with the same text form: "5" is the text form of 5, "5.0" is not. */
function numberSpelled(value: Literal): number | undefined {
  const number = tryParseNumberText(textOf(value));
  return isNumber(value) || String(number) === textOf(value) ? number : undefined;
}

const PLAIN_NUMBER = /^-?(0|[1-9]\d{0,14}|(?=[\d.]{3,16}$)(0|[1-9]\d*)\.\d{0,14}[1-9])$/;

/**
 * A text equals a number of the numeric map only when it is the text that ClickHouse formats the
 * number as. Up to fifteen digits without an exponent this is known here; for other numbers
 * ClickHouse formats the value.
 */
function isSpelledPlainly(text: string): boolean {
  const size = Math.abs(Number(text));
  return PLAIN_NUMBER.test(text) && text !== '-0' && (size === 0 || size >= 1e-5);
}

function planPropertyOneOf(field: PropertyField, values: readonly Literal[]): Expression {
  const texts = values.filter(isText).map((value) => value.text);
  const numbers = values
    .filter(isNumber)
    .filter(isExact)
    .map((value) => value.value);
  const rounded = values.filter(isNumber).filter(isRounded);
  const booleans = values.filter(isBoolean).map((value) => value.value);
  const str = property.valueIn(field, 'str');
  const num = property.valueIn(field, 'num');
  const isNumberItself = fn.not(property.inBucket(field, 'str'));

  const numericTexts = texts.filter((text) => tryParseNumberText(text) !== undefined);
  const plainTexts = numericTexts.filter(isSpelledPlainly);
  const oddTexts = numericTexts.filter((text) => !plainTexts.includes(text));
  const equalAsNumbers = [...plainTexts.map(Number), ...booleans.map(Number), ...rounded.map((value) => value.value)];
  const equalTexts = [...texts, ...booleans.map(String), ...rounded.map(textOf)];
  const equalBooleans = [...booleans.map(String), ...texts].filter((text) => text === 'true' || text === 'false');

  return anyOf([
    planNumericBucket(field, numbers),
    ...planGuessed(field, {
      str: anyOf([
        equalsText(str, equalTexts.filter(isNotEmpty)),
        texts.includes('') ? allOf([property.inBucket(field, 'str'), equals(str, constant(''))]) : FALSE,
      ]),
      num: anyOf([
        // Match only numbers themselves (or 1 for true), not numbers in texts.
        allOf([planNumericBucket(field, equalAsNumbers), isNumberItself]),
        oddTexts.length === 0
          ? FALSE
          : allOf([property.inBucket(field, 'num'), equalsText(fn.toString(num), oddTexts), isNumberItself]),
      ]),
      bool: planBooleanBucket(field, new Set(equalBooleans)),
    }),
  ]);
}

/**
 * Conditions on the maps of the guessed type, and a rejection of the guess when the others match.
 */
function planGuessed(field: PropertyField, conditions: Readonly<Record<Bucket, Expression>>): Expression[] {
  const needed = (Object.keys(conditions) as Bucket[]).filter((kind) => conditions[kind] !== FALSE);
  const read = needed.filter((kind) => guessedBuckets(field).includes(kind));
  const others = needed.filter((kind) => !read.includes(kind)).map((kind) => isItself(field, kind));
  return [...(others.length === 0 ? [] : [refuseWhere(field, others)]), ...read.map((kind) => conditions[kind])];
}

/** A missing key reads 0, so only a comparison that 0 satisfies must check its presence. */
function planNumericBucket(field: PropertyField, numbers: readonly number[]): Expression {
  const isEqual = equalsNumber(property.valueIn(field, 'num'), [...new Set(numbers)]);
  return numbers.some((number) => number === 0) ? allOf([property.inBucket(field, 'num'), isEqual]) : isEqual;
}

function planBooleanBucket(field: PropertyField, wanted: ReadonlySet<string>): Expression {
  const value = property.valueIn(field, 'bool');
  const isThere = property.inBucket(field, 'bool');
  if (wanted.size === 2) return isThere;
  if (wanted.has('true')) return value;
  return wanted.has('false') ? allOf([isThere, fn.not(value)]) : FALSE;
}

/** A numeric text is in the numeric map as well. */
const isItself = (field: PropertyField, kind: Bucket): Expression =>
  kind === 'num'
    ? allOf([property.inBucket(field, 'num'), fn.not(property.inBucket(field, 'str'))])
    : property.inBucket(field, kind);

type Order = Extract<Condition, { kind: 'order' }>;
type Contains = Extract<Condition, { kind: 'contains' }>;

const ZERO_PASSES: Readonly<Record<OrderOperator, (limit: number) => boolean>> = {
  '<': (limit) => 0 < limit,
  '<=': (limit) => 0 <= limit,
  '>': (limit) => 0 > limit,
  '>=': (limit) => 0 >= limit,
};

function planOrder({ field, operator, value }: Order): Expression {
  if (value.kind === 'instant') {
    return withoutNull(field, infix(operator, readText(field).expression, instant(value.ms)));
  }
  const number = value.kind === 'number' ? value.value : tryParseNumberText(textOf(value));
  if (number === undefined) return planTextOrder(field, operator, textOf(value));
  const limit = numberValue(number);
  switch (field.kind) {
    case 'property': {
      const passes = infix(operator, property.valueIn(field, 'num'), limit);
      return ZERO_PASSES[operator](number) ? allOf([property.inBucket(field, 'num'), passes]) : passes;
    }
    case 'column':
      if (field.field.type === 'number') return infix(operator, column(field.field.column), limit);
      return nullAsFalse(infix(operator, readNumber(field), limit));
    case 'cohort':
    case 'computed':
    case 'distinct_id':
      return nullAsFalse(infix(operator, readNumber(field), limit));
    default:
      return assertNever(field);
  }
}

function planTextOrder(field: ResolvedField, operator: OrderOperator, text: string): Expression {
  return withText(field, (form) => infix(operator, form, textValue(text)));
}

/** A condition on the text form; false where the value is missing. */
function withText(field: ResolvedField, test: (form: Expression) => Expression): Expression {
  const { expression, type } = readText(field);
  if (type === 'nullable_text') return nullAsFalse(test(expression));
  if (type === 'number') {
    return withoutNull(field, allOf([isPresentField(field), test(fn.toString(expression))]));
  }
  return allOf([infix('!=', expression, constant('')), test(expression)]);
}

const withoutNull = (field: ResolvedField, condition: Expression): Expression =>
  isOptional(field) ? nullAsFalse(condition) : condition;

const CONTAINS_AT: Readonly<Record<TextPlace, (form: Expression, text: Expression) => Expression>> = {
  anywhere: (form, text) => infix('>', fn.position(form, text), constant(0)),
  start: (form, text) => fn.startsWith(form, text),
  end: (form, text) => fn.endsWith(form, text),
};

/** Whether a number or a boolean, as text, could contain this. */
const canBeInNumber = (text: string): boolean => /^[-+0-9.einfa]*$/.test(text);
const canBeInBoolean = (text: string): boolean => 'true'.includes(text) || 'false'.includes(text);

function planContains({ field, place, text }: Contains): Expression {
  const test = (form: Expression) => CONTAINS_AT[place](form, textValue(text));
  // Present text contains "" also when it is empty, which the emptiness test of a column would
  // deny.
  const isOnlyInText = text !== '' && !canBeInNumber(text) && !canBeInBoolean(text);
  if (field.kind === 'property' && isOnlyInText) return test(property.valueIn(field, 'str'));
  if (field.kind === 'column' && readText(field).type === 'text' && text !== '') {
    return test(column(field.field.column));
  }
  if (text === '') return withText(field, (form) => fn.isNotNull(form));
  return withText(field, test);
}

const planMatches = (field: ResolvedField, pattern: string): Expression =>
  withText(field, (form) => fn.match(form, textValue(pattern)));
