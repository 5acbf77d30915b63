// Expressions that read a field: as text, as a number, for unique counts, and the missing value of
// each reading.
import { assertNever } from '../../platform/errors.js';
import type { CohortField, PropertyField, ResolvedField } from '../analyze/resolved.js';
import { type AnyBag, PROPERTY_BAGS } from '../fields.js';
import { digestOf, refusalText, tokenOf } from '../property-token.js';
import {
  alias,
  anyOf,
  column,
  constant,
  type Expression,
  element,
  infix,
  mapped,
  NULL,
  nullAsFalse,
  type PropertyColumn,
  type PropertyTypes,
  TRUE,
  textValue,
} from './expressions.js';
import { fn } from './functions.js';
import type { ColumnType } from './plan.js';

export type Bucket = 'str' | 'num' | 'bool';

export const bucket = (bag: AnyBag, kind: Bucket): PropertyColumn =>
  bag === 'user' ? `props_${kind}` : `${PROPERTY_BAGS[bag]}_${kind}`;

/** Property maps from which a properties object is rebuilt. A profile has no nulls. */
export const bucketsOf = (bag: AnyBag): PropertyColumn[] => {
  const typed = (['str', 'num', 'bool'] as const).map((kind) => bucket(bag, kind));
  return bag === 'user' ? typed : [...typed, `${PROPERTY_BAGS[bag]}_null`];
};

export const isPresent = (text: Expression): Expression => infix('!=', text, constant(''));

/** Hash of the event's distinct_id; 0 without user and device. */
export const person: Expression = fn.if(
  infix('!=', column('user_hash'), constant(0)),
  column('user_hash'),
  fn.if(infix('!=', mapped('user_hash'), constant(0)), mapped('user_hash'), column('device_hash')),
);

/** The event's distinct_id; empty without user and device. */
export const personText: Expression = fn.multiIf(
  isPresent(column('user_id')),
  column('user_id'),
  isPresent(mapped('user_id')),
  mapped('user_id'),
  column('device_id'),
);

/**
 * Sort key: a time since 1970, then an id. One text of the time's eight bytes (big-endian) and the
 * id, because ClickHouse compares tuples three times slower.
 */
export const positionOf = (time: Expression, id: Expression): Expression =>
  fn.concat(fn.reverse(fn.reinterpretAsFixedString(fn.toUnixTimestamp64Milli(time))), id);

/** Sort key of an event. */
export const eventPosition: Expression = positionOf(column('time'), column('insert_id'));

const valueAt = ({ bag, key }: PropertyField, kind: Bucket): Expression =>
  element(column(bucket(bag, kind)), textValue(key));

/** Types in the column of a row's keys; an empty text is of two. */
export const TYPE_LETTERS = { str: 's', empty: 'e', num: 'n', bool: 'b' } as const;
export const typesOf = (bag: AnyBag): PropertyTypes => (bag === 'user' ? 'props_types' : `${PROPERTY_BAGS[bag]}_types`);
const hasKey = ({ bag, key }: PropertyField, type: keyof typeof TYPE_LETTERS): Expression => {
  const written = key.replaceAll('%', '%25').replaceAll('|', '%7C');
  const found = fn.position(column(typesOf(bag)), textValue(`|${TYPE_LETTERS[type]}${written}|`));
  return infix('!=', found, constant(0));
};

/**
 * A joined map is copied for each event (five times slower than a single value), so single values
 * are extracted before the join.
 */
export function ofProfile(field: PropertyField, read: string, value: Expression): Expression {
  if (field.bag !== 'user') return value;
  return { kind: 'profile_property', name: `profile_${read}_${digestOf(field.key)}`, value };
}

const inBucket = (field: PropertyField, kind: Bucket): Expression =>
  ofProfile(field, `has_${kind}`, hasKey(field, kind));

const valueIn = (field: PropertyField, kind: Bucket): Expression => ofProfile(field, kind, valueAt(field, kind));

export const property = { inBucket, valueIn };

const GUESSED_BUCKET = { text: 'str', number: 'num', boolean: 'bool' } as const;
const BUCKETS: readonly Bucket[] = ['str', 'num', 'bool'];

/** An empty text is no value. */
const hasValue = (field: PropertyField): Expression =>
  infix(
    'OR',
    infix('AND', hasKey(field, 'str'), fn.not(hasKey(field, 'empty'))),
    hasKey(field, 'num'),
    hasKey(field, 'bool'),
  );

/** Property maps that the text form may read. */
export const guessedBuckets = ({ guess }: PropertyField): readonly Bucket[] =>
  guess === 'anything' ? BUCKETS : [GUESSED_BUCKET[guess]];

/** False, or fails the statement when one of these conditions holds, because the guess is wrong. */
export const refuseWhere = ({ bag, key, guess }: PropertyField, wrong: readonly Expression[]): Expression =>
  fn.throwIf(anyOf(wrong), textValue(refusalText({ token: tokenOf(bag, key), guess })));

/**
 * Text form under a guess. No other map is read; a key of one fails the statement where the event
 * has no value of the guessed type, because numbers in texts are in the numeric map too.
 */
export function textForm(field: PropertyField): Expression {
  const text = valueAt(field, 'str');
  const forms: Record<Bucket, readonly [Expression, Expression]> = {
    // A non-empty text is present: check the key only for empty ones.
    str: [infix('OR', isPresent(text), hasKey(field, 'str')), text],
    num: [hasKey(field, 'num'), fn.toString(valueAt(field, 'num'))],
    bool: [hasKey(field, 'bool'), fn.if(valueAt(field, 'bool'), constant('true'), constant('false'))],
  };
  const read = guessedBuckets(field);
  const others = BUCKETS.filter((kind) => !read.includes(kind)).map((kind) => hasKey(field, kind));
  const refusal = others.length === 0 ? [] : [refuseWhere(field, others), NULL];
  const values = read.flatMap((kind) => forms[kind]);
  const inOrder = field.guess === 'text' ? [...values, ...refusal] : [...refusal, ...values];
  return fn.multiIf(...inOrder, NULL);
}

/** The number in a text; null for other texts, including Infinity and NaN. */
export const numberInText = (text: Expression): Expression => finiteOrNull(fn.toFloat64OrNull(text));

const finiteOrNull = (number: Expression): Expression => fn.if(fn.isFinite(number), number, NULL);

export interface Reading {
  readonly expression: Expression;
  readonly type: ColumnType;
}

/**
 * A cohort with its value, added by sources/plans.ts. The browser bundles the resolved form, which
 * therefore has no expressions.
 */
export interface PlannedCohort extends CohortField {
  readonly value: Expression;
}

function valueOfCohort(cohort: CohortField | PlannedCohort): Expression {
  if ('value' in cohort) return cohort.value;
  throw new Error(`the cohort ${cohort.name} has no value in the plan`);
}

/** Text form, which groups use. */
export function readText(field: ResolvedField): Reading {
  switch (field.kind) {
    case 'column':
      return { expression: column(field.field.column), type: COLUMN_TYPE[field.field.type] };
    case 'cohort':
      return { expression: valueOfCohort(field), type: 'text' };
    case 'distinct_id':
      return { expression: personText, type: 'text' };
    case 'computed':
      return { expression: alias(field.alias), type: field.type };
    case 'property':
      return {
        expression: ofProfile(field, 'text', textForm(field)),
        type: 'nullable_text',
      };
    default:
      return assertNever(field);
  }
}

/** Whether the text form is of a number or boolean. */
export function isNoText(field: ResolvedField): Expression {
  if (field.kind === 'property') return fn.not(property.inBucket(field, 'str'));
  return constant(readText(field).type === 'number' ? 1 : 0);
}

const COLUMN_TYPE = {
  text: 'text',
  id: 'text',
  number: 'number',
  time: 'time',
  optional_number: 'number',
  optional_time: 'time',
} as const;

/** A time as text: RFC 3339 in UTC. */
export const timeText = (time: Expression): Expression =>
  fn.concat(fn.replaceOne(fn.toString(time), textValue(' '), textValue('T')), textValue('Z'));

/** Group value: the text form, except for numeric columns. */
export function readGroup(field: ResolvedField): Reading {
  const isSparse = field.kind === 'column' && field.field.type === 'optional_number';
  const reading = readText(field);
  return isSparse ? { expression: fn.toString(reading.expression), type: 'nullable_text' } : reading;
}

/** Numeric value or null. The numeric property map also holds the numbers in texts. */
export function readNumber(field: ResolvedField): Expression {
  switch (field.kind) {
    case 'column':
      if (field.field.type === 'number') return finiteOrNull(column(field.field.column));
      if (field.field.type === 'optional_number') return column(field.field.column);
      return numberInText(column(field.field.column));
    case 'cohort':
      return NULL;
    case 'distinct_id':
      return numberInText(personText);
    case 'computed':
      return field.numberAlias === undefined ? numberInText(alias(field.alias)) : alias(field.numberAlias);
    case 'property':
      return fn.if(inBucket(field, 'num'), valueIn(field, 'num'), NULL);
    default:
      return assertNever(field);
  }
}

/** Null when missing; a comparison with it is null. */
export const isOptional = (field: ResolvedField): boolean =>
  field.kind === 'column' && (field.field.type === 'optional_time' || field.field.type === 'optional_number');

export function isPresentField(field: ResolvedField): Expression {
  switch (field.kind) {
    case 'cohort':
      return TRUE;
    case 'computed':
      if (field.type === 'nullable_text') return nullAsFalse(isPresent(alias(field.alias)));
      return field.type === 'text' ? isPresent(alias(field.alias)) : fn.isNotNull(alias(field.alias));
    case 'distinct_id':
      // Mappings belong to devices, so an event without ids stays without a person.
      return infix(
        'OR',
        infix('!=', column('user_hash'), constant(0)),
        infix('!=', column('device_hash'), constant(0)),
      );
    case 'property':
      return ofProfile(field, 'is_present', hasValue(field));
    case 'column': {
      const value = column(field.field.column);
      if (field.field.type === 'time') return TRUE;
      if (isOptional(field)) return fn.isNotNull(value);
      if (field.field.type === 'number') return fn.not(fn.isNaN(value));
      return field.field.hash ? infix('!=', column(field.field.hash), constant(0)) : isPresent(value);
    }
    default:
      return assertNever(field);
  }
}
