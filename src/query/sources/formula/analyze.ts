// Analyzer of the source `formula`: arithmetic over aggregates of events.

import { directionOf } from '../../analyze/aggregate.js';
import { type AnswerOrder, takeAnswerOrder } from '../../analyze/answer-order.js';
import { checkCompared, columnsOfEarlier } from '../../analyze/compared.js';
import { resultAlias } from '../../analyze/grouped-columns.js';
import { checkBuckets, resolveGroups } from '../../analyze/groups.js';
import { takeHaving } from '../../analyze/having.js';
import { isTimeField } from '../../analyze/resolve-field.js';
import type { Condition, EventSelection, EventSet, Group, Measure, TimeRange, Unit } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import { takeEarlier, takeSelection } from '../../analyze/selection.js';
import type { StageReader } from '../../analyze/stage-reader.js';
import { takeUnit } from '../../analyze/unit.js';
import { changeName, namesOfCompared, previousName } from '../../compared-names.js';
import { findFieldOrProperty, resolveEvents } from '../../conditions/events.js';
import { findNearest, quote } from '../../errors.js';
import { formulaNames } from '../../formula-names.js';
import { isDefined } from '../../is-defined.js';
import type * as syntax from '../../parse/syntax.js';
import { type CalendarSpan, resolveSpan } from '../../time/range.js';
import type { Windows } from '../../time/windows.js';
import { findWindows } from './call-ranges.js';

export interface FormulaSource {
  readonly columns: readonly [syntax.FormulaColumn, ...syntax.FormulaColumn[]];
}

/** Arithmetic over aggregates. */
export type FormulaExpression =
  | { readonly kind: 'number'; readonly value: number }
  | FormulaTerm
  | {
      readonly kind: 'binary';
      readonly operator: '+' | '-' | '*' | '/';
      readonly left: FormulaExpression;
      readonly right: FormulaExpression;
    };

export interface FormulaTerm {
  readonly kind: 'term';
  readonly events: EventSet;
  readonly measure: Measure;
  /**
   * Length of the call's own range, which ends with the bucket; undefined: the range of the query.
   */
  readonly last: CalendarSpan | undefined;
}

export interface FormulaColumn {
  readonly name: string;
  readonly expression: FormulaExpression;
}

export interface FormulaQuery extends AnswerOrder {
  readonly kind: 'formula';
  /** Has no event type: the events of all terms are read together. */
  readonly selection: EventSelection;
  readonly columns: readonly FormulaColumn[];
  readonly groups: readonly Group[];
  /** What `unique(event)` counts; undefined: people. */
  readonly unit: Unit | undefined;
  /** The range of `compare`. */
  readonly earlier: TimeRange | undefined;
  /** Set when a call has its own range and the rows are time buckets. */
  readonly windows: Windows | undefined;
  readonly earlierWindows: Windows | undefined;
  /** Keeps rows of the answer. */
  readonly having: Condition | undefined;
}

type Call = Extract<syntax.Expression, { kind: 'call' }>;

const FUNCTIONS = ['count', 'unique', 'sum', 'avg'] as const;
const FORM = 'functions are count(event), unique(event), unique(event, field), sum(event, field) and avg(event, field)';

export function analyzeFormula(scope: Scope, source: FormulaSource, stages: StageReader): FormulaQuery | undefined {
  const own = formulaNames(source.columns);
  const named = { ...scope, columns: [...(scope.columns ?? []), ...own, ...namesOfCompared(...own)] };
  const selection = takeSelection(named, stages);
  const keys = stages.takeAll('by').flatMap((stage) => stage.keys);
  const groups = resolveGroups(scope, keys);
  checkBuckets(scope, keys, selection.range);
  checkNames(scope, source.columns, groups);
  const earlier = takeEarlier(scope, stages, selection);
  if (earlier) checkCompared(scope, { groups, keys, size: undefined, range: earlier });
  const added = earlier ? columnsBeside(own, groups) : {};
  if (earlier) checkBeside(scope, source.columns, Object.keys(added));
  const answer = takeAnswerOrder(scope, stages, {
    columns: [...groups.map(({ name }) => name), ...own, ...Object.keys(added)],
    ascending: groups.filter((group) => directionOf(group) === 'asc').map(({ name }) => name),
    metric: own[0],
  });
  const results = Object.fromEntries(own.map((name, index) => [name, resultAlias(index)]));
  const computed = { ...results, ...added };
  const rounded = Object.keys(computed);
  const having = takeHaving(scope, stages, { computed, groups, rounded, size: stages.firstSize });
  const windows = findWindows(scope, source.columns, { groups, range: selection.range });
  const unit = takeUnit(scope, stages);
  const countsPeople = source.columns.some(({ expression }) => hasPeople(expression));
  for (const stage of countsPeople ? [] : stages.takeAll('unit')) refuseUnit(scope, stage);
  const earlierWindows = earlier && windows && findWindows(scope, source.columns, { groups, range: earlier });
  const columns = source.columns.map(({ expression: written }, index): FormulaColumn | undefined => {
    const expression = resolveExpression(scope, written, unit);
    return expression && { name: own[index] ?? '', expression };
  });
  if (!columns.every(isDefined)) return undefined;
  return { kind: 'formula', selection, columns, groups, unit, earlier, windows, earlierWindows, having, ...answer };
}

/** Whether a call counts people. */
function hasPeople(expression: syntax.Expression): boolean {
  switch (expression.kind) {
    case 'number':
      return false;
    case 'call':
      return expression.name.text === 'unique' && expression.field === undefined;
    case 'negative':
      return hasPeople(expression.operand);
    case 'binary':
      return hasPeople(expression.left) || hasPeople(expression.right);
  }
}

const refuseUnit = (scope: Scope, { span }: syntax.StageOf<'unit'>): undefined =>
  report(scope, span, 'no call of the formula counts people', 'unit goes with unique(event): unique(purchase)');

/** The names of the columns differ from each other and from the groups. */
function checkNames(scope: Scope, columns: readonly syntax.FormulaColumn[], groups: readonly Group[]): void {
  const names = formulaNames(columns);
  for (const [index, column] of columns.entries()) {
    const name = names[index] ?? '';
    const place = column.alias?.span ?? column.span;
    if (name === '') {
      report(scope, place, 'the name of the column is empty', 'write a word: count(signup) as signups');
    } else if (groups.some((group) => group.name === name)) {
      report(
        scope,
        place,
        `${quote(name)} is the name of a group`,
        'name the column differently: count(signup) as signups',
      );
    } else if (names.indexOf(name) < index) {
      report(scope, place, `two columns are named ${quote(name)}`, 'name one of them differently');
    }
  }
}

/** The columns of `compare`, and those of the plan. */
function columnsBeside(names: readonly string[], groups: readonly Group[]): Readonly<Record<string, string>> {
  const { previous: _, change: __, ...bucket } = columnsOfEarlier(groups);
  const planned = names.flatMap((_, index) => [previousName(resultAlias(index)), changeName(resultAlias(index))]);
  const metrics = namesOfCompared(...names).map((name, index) => [name, planned[index] ?? '']);
  return { ...bucket, ...Object.fromEntries(metrics) };
}

function checkBeside(scope: Scope, columns: readonly syntax.FormulaColumn[], added: readonly string[]): void {
  for (const { alias } of columns) {
    if (alias === undefined || !added.includes(alias.text)) continue;
    report(scope, alias.span, `${quote(alias.text)} is the name of a column of compare`, 'name the column differently');
  }
}

function resolveExpression(
  scope: Scope,
  expression: syntax.Expression,
  unit: Unit | undefined,
): FormulaExpression | undefined {
  switch (expression.kind) {
    case 'number':
      return { kind: 'number', value: expression.value };
    case 'negative': {
      const operand = resolveExpression(scope, expression.operand, unit);
      return operand && { kind: 'binary', operator: '-', left: { kind: 'number', value: 0 }, right: operand };
    }
    case 'binary': {
      const left = resolveExpression(scope, expression.left, unit);
      const right = resolveExpression(scope, expression.right, unit);
      return left && right && { kind: 'binary', operator: expression.operator, left, right };
    }
    case 'call': {
      const { event, last: length, per } = expression;
      const measure = resolveMeasure(scope, expression, unit);
      const events = resolveEvents(scope, event);
      const last = length && resolveSpan(scope, length);
      if (per)
        report(scope, per.span, 'per does not fit a formula', `groups come after by: formula … | by ${per.written}`);
      if (length && !last) return undefined;
      return measure && events && { kind: 'term', events, measure, last };
    }
  }
}

function resolveMeasure(
  scope: Scope,
  { name, field: written, span }: Call,
  unit: Unit | undefined,
): Measure | undefined {
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
    if (known === 'unique') return { kind: 'unique', field: unit ?? { kind: 'distinct_id', name: 'distinct_id' } };
    return report(scope, span, `${known} has no field`, `write ${known}(purchase, event_properties.price)`);
  }
  const field = findFieldOrProperty(scope, written);
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
