// Plan of funnels. ClickHouse's windowFunnel returns how far a person came, but neither the times of the steps nor the value at
// the start. So the times of each step are collected per person, and all attempts advance level by level: an attempt is
// (deadline, time of step 1, …, time of step k), and each level takes the earliest remaining event of the next step, which
// is never worse than a later one. Attempts start in order and stay in order, so a level is one merge of two sorted arrays,
// and the first attempt of the last non-empty level counts. Lambdas capture no arrays, because ClickHouse would copy them
// per element.
import type { FunnelQuery, ResolvedQuery } from '../../analyze/resolved.js';
import {
  type BreakdownPlan,
  element,
  eventMs,
  first,
  GROUP,
  hasIdentity,
  integer,
  isOfType,
  mapEach,
  passThrough,
  planAnswer,
  planBreakdown,
  ratio,
} from '../../plan/behaviour.js';
import {
  alias,
  allOf,
  call,
  column,
  constant,
  equals,
  infix,
  lambda,
  parameter,
  tupleElement,
} from '../../plan/expressions.js';
import { actor } from '../../plan/field-expressions.js';
import type { Expression, OutputColumn, Plan, Select, SelectColumn } from '../../plan/plan.js';
import { type PlanContext, scanEvents } from '../events/plan.js';

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
  /** Distinct event types of the steps, and the type index of each step. */
  readonly types: readonly string[];
  readonly typeOfStep: readonly number[];
  readonly breakdown: BreakdownPlan | undefined;
}

/** One row per person with a first step: sorted times per event type, and of excluded events. */
function planPeople({ query, types, breakdown }: Funnel, context: PlanContext): Select {
  const gather = (value: Expression, of: readonly string[]): Expression =>
    call('arraySort', call('groupArrayIf', value, isOfType(of)));
  const starts = breakdown && call('tuple', eventMs, column('insert_id'), breakdown.value);
  const columns: SelectColumn[] = [
    { alias: 'person', expression: actor },
    ...types.map((type, index) => ({ alias: timesOf(index), expression: gather(eventMs, [type]) })),
    ...(query.exclude.length > 0 ? [{ alias: 'x', expression: gather(eventMs, query.exclude) }] : []),
    ...(starts ? [{ alias: 'starts', expression: gather(starts, types.slice(0, 1)) }] : []),
  ];
  return {
    kind: 'select',
    columns,
    from: scanEvents(context, {
      selection: query.selection,
      reads: columns.map((of) => of.expression),
      filter: [isOfType([...types, ...query.exclude]), hasIdentity],
    }),
    groupBy: ['person'],
    having: call('notEmpty', alias(timesOf(0))),
  };
}

/** Attempts at step 1: (deadline, start). An excluded event ends the attempts that started before it. */
function planStarts(funnel: Funnel, people: Select): Select {
  const { query, types, breakdown } = funnel;
  const kept = passThrough(...types.map((_, index) => timesOf(index)), ...(breakdown ? ['starts'] : []));
  const endOf = (start: Expression): Expression => infix('+', start, integer(query.windowMs));
  if (query.exclude.length === 0) {
    const attempts = mapEach('arrayMap', alias(timesOf(0)), (v) => call('tuple', endOf(v), v));
    return { kind: 'select', columns: [...kept, { alias: attemptsOf(1), expression: attempts }], from: people };
  }
  const merged = merge(
    mapEach('arrayMap', alias('x'), (v) => packed(v)),
    mapEach('arrayMap', alias(timesOf(0)), (v) => packed(v, constant(1))),
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
function planLevel({ types, typeOfStep, breakdown }: Funnel, level: number, from: Select): Select {
  const type = typeOfStep[level] ?? 0;
  const attempts = alias(attemptsOf(level));
  const timeOf = (attempt: Expression, step: number): Expression => tupleElement(attempt, step + 2);
  const names = [
    ...types.map((_, index) => timesOf(index)),
    ...(breakdown ? ['starts'] : []),
    ...Array.from({ length: level }, (_, index) => attemptsOf(index + 1)),
  ];

  // One event serves one step: skip as many events of equal time as the attempt has used.
  const usedBy = (attempt: Expression): Expression[] => {
    const isUsed = typeOfStep
      .slice(0, level)
      .flatMap((of, step) => (of === type ? [equals(timeOf(attempt, step), timeOf(attempt, level - 1))] : []));
    const [one] = isUsed;
    return one === undefined ? [] : [rank(isUsed.length === 1 ? one : infix('+', ...isUsed))];
  };
  const isRepeated = typeOfStep.slice(0, level).includes(type);
  const times = alias(timesOf(type));
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
    mapEach('arrayMap', attempts, (v) => packed(timeOf(v, level - 1), ...usedBy(v))),
    events,
  );
  const withMerged: Select = {
    kind: 'select',
    columns: [...passThrough(...names), { alias: 'm', expression: merged }],
    from,
  };

  const [attempt, next] = [alias('v'), alias('n')];
  const isInTime = allOf([equals(kindOf(next), constant(1)), infix('<=', unpacked(next), tupleElement(attempt, 1))]);
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
function planBlocks({ breakdown }: Funnel, counted: Select): Select {
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
          arguments: [mapEach('arrayMap', times, (v) => infix('-', v, began))],
        },
      },
    ],
    from: counted,
    groupBy: breakdown ? [GROUP] : [],
  };
}

const MS_PER_SECOND = parameter('Float64', 1000);

function planRows({ query, breakdown }: Funnel, blocks: Select): Select {
  const names: Expression = { kind: 'parameter', type: 'Array(String)', value: query.steps };
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
  const types = [...new Set(query.steps)];
  const breakdown = query.by && planBreakdown(query.by);
  const funnel: Funnel = { query, types, typeOfStep: query.steps.map((step) => types.indexOf(step)), breakdown };
  let followed = planStarts(funnel, planPeople(funnel, context));
  for (let level = 1; level < query.steps.length; level++) followed = planLevel(funnel, level, followed);
  return planAnswer({
    query,
    range: query.selection.range,
    context,
    mode: 'funnel',
    select: planRows(funnel, planBlocks(funnel, planCounted(funnel, followed))),
    columns: [...(breakdown ? [breakdown.output] : []), ...COLUMNS],
    metadata: { funnel_steps: query.steps },
  });
}
