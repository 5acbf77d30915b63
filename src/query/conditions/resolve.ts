// Resolves conditions: negated operators become `not`, and each value gets the type of its field.

import { mentionValues } from '../analyze/mentions.js';
import { isTimeField, resolveField, SESSION_PREFIXES } from '../analyze/resolve-field.js';
import type { Condition, Literal, OrderOperator, ResolvedField, TextPlace } from '../analyze/resolved.js';
import { type CallComparison, report, type Scope } from '../analyze/scope.js';
import { quote, type Span } from '../errors.js';
import { DISTINCT_ID, findEventField, PROPERTY_BAGS } from '../fields.js';
import { isDefined } from '../is-defined.js';
import { FORM_LIMITS } from '../limits.js';
import { textOf } from '../literal-text.js';
import type * as syntax from '../parse/syntax.js';
import { isSessionKey } from '../session-fields.js';
import { MOMENT_FORM, tryParseMoment } from '../time/moment.js';
import { findPatternProblem } from './pattern.js';

/** All of them; undefined without conditions. */
export const joinConditions = (conditions: readonly Condition[]): Condition | undefined =>
  conditions.length > 1 ? { kind: 'and', items: conditions } : conditions[0];

const not = (item: Condition): Condition => ({ kind: 'not', item });

export function resolveCondition(scope: Scope, condition: syntax.Condition): Condition | undefined {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const items = condition.items.map((item) => resolveCondition(scope, item)).filter(isDefined);
      return items.length === condition.items.length ? { kind: condition.kind, items } : undefined;
    }
    case 'not': {
      const item = resolveCondition(scope, condition.item);
      return item && not(item);
    }
    case 'comparison':
      return resolveComparison(scope, condition);
    case 'call_comparison':
      return scope.resolveCall ? scope.resolveCall(scope, condition) : refuseCall(scope, condition);
  }
}

/** In brackets, and in filters of rows of the answer. */
const refuseCall = (scope: Scope, { call }: CallComparison): undefined =>
  report(
    scope,
    call.span,
    `${call.name.text}(…) does not fit here`,
    'it is a number of a person, not of one event or row of the answer: write it in a where of its own before the aggregate',
  );

type Comparison = Extract<syntax.Condition, { kind: 'comparison' }>;

const TEXT_PLACE: ReadonlyMap<string, TextPlace> = new Map([
  ['contains', 'anywhere'],
  ['starts with', 'start'],
  ['ends with', 'end'],
]);
const EQUALITY: readonly string[] = ['=', 'in', '!=', 'not in'];
const PATTERN_OPERATORS: readonly string[] = ['~', '!~'];

/** The operator without its `not`. */
const positiveOf = (operator: string): string => operator.replace(/^not /, '');
const isTextOperator = (operator: string): boolean =>
  TEXT_PLACE.has(positiveOf(operator)) || PATTERN_OPERATORS.includes(operator);

function resolveComparison(scope: Scope, comparison: Comparison): Condition | undefined {
  const field = resolveField(scope, comparison.field);
  if (field && isTimeField(field) && isTextOperator(comparison.operator.text)) {
    return report(
      scope,
      comparison.operator.span,
      `${comparison.operator.text} does not fit ${field.name}, which is a time`,
      'times take =, !=, <, <=, >, >= and in',
    );
  }
  if (field && isTimeField(field) && !isWithinLimit(scope, comparison)) return undefined;
  // Resolve values of unknown fields too, to report their problems in the same answer.
  const values = comparison.values.map((value) => resolveValue(scope, field, value)).filter(isDefined);
  if (!field || values.length < comparison.values.length) return undefined;
  if (EQUALITY.includes(comparison.operator.text)) mentionValues(scope.mentions, field, values);
  const [value] = values;
  switch (comparison.operator.text) {
    case '=':
    case 'in':
      warnOfEmptyText(scope, comparison, field, values);
      return { kind: 'one_of', field, values };
    case '!=':
    case 'not in':
      warnOfEmptyText(scope, comparison, field, values);
      return not({ kind: 'one_of', field, values });
    case '<':
    case '<=':
    case '>':
    case '>=':
      warnOfUnit(scope, comparison, value);
      return value && { kind: 'order', field, operator: comparison.operator.text as OrderOperator, value };
    case 'exists':
      return { kind: 'exists', field };
    case 'not exists':
      return not({ kind: 'exists', field });
    default:
      if (isTextOperator(comparison.operator.text)) {
        return value && resolveTextMatch(scope, comparison, field, value);
      }
      return reportOperator(scope, comparison.operator);
  }
}

/** Counts across all conditions; beyond the limit, no further time is resolved. */
function isWithinLimit(scope: Scope, { values }: Comparison): boolean {
  const { max, hint } = FORM_LIMITS.times;
  const before = scope.named.times;
  scope.named.times += values.length;
  const firstBeyond = before <= max ? values[max - before] : undefined;
  if (firstBeyond) report(scope, firstBeyond.span, `the conditions name more than ${max} times`, hint);
  return scope.named.times <= max;
}

function resolveTextMatch(
  scope: Scope,
  comparison: Comparison,
  field: ResolvedField,
  value: Literal,
): Condition | undefined {
  const operator = comparison.operator.text;
  const text = textOf(value);
  const place = TEXT_PLACE.get(positiveOf(operator));
  const condition: Condition =
    place === undefined ? { kind: 'matches', field, pattern: text } : { kind: 'contains', field, place, text };
  if (place === undefined) checkPattern(scope, comparison.values[0], text);
  return operator.startsWith('not') || operator.startsWith('!') ? not(condition) : condition;
}

function checkPattern(scope: Scope, value: syntax.Value | undefined, pattern: string): void {
  const problem = findPatternProblem(pattern);
  if (problem && value) report(scope, spanOfPiece(value, pattern, problem.piece), problem.message, problem.hint);
}

/**
 * The span of the invalid part within its literal, if it occurs once and without escapes before it.
 */
function spanOfPiece({ span }: syntax.Value, pattern: string, piece: string | undefined): Span {
  const isPlain = span.within === undefined && span.to - span.from === pattern.length + 2;
  const at = piece === undefined || !isPlain ? -1 : pattern.indexOf(piece);
  if (piece === undefined || at < 0 || at !== pattern.lastIndexOf(piece)) return span;
  return { from: span.from + 1 + at, to: span.from + 1 + at + piece.length };
}

/** Columns store missing text as '', so a comparison with "" is misleading: warn. */
function warnOfEmptyText(scope: Scope, comparison: Comparison, field: ResolvedField, values: readonly Literal[]): void {
  const { kind } = ('valuesOf' in field && field.valuesOf) || field;
  if (kind === 'property' || !values.some((value) => value.kind === 'text' && value.text === '')) return;
  const isNegative = comparison.operator.text.startsWith('not') || comparison.operator.text.startsWith('!');
  scope.warnings.push(
    `${field.name} is never empty text: where it is missing, ${isNegative ? '!= "" matches; use exists' : '= "" does not match; use not exists'}`,
  );
}

const NUMBER_WITH_UNIT = /^\d+[a-z]+$/i;

/** `price > 1k` compares texts, in which "1k" is below "2" and "999" above both. */
function warnOfUnit(scope: Scope, { operator, values: [written] }: Comparison, value: Literal | undefined): void {
  if (value?.kind !== 'text' || written?.kind === 'text' || !NUMBER_WITH_UNIT.test(value.text)) return;
  scope.warnings.push(
    `${operator.text} ${value.text} compares texts: a number has digits alone, and text goes in quotes`,
  );
}

const OPERATOR_MEANT: ReadonlyMap<string, string> = new Map([
  ['==', '='],
  ['<>', '!='],
  ['=~', '~'],
]);

function reportOperator(scope: Scope, operator: syntax.Text): undefined {
  const meant = OPERATOR_MEANT.get(operator.text);
  return report(
    scope,
    operator.span,
    `unknown operator ${quote(operator.text)}`,
    meant
      ? `write ${meant}`
      : 'operators are =, !=, <, <=, >, >=, ~, !~, contains, starts with, ends with, in, exists, and not before the words',
    meant,
  );
}

const PREFIXES: readonly string[] = [...Object.keys(PROPERTY_BAGS), 'user'];

/**
 * Whether a word is an event field anywhere. Bare names of profiles or exposures may be meant as
 * text.
 */
export function isFieldName(word: string): boolean {
  const [prefix = '', ...rest] = word.split('.');
  const key = rest.join('.');
  if (key === '') return word === DISTINCT_ID || findEventField(word) !== undefined;
  return PREFIXES.includes(prefix) || (SESSION_PREFIXES.some((known) => known === prefix) && isSessionKey(key));
}

function resolveValue(scope: Scope, field: ResolvedField | undefined, value: syntax.Value): Literal | undefined {
  if (value.kind === 'word' && isFieldName(value.text)) {
    return report(
      scope,
      value.span,
      `${quote(value.text)} is a field where a value is expected`,
      `two fields cannot be compared; as text it is written "${value.text}"`,
    );
  }
  if (value.kind === 'word' && value.text.toLowerCase() === 'null') {
    return report(
      scope,
      value.span,
      `${quote(value.text)} is not a value`,
      'a field that is missing or null is found with: field not exists',
    );
  }
  if (field && isTimeField(field)) return resolveMoment(scope, field, value);
  switch (value.kind) {
    case 'number': {
      const number = Number(value.text);
      if (Number.isFinite(number)) return { kind: 'number', value: number, text: value.text };
      return report(
        scope,
        value.span,
        `the number ${quote(value.text)} is too large`,
        'numbers are 64-bit floating point',
      );
    }
    case 'boolean':
      return { kind: 'boolean', value: value.value };
    case 'text':
    case 'word':
    case 'moment':
      return { kind: 'text', text: value.text };
  }
}

function resolveMoment(scope: Scope, field: ResolvedField, value: syntax.Value): Literal | undefined {
  const text = value.kind === 'boolean' ? String(value.value) : value.text;
  const ms = tryParseMoment(text, (field.kind === 'column' && field.zone) || scope.timezone);
  if (ms !== undefined) return { kind: 'instant', ms };
  return report(scope, value.span, `${field.name} is a time, and ${quote(text)} is not`, MOMENT_FORM);
}
