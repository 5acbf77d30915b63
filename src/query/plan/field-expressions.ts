// How a field is read: as text, as a number, as something to count, and what a missing value is in each reading.
import { createHash } from 'node:crypto';
import { assertNever } from '../../platform/errors.js';
import type { ResolvedField } from '../analyze/resolved.js';
import { type AnyBag, PROPERTY_BAGS } from '../fields.js';
import { alias, call, column, constant, infix, mapValue, not, textParameter } from './expressions.js';
import type { ColumnType, Expression, ProfileProperty, PropertyColumn, Stitching } from './plan.js';

type Bucket = 'str' | 'num' | 'bool';

export const bucket = (bag: AnyBag, kind: Bucket): PropertyColumn =>
  bag === 'user' ? `props_${kind}` : `${PROPERTY_BAGS[bag]}_${kind}`;

/** The buckets that a bag is put together from again. A profile has no nulls. */
export const bucketsOf = (bag: AnyBag): PropertyColumn[] => {
  const typed = (['str', 'num', 'bool'] as const).map((kind) => bucket(bag, kind));
  return bag === 'user' ? typed : [...typed, `${PROPERTY_BAGS[bag]}_null`];
};

const mapped = (of: 'uid' | 'user_id'): Expression => ({ kind: 'mapped', column: of });
const isPresent = (text: Expression): Expression => infix('!=', text, constant(''));

/** Hash of the event's distinct_id; 0 when it has neither a user nor a device. */
export const actor: Expression = call(
  'if',
  infix('!=', column('uid'), constant(0)),
  column('uid'),
  call('if', infix('!=', mapped('uid'), constant(0)), mapped('uid'), column('did')),
);

/** The event's distinct_id; empty when it has neither a user nor a device. */
export const actorText: Expression = call(
  'multiIf',
  isPresent(column('user_id')),
  column('user_id'),
  isPresent(mapped('user_id')),
  mapped('user_id'),
  column('device_id'),
);

/**
 * Where an event stands among others: by time, and by insert_id where times are equal. As one text of the time's eight
 * bytes, the highest first, and the id, because the engine compares tuples three times slower.
 */
export const eventPosition: Expression = call(
  'concat',
  call('reverse', call('reinterpretAsFixedString', call('toUnixTimestamp64Milli', column('time')))),
  column('insert_id'),
);

/**
 * Joined to events, a map is copied for each of them (five times slower than a single value), so what is read of it is taken
 * out before. A key is somebody's text, and must not become a name in SQL; its digest may.
 */
function profileProperty(kind: Bucket, key: string, read: ProfileProperty['read']): ProfileProperty {
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 16);
  const name = `profile_${read === 'presence' ? 'has_' : ''}${kind}_${digest}`;
  return { kind: 'profile_property', name, read, map: `props_${kind}`, key };
}

const inBucket = (field: Property, kind: Bucket): Expression =>
  field.bag === 'user'
    ? profileProperty(kind, field.key, 'presence')
    : call('mapContains', column(bucket(field.bag, kind)), textParameter(field.key));

const valueIn = (field: Property, kind: Bucket): Expression =>
  field.bag === 'user'
    ? profileProperty(kind, field.key, 'value')
    : mapValue(bucket(field.bag, kind), textParameter(field.key));

export type Property = Extract<ResolvedField, { kind: 'property' }>;
export const property = { inBucket, valueIn };

/** Text that is a number, as that number; null otherwise. Infinity and NaN are words here, not numbers. */
export const numberInText = (text: Expression): Expression => finiteOrNull(call('toFloat64OrNull', text));

const finiteOrNull = (number: Expression): Expression => call('if', call('isFinite', number), number, constant('NULL'));

export interface Reading {
  readonly expression: Expression;
  readonly type: ColumnType;
}

/** The text form, which is what groups are made of. */
export function readText(field: ResolvedField): Reading {
  switch (field.kind) {
    case 'column':
      return { expression: column(field.field.column), type: COLUMN_TYPE[field.field.type] };
    case 'distinct_id':
      return { expression: actorText, type: 'text' };
    case 'computed':
      return { expression: alias(field.alias), type: field.type };
    case 'property':
      return {
        expression: call(
          'multiIf',
          inBucket(field, 'str'),
          valueIn(field, 'str'),
          inBucket(field, 'num'),
          call('toString', valueIn(field, 'num')),
          inBucket(field, 'bool'),
          call('if', valueIn(field, 'bool'), constant('true'), constant('false')),
          constant('NULL'),
        ),
        type: 'nullable_text',
      };
    default:
      return assertNever(field);
  }
}

const COLUMN_TYPE = {
  text: 'text',
  id: 'text',
  number: 'number',
  time: 'time',
  optional_number: 'number',
  optional_time: 'time',
} as const;

/** A time in a text, as answers write it: RFC 3339 in UTC. */
export const timeText = (time: Expression): Expression =>
  call(
    'concat',
    call('replaceOne', call('toString', time), textParameter(' '), textParameter('T')),
    textParameter('Z'),
  );

/** What groups are made of: the text form of numbers too, except where a column holds nothing else. */
export function readGroup(field: ResolvedField): Reading {
  const isSparse = field.kind === 'column' && field.field.type === 'optional_number';
  const reading = readText(field);
  return isSparse ? { expression: call('toString', reading.expression), type: 'nullable_text' } : reading;
}

/** The numeric reading, or null. The numeric bucket of properties also holds the numbers in texts. */
export function readNumber(field: ResolvedField): Expression {
  switch (field.kind) {
    case 'column':
      if (field.field.type === 'number') return finiteOrNull(column(field.field.column));
      if (field.field.type === 'optional_number') return column(field.field.column);
      return numberInText(column(field.field.column));
    case 'distinct_id':
      return numberInText(actorText);
    case 'computed':
      return field.numberAlias === undefined ? numberInText(alias(field.alias)) : alias(field.numberAlias);
    case 'property':
      return call('if', inBucket(field, 'num'), valueIn(field, 'num'), constant('NULL'));
    default:
      return assertNever(field);
  }
}

/** How many different values there are, leaving out the events that have none. */
export function countDistinct(field: ResolvedField): Expression {
  switch (field.kind) {
    case 'distinct_id':
      return call('uniqExactIf', actor, isPresentField(field));
    case 'property':
      return call('uniqExact', readText(field).expression);
    case 'computed':
      return call('uniqExact', alias(field.alias));
    case 'column': {
      const { hash, type, column: name } = field.field;
      const value = column(hash ?? name);
      if (hash) return call('uniqExactIf', value, infix('!=', value, constant(0)));
      if (type === 'time' || type === 'optional_time' || type === 'optional_number') return call('uniqExact', value);
      return call('uniqExactIf', value, type === 'number' ? not(call('isNaN', value)) : isPresent(value));
    }
    default:
      return assertNever(field);
  }
}

/** Null where it is missing, so that a comparison may be neither true nor false. */
export const isOptional = (field: ResolvedField): boolean =>
  field.kind === 'column' && (field.field.type === 'optional_time' || field.field.type === 'optional_number');

export function isPresentField(field: ResolvedField): Expression {
  switch (field.kind) {
    case 'computed':
      return field.type === 'text' ? isPresent(alias(field.alias)) : call('isNotNull', alias(field.alias));
    case 'distinct_id':
      // A mapping belongs to a device, so it never gives an identity to an event that has none.
      return infix('OR', infix('!=', column('uid'), constant(0)), infix('!=', column('did'), constant(0)));
    case 'property':
      return infix('OR', isPresent(valueIn(field, 'str')), inBucket(field, 'num'), inBucket(field, 'bool'));
    case 'column': {
      const value = column(field.field.column);
      if (field.field.type === 'time') return constant(1);
      if (isOptional(field)) return call('isNotNull', value);
      if (field.field.type === 'number') return not(call('isNaN', value));
      return field.field.hash ? infix('!=', column(field.field.hash), constant(0)) : isPresent(value);
    }
    default:
      return assertNever(field);
  }
}

/** What stitching an expression needs of the scan below it. */
export function stitchingOf(expressions: readonly Expression[]): Stitching {
  const needs = expressions.map(mappedColumn);
  if (needs.includes('user_id')) return 'text';
  return needs.includes('uid') ? 'hash' : 'none';
}

function mappedColumn(expression: Expression): 'uid' | 'user_id' | undefined {
  switch (expression.kind) {
    case 'mapped':
      return expression.column;
    case 'call':
    case 'infix': {
      const inner = expression.kind === 'call' ? expression.arguments : expression.operands;
      const found = inner.map(mappedColumn);
      return found.find((need) => need === 'user_id') ?? found.find((need) => need === 'uid');
    }
    case 'lambda':
      return mappedColumn(expression.body);
    case 'tuple_element':
      return mappedColumn(expression.of);
    default:
      return undefined;
  }
}
