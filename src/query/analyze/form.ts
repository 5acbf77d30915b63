// Checks a query against the table of limits (limits.ts) before its names are resolved: a query
// that exceeds one is rejected without the cost that the limit bounds.

import { estimateStates } from '../conditions/pattern.js';
import { FORM_LIMITS, type FormLimitName } from '../limits.js';
import {
  type Call,
  type Comparison,
  type Condition,
  callComparisonsIn,
  comparisonsIn,
  type EventPattern,
  type Expression,
  type GroupKey,
  type Query,
  type Source,
  type Stage,
  stagesOf,
} from '../parse/syntax.js';
import { spanOfKey } from './groups.js';
import { report, type Scope } from './scope.js';

type Placed = Pick<Comparison, 'span'>;

/** Reports each exceeded limit at the first item beyond it. Returns whether there was none. */
export function isWithinLimits(scope: Scope, { source, stages }: Query): boolean {
  const before = scope.problems.length;
  const inWhere = [...stagesOf(stages, 'where').map((stage) => stage.condition), ...cohortsIn(stages)];
  const calls = inWhere.flatMap(callComparisonsIn).map(({ call }) => call);
  const events = [
    ...(source === undefined || source === 'broken' ? [] : eventsOfSource(source)),
    ...stages.flatMap(eventsOfStage),
    ...calls.map(({ event }) => event),
  ];
  const comparisons = [...events.flatMap(comparisonsOf), ...inWhere.flatMap(comparisonsIn)];
  checkNesting(scope, [...inWhere, ...events.flatMap(conditionsOf)]);
  const patterns = comparisons.filter(({ operator }) => operator.text.endsWith('~'));
  check(scope, 'conditions', [...comparisons, ...calls], 'the query has', 'conditions');
  check(scope, 'calls', calls, 'the conditions have', 'calls');
  check(scope, 'callKeys', firstOfEachKey(calls), 'the calls have', 'different per');
  check(
    scope,
    'events',
    events.flatMap(({ matches }) => matches),
    'the query names',
    'events',
  );
  check(scope, 'conditionFields', firstOfEachField(comparisons), 'the conditions name', 'different fields');
  check(scope, 'patterns', patterns, 'the query has', 'regular expressions');
  checkStates(scope, patterns);
  check(scope, 'stages', stages, 'the query has', 'stages');
  check(scope, 'groups', stages.flatMap(groupsOf), 'by has', 'fields');
  check(
    scope,
    'listFields',
    stagesOf(stages, 'list').flatMap((stage) => stage.fields),
    'list has',
    'fields',
  );
  check(
    scope,
    'sortKeys',
    stagesOf(stages, 'sort').flatMap(({ keys }) => keys.map((key) => key.field)),
    'sort has',
    'columns',
  );
  if (source !== undefined && source !== 'broken') checkSource(scope, source, stages);
  return scope.problems.length === before;
}

function checkSource(scope: Scope, source: Source, stages: readonly Stage[]): void {
  if (source.kind === 'funnel') {
    const excluded = [...source.exclude, ...stagesOf(stages, 'exclude').flatMap((stage) => stage.events)];
    check(scope, 'steps', source.steps, 'the funnel has', 'steps');
    check(scope, 'excluded', excluded, 'the funnel excludes', 'events');
  }
  if (source.kind === 'formula') {
    const calls = source.columns.flatMap(({ expression }) => callsIn(expression));
    check(scope, 'calls', calls, 'the formula has', 'calls');
  }
}

function check(scope: Scope, limit: FormLimitName, items: readonly Placed[], who: string, what: string): void {
  const { max, hint } = FORM_LIMITS[limit];
  const firstBeyond = items[max];
  if (firstBeyond) report(scope, firstBeyond.span, `${who} ${items.length} ${what}; the limit is ${max}`, hint);
}

/** A large pattern is not parsed to measure it, because parsing it is slow. */
function checkStates(scope: Scope, patterns: readonly Comparison[]): void {
  const { max, hint } = FORM_LIMITS.patternStates;
  let states = 0;
  let beyond: Placed | undefined;
  for (const value of patterns.flatMap((pattern) => pattern.values)) {
    states += value.kind === 'text' ? estimateStates(value.text) : 1;
    if (states > max) beyond ??= value;
  }
  if (!beyond) return;
  const message = `the regular expressions of the query have about ${states} states; the limit is ${max}`;
  report(scope, beyond.span, message, hint);
}

/** The parser bounds what is written; definitions within each other are deeper. */
function checkNesting(scope: Scope, conditions: readonly Condition[]): void {
  const { max, hint } = FORM_LIMITS.nesting;
  // The outermost chain has no parentheses, nor has that of several where.
  const tooDeep = conditions.find((condition) => depthOf(condition) > max + 2);
  if (tooDeep) report(scope, tooDeep.span, `the conditions are nested deeper than ${max} levels`, hint);
}

function depthOf(condition: Condition): number {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return 1 + Math.max(0, ...condition.items.map(depthOf));
    case 'not':
      return 1 + depthOf(condition.item);
    default:
      return 0;
  }
}

const conditionsOf = ({ matches }: EventPattern): Condition[] =>
  matches.flatMap(({ condition }) => (condition ? [condition] : []));

const comparisonsOf = (event: EventPattern): Comparison[] => conditionsOf(event).flatMap(comparisonsIn);

/** The conditions of cohorts that are groups. */
const cohortsIn = (stages: readonly Stage[]): Condition[] =>
  stages.flatMap(keysOf).flatMap((key) => (key.kind === 'name' && key.name.cohort ? [key.name.cohort] : []));

function eventsOfSource(source: Source): readonly EventPattern[] {
  switch (source.kind) {
    case 'event':
    case 'lifecycle':
    case 'stickiness':
    case 'inspect':
      return [source.event];
    case 'funnel':
      return [...source.steps, ...source.exclude];
    case 'retention':
      return [source.start, ...(source.returning ? [source.returning] : [])];
    case 'paths':
      return [source.anchor];
    case 'formula':
      return source.columns.flatMap(({ expression }) => callsIn(expression)).map(({ event }) => event);
    default:
      return [];
  }
}

function eventsOfStage(stage: Stage): readonly EventPattern[] {
  if (stage.kind === 'exclude' || stage.kind === 'guard') return stage.events;
  if (stage.kind === 'results') return stage.call ? [stage.call.event] : [];
  return stage.kind === 'returning' ? [stage.event] : [];
}

function firstOfEachField(comparisons: readonly Comparison[]): Placed[] {
  const byPath = new Map<string, Placed>();
  for (const { field } of comparisons) if (!byPath.has(field.path)) byPath.set(field.path, field);
  return [...byPath.values()];
}

/** Calls without `per` are of the person. */
const firstOfEachKey = (calls: readonly Call[]): Placed[] =>
  calls.filter(({ per }, index) => calls.findIndex((other) => other.per?.path === per?.path) === index);

const keysOf = (stage: Stage): readonly GroupKey[] =>
  stage.kind === 'by' ? stage.keys : stage.kind === 'aggregate' ? stage.by : [];

const groupsOf = (stage: Stage): readonly Placed[] => keysOf(stage).map((key) => ({ span: spanOfKey(key) }));

function callsIn(expression: Expression): Call[] {
  switch (expression.kind) {
    case 'number':
      return [];
    case 'call':
      return [expression];
    case 'negative':
      return callsIn(expression.operand);
    case 'binary':
      return [...callsIn(expression.left), ...callsIn(expression.right)];
  }
}
