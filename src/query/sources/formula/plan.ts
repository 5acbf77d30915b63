// Plan of formulas: all terms are aggregates of one scan; the arithmetic runs over them per row or bucket.
import type { ProjectId } from '../../../platform/ids.js';
import type { Measure, ResolvedQuery } from '../../analyze/resolved.js';
import { areOfTypes, isIn } from '../../conditions/plan-events.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { orderBy, passThrough, planAnswer } from '../../plan/answer.js';
import { alias, allOf, column, constant, type Expression, infix, numberValue } from '../../plan/expressions.js';
import { distinctValue, readNumber } from '../../plan/field-expressions.js';
import { fn } from '../../plan/functions.js';
import { type Columns, type Plan, select, step } from '../../plan/plan.js';
import { bucketOf, bucketType, fillOf } from '../../time/buckets.js';
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

/** Converts to Float64, because integer arithmetic of ClickHouse wraps around. */
function planTerm(measure: Measure, isOfTerm: Expression): Expression {
  switch (measure.kind) {
    case 'count':
      return fn.toFloat64(fn.countIf(isOfTerm));
    case 'unique': {
      const { value, isPresent } = distinctValue(measure.field);
      return fn.toFloat64(fn.uniqExactIf(value, isPresent ? allOf([isOfTerm, isPresent]) : isOfTerm));
    }
    case 'numeric': {
      const number = readNumber(measure.field);
      if (measure.function === 'avg') return fn.avgIf(number, isOfTerm);
      return fn.ifNull(fn.sumIf(number, isOfTerm), constant(0));
    }
  }
}

/** The distinct terms of a formula as columns. Equal terms are one column. */
class Terms {
  readonly columns: Record<string, Expression> = {};
  private readonly aliases = new Map<string, string>();

  constructor(terms: readonly Term[], projectId: ProjectId) {
    for (const term of terms) {
      const name = `term_${this.aliases.size + 1}`;
      if (this.aliases.has(JSON.stringify(term))) continue;
      this.aliases.set(JSON.stringify(term), name);
      this.columns[name] = planTerm(term.measure, isIn(term.events, projectId));
    }
  }

  aliasOf(term: Term): string {
    return this.aliases.get(JSON.stringify(term)) ?? '';
  }
}

function planExpression(expression: FormulaExpression, terms: Terms): Expression {
  switch (expression.kind) {
    case 'number':
      return numberValue(expression.value);
    case 'term':
      return alias(terms.aliasOf(expression));
    case 'binary': {
      const left = planExpression(expression.left, terms);
      const right = planExpression(expression.right, terms);
      // Use the divisor once: twice, nested divisions would double the statement per level.
      return infix(expression.operator, left, expression.operator === '/' ? fn.nullIf(right, constant(0)) : right);
    }
  }
}

export function planFormula(query: FormulaQuery & ResolvedQuery, context: PlanContext): Plan {
  const { selection, granularity, timezone } = query;
  const found = termsOf(query.expression);
  const terms = new Terms(found, context.projectId);
  const bucketing = granularity && { granularity, timezone };
  const bucket: Columns = bucketing ? { bucket: bucketOf(column('time'), bucketing) } : {};
  const aggregated = selectEvents(context, {
    selection,
    // A formula without terms reads no events and still has one row.
    columns: { ...bucket, ...(found.length > 0 ? terms.columns : { events: fn.count() }) },
    filter: areOfTypes(found.map(({ events }) => events)),
    groupBy: Object.keys(bucket),
  });
  return planAnswer({
    query,
    order: query.order,
    range: selection.range,
    context,
    mode: 'formula',
    select: select({
      columns: { ...passThrough(...Object.keys(bucket)), result: planExpression(query.expression, terms) },
      from: step('terms', {
        ...aggregated,
        ...(bucketing && { orderBy: [orderBy('bucket')], fill: fillOf(selection.range, bucketing) }),
      }),
      // Sort by the result too: otherwise ClickHouse skips the sort after WITH FILL and omits filled rows from
      // rows_before_limit.
      ...(bucketing && { orderBy: [orderBy('bucket'), orderBy('result')] }),
    }),
    columns: [
      ...(granularity ? [{ name: granularity, type: bucketType(granularity) }] : []),
      { name: 'value', type: 'number' },
    ],
  });
}
