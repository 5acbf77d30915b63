// Reference implementation of `compare`: answers the question over both ranges, and joins the rows
// by group, and by the position of their time in the range.
import { defaultOrder, isRowKept, METRICS, ratio } from './aggregate.js';
import { bucketAfter, bucketsOf, type Interval, intervalOf, startOfDate, toRfc3339 } from './calendar.js';
import { earlierInterval } from './compared-range.js';
import { formulaOrder, isKeptRow, valueOfNothing } from './formula.js';
import type {
  CalendarUnit,
  Comparison,
  FormulaQuestion,
  FunnelQuestion,
  Question,
  Range,
  RetentionQuestion,
  Span,
} from './question.js';
import {
  type Answer,
  type Cell,
  compareCells,
  ended,
  inAnyOrder,
  inThisOrder,
  ordered,
  type Row,
  type Table,
} from './table.js';
import { fieldText, groupColumn } from './to-query-text.js';
import type { World } from './world.js';

interface Form {
  /** Columns of groups, which come first. */
  readonly groups: readonly string[];
  /** The group that is a time. */
  readonly time?: { readonly column: string; readonly unit: CalendarUnit };
  /** Further columns that tell rows apart. */
  readonly keys?: readonly string[];
  /** Each metric, and its value on the side that has no such row. */
  readonly metrics: Readonly<Record<string, Cell | ((row: Row) => Cell)>>;
  /** Columns without an earlier value, null where the range has no such row. */
  readonly others?: readonly string[];
  /** How many buckets the row is behind its time. */
  readonly stepsOf?: (row: Row) => number;
  /**
   * The steps of a row's time, for which the earlier range has no rows where only the current one
   * reaches them.
   */
  readonly stepColumn?: string;
  readonly arrange: (rows: Row[]) => Table;
}

const DEFAULT_DAYS: Readonly<Partial<Record<Question['source'], number>>> = { user: 30, choice: 30, retention: 84 };

export function answerCompared(
  question: Question,
  compare: Comparison,
  world: World,
  answerOne: (question: Question) => Answer,
): Answer {
  const { clock } = world;
  const span: Span = { count: DEFAULT_DAYS[question.source] ?? 7, unit: 'd' };
  const range = rangeOf(question);
  const current = intervalOf(range, span, clock);
  const earlier = earlierInterval(comparisonOf(question, compare), range, current, clock);
  const form = formOf(question);
  const over = ({ start, end }: Interval): Answer =>
    answerOne(without(question, { kind: 'from', from: toRfc3339(start), to: toRfc3339(end) }));
  const [now, before] = [over(current), over(earlier)];
  const bucketsIn = (interval: Interval): string[] =>
    form.time ? bucketsOf(interval, form.time.unit, clock.timezone) : [];
  const sides = { now, before, buckets: bucketsIn(current), earlierBuckets: bucketsIn(earlier) };
  const table = form.arrange(joined(form, sides));
  return {
    ...now,
    columns: columnsOf(form, now.columns),
    ...table,
    beside: {
      ...now.beside,
      metadata: {
        ...(now.beside?.metadata as object | undefined),
        ...(question.source === 'retention' &&
          !question.by && { incomplete: openPeriods(question, table, current, world) }),
        compare: { current: periodOf(current), previous: periodOf(earlier) },
      },
    },
  };
}

/** Reading: rows of cohorts that only the earlier range has are of periods that may not be over. */
function openPeriods(
  { period: unit = 'week' }: RetentionQuestion,
  { rows }: Table,
  { end }: Interval,
  { clock }: World,
): Row[] {
  const endOf = ({ cohort, period }: Row): number =>
    startOfDate(bucketAfter(String(cohort), unit, Number(period) + 1), clock.timezone);
  return rows
    .filter((row) => endOf(row) > Math.min(end, clock.now))
    .map(({ cohort = null, period = null }) => ({ cohort, period }));
}

/** In a retention `m` means months. */
function rangeOf({ source, range }: Question): Range | undefined {
  if (source !== 'retention' || range?.kind !== 'last' || range.span.unit !== 'm') return range;
  return { kind: 'last', span: { count: range.span.count, unit: 'mo' } };
}

function comparisonOf({ source }: Question, compare: Comparison): Comparison {
  if (source !== 'retention' || compare.kind !== 'span' || compare.span.unit !== 'm') return compare;
  return { ...compare, span: { ...compare.span, unit: 'mo' } };
}

/** Filters of rows and endings apply to the joined rows. */
function without(question: Question, range: Range): Question {
  const absent = { ending: undefined, reading: undefined, having: undefined };
  const { compare: _, ending: __, having: ___, reading, ...rest } = { ...absent, ...question };
  if (reading?.kind !== 'aggregate') return { ...rest, ...(reading && { reading }), range } as Question;
  const { having: ____, ...all } = reading;
  return { ...rest, reading: all, range } as Question;
}

const periodOf = ({ start, end }: Interval) => ({ from: toRfc3339(start), to: toRfc3339(end) });

function formOf(question: Question): Form {
  switch (question.source) {
    case 'retention': {
      const unit = question.period ?? 'week';
      const groups = question.by === undefined ? [] : [fieldText(question.by)];
      return {
        groups: [...groups, 'cohort'],
        time: { column: 'cohort', unit },
        keys: ['period'],
        metrics: { cohort_size: 0, users: 0, rate: null },
        stepsOf: ({ period }) => Number(period),
        stepColumn: 'period',
        arrange: groups.length > 0 ? inAnyOrder : (rows) => inThisOrder(inOrderOf(rows, ['cohort', 'period'])),
      };
    }
    case 'funnel':
      return formOfFunnel(question);
    case 'formula':
      return formOfFormula(question);
    default:
      return formOfRows(question);
  }
}

/** Reading: a group without people in a range has the rows of an empty time bucket. */
function formOfFunnel({ period, by }: FunnelQuestion): Form {
  const value = by === undefined ? [] : [fieldText(by)];
  const groups = [...(period === undefined ? [] : [period]), ...value];
  const nameOf = (row: Row) => JSON.stringify(groups.map((group) => row[group] ?? null));
  return {
    groups,
    ...timeOf(period),
    keys: ['step'],
    metrics: { users: 0, rate: null, step_rate: ({ step }) => (step === 1 ? 1 : null) },
    others: ['median_seconds'],
    arrange: (rows) => {
      const began = new Map(rows.filter(({ step }) => step === 1).map((row) => [nameOf(row), row.users ?? 0]));
      const ranked = rows.map((row): Row => ({ ...row, began: -Number(began.get(nameOf(row)) ?? 0) }));
      const times = period === undefined ? [] : [period];
      return inThisOrder(inOrderOf(ranked, [...times, 'began', ...value, 'step']));
    },
  };
}

function formOfFormula(question: FormulaQuestion): Form {
  const { columns, by = [], ending } = question;
  const time = by.flatMap((group) => (group.kind === 'time' && !group.of ? [group.unit] : [])).find(isPositioned);
  const [first] = columns;
  return {
    groups: by.map(groupColumn),
    ...timeOf(time),
    metrics: Object.fromEntries(columns.map(({ name, expression }) => [name ?? 'value', valueOfNothing(expression)])),
    arrange: (rows) => {
      const table = ordered(rows.filter(isKeptRow(question)), formulaOrder(by, first.name ?? 'value'));
      return ended(table, ending, first.name ?? 'value');
    },
  };
}

function formOfRows(question: Question): Form {
  const reading = 'reading' in question ? question.reading : undefined;
  const ending = 'ending' in question ? question.ending : undefined;
  if (question.source === 'sessions' && reading === undefined) {
    return {
      groups: ['day'],
      time: { column: 'day', unit: 'day' },
      metrics: { sessions: 0, avg_duration: null, avg_events: null, bounce_rate: null },
      arrange: (rows) => ended(inThisOrder(inOrderOf(rows, ['day'])), ending, 'sessions'),
    };
  }
  const { aggregate, by, having } =
    reading?.kind === 'aggregate' ? reading : { aggregate: { kind: 'count' } as const, by: [], having: undefined };
  const isZero = ['count', 'unique', 'sum'].includes(aggregate.kind);
  const time = by
    .flatMap((group) => (group.kind === 'time' && group.of === undefined ? [group.unit] : []))
    .find(isPositioned);
  const metric = METRICS[aggregate.kind];
  return {
    groups: by.map(groupColumn),
    ...timeOf(time),
    metrics: { [metric]: isZero ? 0 : null },
    arrange: (rows) => {
      const valued = rows
        .map((row) => ({ ...row, value: row[metric] ?? null, metric: aggregate.kind }))
        .filter(({ value }) => isRowKept(value, having));
      return ended(ordered(valued, defaultOrder(aggregate, by)), ending, metric);
    },
  };
}

/** Reading: parts of a time that repeat are matched by value. */
const isPositioned = (unit: string): boolean => unit !== 'weekday' && unit !== 'hour_of_day';

const timeOf = (unit: string | undefined): Pick<Form, 'time'> =>
  unit === undefined ? {} : { time: { column: unit, unit: unit as CalendarUnit } };

const inOrderOf = (rows: readonly Row[], columns: readonly string[]): Row[] =>
  [...rows].sort((a, b) => {
    for (const column of columns) {
      const order = compareCells(a[column], b[column]);
      if (order !== 0) return order;
    }
    return 0;
  });

/** Periods after the first that a retention shows. */
const STEPS_MAX = 12;

interface Sides {
  readonly now: Answer;
  readonly before: Answer;
  readonly buckets: readonly string[];
  readonly earlierBuckets: readonly string[];
}

function joined(form: Form, { now, before, buckets, earlierBuckets }: Sides): Row[] {
  const { time, groups, keys = [], metrics, others = [], stepsOf = () => 0, stepColumn } = form;
  const isSame = (a: string, b: string | undefined) => b !== undefined && (a === b || Date.parse(a) === Date.parse(b));
  const positionOf = (row: Row, among: readonly string[]): number =>
    time === undefined ? 0 : among.findIndex((bucket) => isSame(bucket, String(row[time.column])));
  const nameOf = (row: Row, among: readonly string[]): string => {
    const valued = [...groups, ...keys].filter((column) => column !== time?.column);
    return JSON.stringify([positionOf(row, among), ...valued.map((column) => row[column] ?? null)]);
  };
  const missing = (metric: string, row: Row): Cell => {
    const of = metrics[metric] ?? null;
    return typeof of === 'function' ? of(row) : of;
  };
  const earlierRows = new Map(before.rows.map((row) => [nameOf(row, earlierBuckets), row]));
  const names = new Set(now.rows.map((row) => nameOf(row, buckets)));
  /**
   * Reading: a cohort of the earlier range has a row for every period that the current range
   * reaches.
   */
  const rowsWithSteps = (row: Row): Row[] => {
    if (stepColumn === undefined || row[stepColumn] !== 0) return [row];
    const reached = Math.min(STEPS_MAX, buckets.length - 1 - positionOf(row, earlierBuckets));
    const steps = Array.from({ length: Math.max(reached, 0) + 1 }, (_, step) => ({ ...row, [stepColumn]: step }));
    return steps.filter((step) => step[stepColumn] === 0 || !earlierRows.has(nameOf(step, earlierBuckets)));
  };
  const added = before.rows
    .flatMap(rowsWithSteps)
    .filter((row) => !names.has(nameOf(row, earlierBuckets)))
    .filter((row) => time === undefined || positionOf(row, earlierBuckets) + stepsOf(row) < buckets.length)
    .map((row): Row => {
      const empty = [
        ...Object.keys(metrics).map((metric) => [metric, missing(metric, row)]),
        ...others.map((column) => [column, null]),
      ];
      const bucket = time && { [time.column]: buckets[positionOf(row, earlierBuckets)] ?? null };
      return { ...row, ...Object.fromEntries(empty), ...bucket };
    });
  return [...now.rows, ...added].map((row): Row => {
    const position = positionOf(row, buckets);
    const isMatched = time === undefined || position + stepsOf(row) < earlierBuckets.length;
    const partner = earlierRows.get(nameOf(row, buckets));
    const compared = Object.keys(metrics).flatMap((metric) => {
      const previous = isMatched ? (partner ? (partner[metric] ?? null) : missing(metric, row)) : null;
      const [previousName, changeName] = comparedNames(form, metric);
      return [
        [previousName, previous],
        [changeName, changeOf(row[metric] ?? null, previous)],
      ];
    });
    const bucket = time && { [`previous_${time.column}`]: isMatched ? (earlierBuckets[position] ?? null) : null };
    return { ...row, ...Object.fromEntries(compared), ...bucket };
  });
}

const changeOf = (value: Cell, previous: Cell): Cell =>
  typeof value === 'number' && typeof previous === 'number' ? ratio(value - previous, previous) : null;

const comparedNames = ({ metrics }: Form, metric: string): [string, string] =>
  Object.keys(metrics).length === 1 ? ['previous', 'change'] : [`previous_${metric}`, `change_${metric}`];

function columnsOf(form: Form, columns: readonly string[]): string[] {
  const { groups, time, metrics } = form;
  const rest = columns.slice(groups.length);
  return [
    ...groups,
    ...(time ? [`previous_${time.column}`] : []),
    ...rest.flatMap((column) => (Object.hasOwn(metrics, column) ? [column, ...comparedNames(form, column)] : [column])),
  ];
}
