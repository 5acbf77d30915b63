// Plan of formulas: all terms are aggregates of one scan; the arithmetic runs over them per row or bucket.
import type { Measure, ResolvedQuery } from '../../analyze/resolved.js';
import { areOfTypes, isIn } from '../../conditions/plan-events.js';
import { GROUP, passThrough, planAnswer } from '../../plan/behaviour.js';
import { alias, allOf, call, column, constant, infix, parameter } from '../../plan/expressions.js';
import { countDistinct, readNumber } from '../../plan/field-expressions.js';
import type { Expression, Plan, Select, SelectColumn } from '../../plan/plan.js';
import { bucketOf, bucketType, fillOf } from '../../time/buckets.js';
import { aliasOrder, type PlanContext, scanEvents } from '../events/plan.js';
import type { FormulaExpression, FormulaQuery } from './analyze.js';

type Term = Extract<FormulaExpression, { kind: 'term' }>;

function termsOf(expression: FormulaExpression): Term[] {
  switch (expression.kind) {
    case 'number':
      return [];
    case 'term':
      return [expression];
    case 'binary':
      return [...termsOf(expression.left), ...termsOf(expression.right)];
  }
}

const planTerm = ({ events, measure }: Term, { projectId }: PlanContext): Expression =>
  planMeasure(measure, isIn(events, projectId));

/** Converts to Float64, because integer arithmetic of ClickHouse wraps around. */
function planMeasure(measure: Measure, isOfTerm: Expression): Expression {
  switch (measure.kind) {
    case 'count':
      return call('toFloat64', call('countIf', isOfTerm));
    case 'unique': {
      const distinct = countDistinct(measure.field);
      if (distinct.kind !== 'call') throw new Error('values are counted by a call');
      const [value, isCounted] = distinct.arguments;
      if (value === undefined) throw new Error('a value is counted');
      return call('toFloat64', call('uniqExactIf', value, isCounted ? allOf([isOfTerm, isCounted]) : isOfTerm));
    }
    case 'numeric': {
      const number = readNumber(measure.field);
      if (measure.function === 'avg') return call('avgIf', number, isOfTerm);
      return call('ifNull', call('sumIf', number, isOfTerm), constant(0));
    }
  }
}

const termAlias = (index: number): string => `m${index}`;

/** `terms` are the distinct terms as text; the position is the column number. */
function planExpression(expression: FormulaExpression, terms: readonly string[]): Expression {
  switch (expression.kind) {
    case 'number':
      return parameter('Float64', expression.value);
    case 'term':
      return alias(termAlias(terms.indexOf(JSON.stringify(expression))));
    case 'binary': {
      const left = planExpression(expression.left, terms);
      const right = planExpression(expression.right, terms);
      // Use the divisor once: twice, nested divisions would double the statement per level.
      return infix(expression.operator, left, expression.operator === '/' ? call('nullIf', right, constant(0)) : right);
    }
  }
}

export function planFormula(query: FormulaQuery & ResolvedQuery, context: PlanContext): Plan {
  const { selection, granularity, timezone } = query;
  const terms = termsOf(query.expression);
  const texts = [...new Set(terms.map((term) => JSON.stringify(term)))];
  const bucketing = granularity && { granularity, timezone };
  const columns: SelectColumn[] = [
    ...(bucketing ? [{ alias: GROUP, expression: bucketOf(column('time'), bucketing) }] : []),
    ...texts.map((text, index) => ({
      alias: termAlias(index),
      expression: planTerm(JSON.parse(text) as Term, context),
    })),
    // A formula without terms reads no events and still has one row.
    ...(texts.length === 0 ? [{ alias: termAlias(0), expression: call('count') }] : []),
  ];
  const aggregated: Select = {
    kind: 'select',
    columns,
    from: scanEvents(context, {
      selection,
      reads: columns.map((of) => of.expression),
      filter: areOfTypes(terms.map(({ events }) => events)),
    }),
    groupBy: bucketing ? [GROUP] : [],
    ...(bucketing && { orderBy: [aliasOrder(GROUP, 'asc')], fill: fillOf(selection.range, bucketing) }),
  };
  return planAnswer({
    query,
    order: query.order,
    range: selection.range,
    context,
    mode: 'formula',
    select: {
      kind: 'select',
      columns: [
        ...passThrough(...(bucketing ? [GROUP] : [])),
        { alias: 'result', expression: planExpression(query.expression, texts) },
      ],
      from: aggregated,
      // Sort by the result too: otherwise ClickHouse skips the sort after WITH FILL and omits filled rows from
      // rows_before_limit.
      ...(bucketing && { orderBy: [aliasOrder(GROUP, 'asc'), aliasOrder('result', 'asc')] }),
    },
    columns: [
      ...(granularity ? [{ name: granularity, type: bucketType(granularity) }] : []),
      { name: 'value', type: 'number' },
    ],
  });
}
