// Analyzer of the source `formula`: arithmetic over aggregates of events.

import { resolveAnswerOrder } from '../../analyze/answer-order.js';
import { resolveBehaviour, resolveBy } from '../../analyze/behaviour.js';
import { checkBuckets, isTimeField, resolveField } from '../../analyze/resolve-field.js';
import type { FormulaExpression, Measure, ResolvedQuery } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { isKind } from '../../analyze/stages.js';
import { resolveEvents } from '../../conditions/events.js';
import { findNearest, quote } from '../../errors.js';
import { GRANULARITIES } from '../../fields.js';
import type * as syntax from '../../parse/syntax.js';
import { lastDays } from '../../time/range.js';

type FormulaSource = Extract<syntax.Source, { kind: 'formula' }>;
type Call = Extract<syntax.Expression, { kind: 'call' }>;

const DEFAULT_DAYS = 7;
const FUNCTIONS = ['count', 'unique', 'sum', 'avg'] as const;
const FORM = 'functions are count(event), unique(event), unique(event, field), sum(event, field) and avg(event, field)';

export function analyzeFormula(
  scope: Scope,
  source: FormulaSource,
  stages: readonly syntax.Stage[],
): ResolvedQuery | undefined {
  const { range, condition, rowsMax } = resolveBehaviour(scope, {
    source: 'formula',
    stages,
    fits: ['by', 'sort', 'top'],
    answers: 'answers one value',
    fallback: lastDays(scope.nowMs, DEFAULT_DAYS),
  });
  for (const stage of stages.filter(isKind('where'))) checkCondition(scope, stage.condition);
  const { granularity } = resolveBy(scope, stages, {
    source: 'formula',
    granularities: GRANULARITIES,
    takesField: false,
  });
  checkBuckets(
    scope,
    stages.filter(isKind('by')).flatMap((stage) => stage.keys),
    range,
  );
  const expression = resolveExpression(scope, onlyColumn(scope, source));
  if (!expression) return undefined;
  return {
    kind: 'formula',
    selection: { eventTypes: undefined, range, condition },
    expression,
    granularity,
    ...resolveAnswerOrder(scope, stages, {
      columns: [...(granularity ? [granularity] : []), 'value'],
      metric: 'value',
    }),
    rowsMax,
    timezone: scope.timezone,
    warnings: scope.warnings,
  };
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
