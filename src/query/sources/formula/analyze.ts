// Analyzer of the source `formula`: arithmetic over aggregates of events.

import { type AnswerOrder, takeAnswerOrder } from '../../analyze/answer-order.js';
import { takeBy } from '../../analyze/by.js';
import { checkBuckets, isTimeField, resolveField } from '../../analyze/resolve-field.js';
import type { EventSelection, EventSet, Measure } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { takeSelection } from '../../analyze/selection.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { resolveEvents } from '../../conditions/events.js';
import { findNearest, quote } from '../../errors.js';
import { GRANULARITIES, type Granularity } from '../../fields.js';
import type * as syntax from '../../parse/syntax.js';

export interface FormulaSource {
  readonly columns: readonly [syntax.FormulaColumn, ...syntax.FormulaColumn[]];
}

/** Arithmetic over aggregates. */
export type FormulaExpression =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'term'; readonly events: EventSet; readonly measure: Measure }
  | {
      readonly kind: 'binary';
      readonly operator: '+' | '-' | '*' | '/';
      readonly left: FormulaExpression;
      readonly right: FormulaExpression;
    };

export interface FormulaQuery extends AnswerOrder {
  readonly kind: 'formula';
  /** Has no event type: the events of all terms are read together. */
  readonly selection: EventSelection;
  readonly expression: FormulaExpression;
  readonly granularity: Granularity | undefined;
}

type Call = Extract<syntax.Expression, { kind: 'call' }>;

const FUNCTIONS = ['count', 'unique', 'sum', 'avg'] as const;
const FORM = 'functions are count(event), unique(event), unique(event, field), sum(event, field) and avg(event, field)';

export function analyzeFormula(scope: Scope, source: FormulaSource, stages: StageReader): FormulaQuery | undefined {
  const selection = takeSelection(scope, stages);
  for (const stage of stages.takeAll('where')) checkCondition(scope, stage.condition);
  const { keys, granularity } = takeBy(scope, stages, { granularities: GRANULARITIES, takesField: false });
  checkBuckets(scope, keys, selection.range);
  const answer = takeAnswerOrder(scope, stages, {
    columns: [...(granularity ? [granularity] : []), 'value'],
    metric: 'value',
  });
  const expression = resolveExpression(scope, onlyColumn(scope, source));
  return expression && { kind: 'formula', selection, expression, granularity, ...answer };
}

function onlyColumn(scope: Scope, { columns }: FormulaSource): syntax.Expression {
  const [first, ...others] = columns;
  for (const { span } of others) report(scope, span, 'the formula has a second column', 'write a query for each');
  if (first?.alias) report(scope, first.alias.span, 'the column of a formula is called value', 'remove as');
  return first.expression;
}

function checkCondition(scope: Scope, condition: syntax.Condition): void {
  switch (condition.kind) {
    case 'and':
    case 'or':
      for (const item of condition.items) checkCondition(scope, item);
      return;
    case 'not':
      checkCondition(scope, condition.item);
      return;
    case 'comparison':
      checkField(scope, condition.field);
      return;
    case 'call_comparison':
  }
}

function checkField(scope: Scope, field: syntax.FieldName): void {
  if (!field.path.startsWith('user.')) return;
  report(
    scope,
    field.span,
    `formula has no profile fields, such as ${quote(field.written)}`,
    'event fields, event_properties.KEY and user_properties.KEY are available',
  );
}

function resolveExpression(scope: Scope, expression: syntax.Expression): FormulaExpression | undefined {
  switch (expression.kind) {
    case 'number':
      return { kind: 'number', value: expression.value };
    case 'negative': {
      const operand = resolveExpression(scope, expression.operand);
      return operand && { kind: 'binary', operator: '-', left: { kind: 'number', value: 0 }, right: operand };
    }
    case 'binary': {
      const left = resolveExpression(scope, expression.left);
      const right = resolveExpression(scope, expression.right);
      return left && right && { kind: 'binary', operator: expression.operator, left, right };
    }
    case 'call': {
      const measure = resolveMeasure(scope, expression);
      const events = resolveEvents(scope, expression.event);
      return measure && events && { kind: 'term', events, measure };
    }
  }
}

function resolveMeasure(scope: Scope, { name, field: written, span }: Call): Measure | undefined {
  const known = FUNCTIONS.find((candidate) => candidate === name.text);
  if (known === undefined) {
    const nearest = findNearest(name.text, FUNCTIONS);
    return report(
      scope,
      name.span,
      `unknown function ${quote(name.text)}`,
      nearest ? `nearest is "${nearest}"; ${FORM}` : FORM,
      nearest,
    );
  }
  if (known === 'count') {
    if (!written) return { kind: 'count' };
    return report(scope, written.span, `count takes no field, but has ${quote(written.written)}`, FORM);
  }
  if (!written) {
    if (known === 'unique') return { kind: 'unique', field: { kind: 'distinct_id', name: 'distinct_id' } };
    return report(scope, span, `${known} has no field`, `write ${known}(purchase, event_properties.price)`);
  }
  checkField(scope, written);
  const field = resolveField(scope, written);
  if (!field) return undefined;
  if (known === 'unique') return { kind: 'unique', field };
  if (isTimeField(field)) {
    return report(
      scope,
      written.span,
      `${known} does not fit ${written.written}, which is a time`,
      'it takes a field that holds numbers',
    );
  }
  return { kind: 'numeric', function: known, field };
}
