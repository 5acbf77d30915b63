// Subjects of distinct counts (`unique`, `unit`): people, values of a field, or units of one or two
// fields, as hashes where the table has them.
import { assertNever } from '../../platform/errors.js';
import type { Measure, ResolvedField, Unit } from '../analyze/resolved.js';
import { alias, allOf, column, constant, type Expression, infix, NULL } from './expressions.js';
import { isOptional, isPresent, isPresentField, ofProfile, person, readText, textForm } from './field-expressions.js';
import { fn } from './functions.js';

interface DistinctValue {
  readonly value: Expression;
  /** When values are present; undefined when missing ones are null, which uniqExact skips. */
  readonly isPresent?: Expression;
}

export type Subject = Required<DistinctValue>;

/** What is counted as distinct values of a field: its hash, if there is one. */
export function distinctValue(field: ResolvedField | Unit): DistinctValue {
  switch (field.kind) {
    case 'unit':
      return hashOfUnit(field);
    case 'distinct_id':
      return { value: person, isPresent: isPresentField(field) };
    case 'property':
      return { value: readText(field).expression };
    case 'cohort':
      return { value: readText(field).expression };
    case 'computed':
      return { value: alias(field.alias) };
    case 'column': {
      const { hash, type, column: name } = field.field;
      const value = column(hash ?? name);
      if (hash) return { value, isPresent: infix('!=', value, constant(0)) };
      if (type === 'time' || isOptional(field)) return { value };
      return { value, isPresent: type === 'number' ? fn.not(fn.isNaN(value)) : isPresent(value) };
    }
    default:
      return assertNever(field);
  }
}

/** Hash of the text form; 0 when it is missing or empty. */
function hashOf(field: ResolvedField): Expression {
  if (field.kind === 'distinct_id') return person;
  if (field.kind === 'property') return ofProfile(field, 'hash', hashOfText(fn.ifNull(textForm(field), constant(''))));
  if (field.kind === 'column' && field.field.hash) return column(field.field.hash);
  const { expression, type } = readText(field);
  if (type === 'text') return hashOfText(expression);
  const text = fn.ifNull(fn.toString(expression), constant(''));
  return hashOfText(isOptional(field) ? text : fn.if(fn.isNaN(expression), constant(''), text));
}

const hashOfText = (text: Expression): Expression => fn.if(isPresent(text), fn.xxh3(text), constant(0));

/**
 * Hashes of units are grouped in less time than their texts. A profile has its hash computed before
 * it is joined.
 */
function hashOfUnit({ fields }: Pick<Unit, 'fields'>): Subject {
  const hashes = fields.map(hashOf);
  const [first, ...others] = hashes;
  const areThere = fields.map((field, index) =>
    field.kind === 'distinct_id' ? isPresentField(field) : infix('!=', hashes[index] ?? first ?? NULL, constant(0)),
  );
  return {
    value: first && others.length === 0 ? first : fn.xxh3(...hashes),
    isPresent: allOf(areThere),
  };
}

const PEOPLE: Pick<Unit, 'fields'> = { fields: [{ kind: 'distinct_id', name: 'distinct_id' }] };

/** What behaviour is grouped by: the unit of the query, or the person of the event. */
export const subjectOf = (unit: Unit | undefined): Subject => hashOfUnit(unit ?? PEOPLE);

/** Number of distinct present values. */
export function countDistinct(field: ResolvedField | Unit): Expression {
  const { value, isPresent } = distinctValue(field);
  return isPresent ? fn.uniqExactIf(value, isPresent) : fn.uniqExact(value);
}

/** Filter of an aggregate over units: events without one are left out. */
export const hasUnit = (measure: Measure): Expression[] =>
  measure.kind === 'unique' && measure.field.kind === 'unit' ? [hashOfUnit(measure.field).isPresent] : [];
