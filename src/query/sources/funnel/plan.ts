// Plan of funnels. ClickHouse's windowFunnel returns how far a person came, but neither the times of the steps nor the value at
// the start. So the times of each step are collected per person, and all attempts advance level by level: an attempt is
// (deadline, time of step 1, …, time of step k), and each level takes the earliest remaining event of the next step, which
// is never worse than a later one. Attempts start in order and stay in order, so a level is one merge of two sorted arrays,
// and the first attempt of the last non-empty level counts. Lambdas capture no arrays, because ClickHouse would copy them
// per element.

import type { EventSet, ResolvedQuery } from '../../analyze/resolved.js';
import { areDisjoint } from '../../conditions/events.js';
import { areOfTypes, isIn } from '../../conditions/plan-events.js';
import {
  type BreakdownPlan,
  element,
  eventMs,
  first,
  GROUP,
  hasIdentity,
  integer,
  mapEach,
  passThrough,
  planAnswer,
  planBreakdown,
  ratio,
} from '../../plan/behaviour.js';
import {
  alias,
  allOf,
  anyOf,
  call,
  column,
  constant,
  equals,
  infix,
  lambda,
  parameter,
  textParameter,
  tupleElement,
} from '../../plan/expressions.js';
import { actor } from '../../plan/field-expressions.js';
import type { Expression, OutputColumn, Plan, Select, SelectColumn } from '../../plan/plan.js';
import { type PlanContext, scanEvents } from '../events/plan.js';
import type { FunnelQuery } from './analyze.js';

type ResolvedFunnel = FunnelQuery & ResolvedQuery;

// ---- Moments in one number ----

/**
 * Packs a time with its tie-breakers into one number, so that one sorted array holds two kinds: the time, then the rank among
 * events of equal time, then one bit for the kind.
 */
const RANK_AND_KIND_BITS = integer(6);
const RANK_MAX = 31;

const packed = (ms: Expression, ...rest: readonly Expression[]): Expression =>
  infix('+', call('bitShiftLeft', ms, RANK_AND_KIND_BITS), ...rest);
const unpacked = (value: Expression): Expression => call('bitShiftRight', value, RANK_AND_KIND_BITS);
const rank = (value: Expression): Expression => call('bitShiftLeft', value, constant(1));
const kindOf = (value: Expression): Expression => call('bitAnd', value, constant(1));

/** For each number of kind `asks` in the sorted array: the next number of the other kind, or itself. */
function nextOfOtherKind(merged: string, asks: 0 | 1): Expression {
  const filled = mapEach('arrayReverseFill', alias(merged), (v) => infix('!=', kindOf(v), constant(asks)));
  return call('arrayFilter', lambda(['f', 'v'], equals(kindOf(alias('v')), constant(asks))), filled, alias(merged));
}

const merge = (left: Expression, right: Expression): Expression => call('arraySort', call('arrayConcat', left, right));

// ---- Selects, from the innermost to the outermost ----

const timesOf = (index: number): string => `t${index}`;
const attemptsOf = (level: number): string => `a${level}`;

interface Funnel {
  readonly query: ResolvedFunnel;
  /** Distinct events of the steps, and the index of each step's. */
  readonly sets: readonly EventSet[];
  readonly setOfStep: readonly number[];
  /** Whether one event may be of several sets: times are then positions, see `planPositions`. */
  readonly isByPosition: boolean;
  readonly breakdown: BreakdownPlan | undefined;
}

/** One row per person with a first step: sorted times per set of events, and of excluded events. */
function planPeople({ query, sets, isByPosition, breakdown }: Funnel, context: PlanContext): Select {
  const gather = (value: Expression, ...of: readonly EventSet[]): Expression =>
    call('arraySort', call('groupArrayIf', value, anyOf(of.map((set) => isIn(set, context.projectId)))));
  const starts = breakdown && call('tuple', eventMs, column('insert_id'), breakdown.value);
  const times = sets.map((set, index) => ({ alias: timesOf(index), expression: gather(eventMs, set) }));
  const memberships = infix(
    '+',
    ...sets.map((set, index) => infix('*', isIn(set, context.projectId), integer(2 ** index))),
  );
  const moment = call('tuple', eventMs, memberships, ...(breakdown ? [column('insert_id'), breakdown.value] : []));
  const columns: SelectColumn[] = [
    { alias: 'person', expression: actor },
    ...(isByPosition ? [{ alias: 'moments', expression: gather(moment, ...sets) }] : times),
    ...(query.exclude.length > 0 ? [{ alias: 'x', expression: gather(eventMs, ...query.exclude) }] : []),
    ...(starts && !isByPosition ? [{ alias: 'starts', expression: gather(starts, ...sets.slice(0, 1)) }] : []),
  ];
  const begins = isByPosition
    ? infix('>', call('countIf', anyOf(sets.slice(0, 1).map((set) => isIn(set, context.projectId)))), constant(0))
    : call('notEmpty', alias(timesOf(0)));
  const people: Select = {
    kind: 'select',
    columns,
    from: scanEvents(context, {
      selection: query.selection,
      reads: columns.map((of) => of.expression),
      filter: [...areOfTypes([...sets, ...query.exclude]), hasIdentity],
    }),
    groupBy: ['person'],
    having: begins,
  };
  return isByPosition ? planPositions({ query, sets, breakdown }, people) : people;
}

// ---- Positions ----

/** A position is a time with the event's rank among the person's events of equal time. */
const RANK_BITS = integer(5);
const MEMBERSHIPS = 2;
const VALUE = 4;

/**
 * When one event may be of several sets, steps are compared by positions instead of times, so that no event serves two steps:
 * each step is at a later position than the one before. Of equal times, events of earlier steps come first.
 */
function planPositions(
  { query, sets, breakdown }: Pick<Funnel, 'query' | 'sets' | 'breakdown'>,
  people: Select,
): Select {
  const [moments, moment] = [alias('moments'), alias('m')];
  const times = mapEach('arrayMap', moments, (v) => tupleElement(v, 1));
  const ranked = infix(
    '+',
    call('bitShiftLeft', tupleElement(moment, 1), RANK_BITS),
    call('least', infix('-', alias('n'), constant(1)), integer(RANK_MAX)),
  );
  const kept = passThrough('person', ...(query.exclude.length > 0 ? ['x'] : []));
  const positioned: Select = {
    kind: 'select',
    columns: [
      ...kept,
      ...passThrough('moments'),
      {
        alias: 'positions',
        expression: call('arrayMap', lambda(['m', 'n'], ranked), moments, call('arrayEnumerateUniq', times)),
      },
    ],
    from: people,
  };
  const isOfSet = (index: number): Expression =>
    infix('!=', call('bitAnd', tupleElement(moment, MEMBERSHIPS), integer(2 ** index)), constant(0));
  const ofSet = (value: Expression, index: number): Expression =>
    call('arrayFilter', lambda(['v', 'm'], isOfSet(index)), value, moments);
  const start = call('tuple', alias('p'), textParameter(''), tupleElement(moment, VALUE));
  const valued = call('arrayMap', lambda(['p', 'm'], start), alias('positions'), moments);
  return {
    kind: 'select',
    columns: [
      ...kept,
      ...sets.map((_, index) => ({ alias: timesOf(index), expression: ofSet(alias('positions'), index) })),
      ...(breakdown ? [{ alias: 'starts', expression: ofSet(valued, 0) }] : []),
    ],
    from: positioned,
  };
}

/** Milliseconds of a time or a position. */
const msOf = ({ isByPosition }: Funnel, value: Expression): Expression =>
  isByPosition ? call('bitShiftRight', value, RANK_BITS) : value;

/** Attempts at step 1: (deadline, start). An excluded event ends the attempts that started before it. */
function planStarts(funnel: Funnel, people: Select): Select {
  const { query, sets, breakdown } = funnel;
  const kept = passThrough(...sets.map((_, index) => timesOf(index)), ...(breakdown ? ['starts'] : []));
  const endOf = (start: Expression): Expression => infix('+', msOf(funnel, start), integer(query.windowMs));
  if (query.exclude.length === 0) {
    const attempts = mapEach('arrayMap', alias(timesOf(0)), (v) => call('tuple', endOf(v), v));
    return { kind: 'select', columns: [...kept, { alias: attemptsOf(1), expression: attempts }], from: people };
  }
  const merged = merge(
    mapEach('arrayMap', alias('x'), (v) => packed(v)),
    mapEach('arrayMap', alias(timesOf(0)), (v) => packed(msOf(funnel, v), constant(1))),
  );
  const withMerged: Select = { kind: 'select', columns: [...kept, { alias: 'm', expression: merged }], from: people };
  const next = alias('n');
  const broken = infix('-', unpacked(next), constant(1));
  const deadline = call(
    'if',
    equals(kindOf(next), constant(0)),
    call('least', endOf(alias('v')), broken),
    endOf(alias('v')),
  );
  const attempts = call(
    'arrayMap',
    lambda(['v', 'n'], call('tuple', deadline, alias('v'))),
    alias(timesOf(0)),
    nextOfOtherKind('m', 1),
  );
  return { kind: 'select', columns: [...kept, { alias: attemptsOf(1), expression: attempts }], from: withMerged };
}

/** Advances the attempts of `level` by one step. */
function planLevel(funnel: Funnel, level: number, from: Select): Select {
  const { sets, setOfStep, isByPosition, breakdown } = funnel;
  const set = setOfStep[level] ?? 0;
  const attempts = alias(attemptsOf(level));
  const timeOf = (attempt: Expression, step: number): Expression => tupleElement(attempt, step + 2);
  const names = [
    ...sets.map((_, index) => timesOf(index)),
    ...(breakdown ? ['starts'] : []),
    ...Array.from({ length: level }, (_, index) => attemptsOf(index + 1)),
  ];

  // One event serves one step: skip as many events of equal time as the attempt has used.
  const usedBy = (attempt: Expression): Expression[] => {
    const isUsed = setOfStep
      .slice(0, level)
      .flatMap((of, step) => (of === set ? [equals(timeOf(attempt, step), timeOf(attempt, level - 1))] : []));
    const [one] = isUsed;
    return one === undefined ? [] : [rank(isUsed.length === 1 ? one : infix('+', ...isUsed))];
  };
  const isRepeated = !isByPosition && setOfStep.slice(0, level).includes(set);
  const times = alias(timesOf(set));
  const events = isRepeated
    ? call(
        'arrayMap',
        lambda(
          ['v', 'n'],
          packed(alias('v'), rank(call('least', infix('-', alias('n'), constant(1)), integer(RANK_MAX))), constant(1)),
        ),
        times,
        call('arrayEnumerateUniq', times),
      )
    : mapEach('arrayMap', times, (v) => packed(v, constant(1)));
  const merged = merge(
    mapEach('arrayMap', attempts, (v) =>
      isByPosition ? packed(infix('+', timeOf(v, level - 1), constant(1))) : packed(timeOf(v, level - 1), ...usedBy(v)),
    ),
    events,
  );
  const withMerged: Select = {
    kind: 'select',
    columns: [...passThrough(...names), { alias: 'm', expression: merged }],
    from,
  };

  const [attempt, next] = [alias('v'), alias('n')];
  const isInTime = allOf([
    equals(kindOf(next), constant(1)),
    infix('<=', msOf(funnel, unpacked(next)), tupleElement(attempt, 1)),
  ]);
  const taken = Array.from({ length: level + 1 }, (_, index) => tupleElement(attempt, index + 1));
  const followed = call(
    'arrayMap',
    lambda(['v', 'n'], call('tuple', ...taken, call('if', isInTime, unpacked(next), constant(0)))),
    attempts,
    nextOfOtherKind('m', 0),
  );
  const alive = mapEach('arrayFilter', followed, (v) => infix('>', timeOf(v, level), constant(0)));
  return {
    kind: 'select',
    columns: [...passThrough(...names), { alias: attemptsOf(level + 1), expression: alive }],
    from: withMerged,
  };
}

/** The counted attempt of each person: the times of its steps. */
function planCounted({ query, breakdown }: Funnel, from: Select): Select {
  const timeAt = (level: number, step: number): Expression => tupleElement(first(alias(attemptsOf(level))), step + 2);
  const levels = query.steps.map((_, index) => query.steps.length - index);
  const ofCounted = (read: (level: number) => Expression): Expression =>
    call(
      'multiIf',
      ...levels.slice(0, -1).flatMap((level) => [call('notEmpty', alias(attemptsOf(level))), read(level)]),
      read(1),
    );
  const timesAt = (level: number): Expression =>
    call('array', ...Array.from({ length: level }, (_, step) => timeAt(level, step)));
  return {
    kind: 'select',
    columns: [
      ...(breakdown ? passThrough('starts') : []),
      { alias: 'started', expression: ofCounted((level) => timeAt(level, 0)) },
      { alias: 'times', expression: ofCounted(timesAt) },
    ],
    from,
  };
}

/** People and medians per step as arrays: one row, or one per breakdown value. */
function planBlocks(funnel: Funnel, counted: Select): Select {
  const { breakdown } = funnel;
  const times = alias('times');
  const began = alias('started');
  const value =
    breakdown &&
    tupleElement(
      mapEach('arrayFirst', alias('starts'), (v) => equals(tupleElement(v, 1), began)),
      3,
    );
  return {
    kind: 'select',
    columns: [
      ...(value ? [{ alias: GROUP, expression: value }] : []),
      {
        alias: 'reached',
        expression: call(
          'sumForEach',
          mapEach('arrayMap', times, () => constant(1)),
        ),
      },
      {
        alias: 'medians',
        expression: {
          kind: 'call',
          name: 'quantileExactInclusiveForEach',
          settings: [0.5],
          arguments: [mapEach('arrayMap', times, (v) => infix('-', msOf(funnel, v), msOf(funnel, began)))],
        },
      },
    ],
    from: counted,
    groupBy: breakdown ? [GROUP] : [],
  };
}

const MS_PER_SECOND = parameter('Float64', 1000);

function planRows({ query, breakdown }: Funnel, blocks: Select): Select {
  const names: Expression = { kind: 'parameter', type: 'Array(String)', value: query.steps.map(({ name }) => name) };
  const step = alias('step');
  const unfolded: Select = {
    kind: 'select',
    columns: [
      ...passThrough(...(breakdown ? [GROUP] : []), 'reached', 'medians'),
      { alias: 'step', expression: call('arrayJoin', call('arrayEnumerate', names)) },
    ],
    from: blocks,
  };
  const reached = alias('reached');
  const users = element(reached, step);
  const before = element(reached, infix('-', step, constant(1)));
  const isFirst = equals(step, constant(1));
  const hasMedian = allOf([infix('>', step, constant(1)), infix('>', users, constant(0))]);
  return {
    kind: 'select',
    columns: [
      ...passThrough(...(breakdown ? [GROUP] : []), 'step'),
      { alias: 'event', expression: element(names, step) },
      { alias: 'users', expression: users },
      { alias: 'rate', expression: ratio(users, first(reached)) },
      { alias: 'step_rate', expression: call('if', isFirst, constant(1), ratio(users, before)) },
      {
        alias: 'median_seconds',
        expression: call('if', hasMedian, infix('/', element(alias('medians'), step), MS_PER_SECOND), constant('NULL')),
      },
    ],
    from: unfolded,
    orderBy: [
      ...(breakdown ? [{ expression: first(reached), direction: 'desc' } as const, ...breakdown.order] : []),
      { expression: step, direction: 'asc' },
    ],
  };
}

const COLUMNS: readonly OutputColumn[] = [
  { name: 'step', type: 'number' },
  { name: 'event', type: 'nullable_text' },
  { name: 'users', type: 'number' },
  { name: 'rate', type: 'rate' },
  { name: 'step_rate', type: 'rate' },
  { name: 'median_seconds', type: 'number' },
];

export function planFunnel(query: ResolvedFunnel, context: PlanContext): Plan {
  const sets = query.steps.filter((step, index) => query.steps.findIndex(({ name }) => name === step.name) === index);
  const breakdown = query.by && planBreakdown(query.by);
  const setOfStep = query.steps.map((step) => sets.findIndex(({ name }) => name === step.name));
  const isByPosition = sets.some((set, index) => sets.slice(index + 1).some((other) => !areDisjoint(set, other)));
  const funnel: Funnel = { query, sets, setOfStep, isByPosition, breakdown };
  let followed = planStarts(funnel, planPeople(funnel, context));
  for (let level = 1; level < query.steps.length; level++) followed = planLevel(funnel, level, followed);
  return planAnswer({
    query,
    range: query.selection.range,
    context,
    mode: 'funnel',
    select: planRows(funnel, planBlocks(funnel, planCounted(funnel, followed))),
    columns: [...(breakdown ? [breakdown.output] : []), ...COLUMNS],
    metadata: { funnel_steps: query.steps.map(({ name }) => name) },
  });
}
