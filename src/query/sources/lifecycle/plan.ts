// Plan of `lifecycle`: the status of each person in each period.
import type { ResolvedQuery } from '../../analyze/resolved.js';
import { element, hasIdentity, integer, mapEach, passThrough, planAnswer } from '../../plan/behaviour.js';
import {
  alias,
  allOf,
  call,
  column,
  constant,
  equals,
  infix,
  instantParameter,
  lambda,
} from '../../plan/expressions.js';
import { actor } from '../../plan/field-expressions.js';
import type { Expression, Plan, Select, SelectColumn } from '../../plan/plan.js';
import { calendarOf, periodsSince } from '../../time/calendar.js';
import { type PlanContext, scanEvents } from '../events/plan.js';
import type { LifecycleQuery } from './analyze.js';

const STATUSES = ['New', 'Returning', 'Resurrected', 'Dormant'] as const;
const STATUS_COUNT = integer(STATUSES.length);
const statusIndex = (status: (typeof STATUSES)[number]): Expression => integer(STATUSES.indexOf(status));

/** The last period may extend beyond the range, by at most a month. */
const PERIOD_MAX_MS = 32 * 86_400_000;

/**
 * Encodes period and status as one number: period index × number of statuses + status. Codes below zero or after the last
 * period are outside the range.
 */
export function planLifecycle(query: LifecycleQuery & ResolvedQuery, context: PlanContext): Plan {
  const { selection, timezone } = query;
  const { range } = selection;
  const calendar = calendarOf(query.period, timezone);
  const number = calendar.numberOf(column('time'));
  const columns: SelectColumn[] = [
    { alias: 'person', expression: actor },
    { alias: 'active', expression: call('arraySort', call('groupUniqArray', number)) },
  ];
  // `New` depends on all earlier events, so the scan has no lower bound.
  const ever = { ...selection, range: { fromMs: 0, toMs: range.toMs + PERIOD_MAX_MS } };
  const people: Select = {
    kind: 'select',
    columns,
    from: scanEvents(context, { selection: ever, reads: columns.map((of) => of.expression), filter: [hasIdentity] }),
    groupBy: ['person'],
  };
  const withGaps: Select = {
    kind: 'select',
    columns: [...passThrough('active'), { alias: 'gaps', expression: call('arrayDifference', alias('active')) }],
    from: people,
  };

  const codeOf = (period: Expression): Expression =>
    infix('*', periodsSince(calendar, range.fromMs, period), STATUS_COUNT);
  const status = call(
    'multiIf',
    equals(alias('i'), constant(1)),
    statusIndex('New'),
    equals(alias('d'), constant(1)),
    statusIndex('Returning'),
    statusIndex('Resurrected'),
  );
  const active = call(
    'arrayMap',
    lambda(['v', 'd', 'i'], infix('+', codeOf(alias('v')), status)),
    alias('active'),
    alias('gaps'),
    call('arrayEnumerate', alias('active')),
  );
  const lastOnes = call(
    'arrayFilter',
    lambda(['v', 'd'], infix('!=', alias('d'), constant(1))),
    alias('active'),
    call('arrayShiftLeft', alias('gaps'), constant(1)),
  );
  const dormant = mapEach('arrayMap', lastOnes, (v) =>
    infix('+', codeOf(infix('+', v, constant(1))), statusIndex('Dormant')),
  );
  const last = periodsSince(calendar, range.fromMs, calendar.numberOf(instantParameter(range.toMs - 1)));
  const codesEnd = infix('*', infix('+', last, constant(1)), STATUS_COUNT);
  const isAsked = (code: Expression): Expression => allOf([infix('>=', code, constant(0)), infix('<', code, codesEnd)]);
  const counted: Select = {
    kind: 'select',
    columns: [
      {
        alias: 'code',
        expression: call('arrayJoin', mapEach('arrayFilter', call('arrayConcat', active, dormant), isAsked)),
      },
      { alias: 'users', expression: call('count') },
    ],
    from: withGaps,
    groupBy: ['code'],
  };
  // Always one row, also without events, because every period and status must appear.
  const gathered: Select = {
    kind: 'select',
    columns: [
      { alias: 'codes', expression: call('groupArray', alias('code')) },
      { alias: 'counts', expression: call('groupArray', alias('users')) },
    ],
    from: counted,
  };
  const unfolded: Select = {
    kind: 'select',
    columns: [
      ...passThrough('codes', 'counts'),
      { alias: 'c', expression: call('arrayJoin', call('range', codesEnd)) },
    ],
    from: gathered,
  };
  const names: Expression = { kind: 'parameter', type: 'Array(String)', value: STATUSES };
  return planAnswer({
    query,
    order: query.order,
    range,
    context,
    mode: 'lifecycle',
    select: {
      kind: 'select',
      columns: [
        {
          alias: 'period',
          expression: calendar.dateAfter(range.fromMs, call('intDiv', alias('c'), STATUS_COUNT)),
        },
        {
          alias: 'status',
          expression: element(names, infix('+', call('modulo', alias('c'), STATUS_COUNT), constant(1))),
        },
        { alias: 'users', expression: element(alias('counts'), call('indexOf', alias('codes'), alias('c'))) },
      ],
      from: unfolded,
      orderBy: [{ expression: alias('c'), direction: 'asc' }],
    },
    columns: [
      { name: 'period', type: 'date' },
      { name: 'status', type: 'nullable_text' },
      { name: 'users', type: 'number' },
    ],
  });
}
