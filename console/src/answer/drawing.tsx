// Chooses the chart component for an answer by its mode and columns. Undefined when an answer is
// shown as a table only. Columns and lines are loaded with the first answer, the others when an
// answer needs them.
import { lazy, type ReactNode, Suspense } from 'react';
import type { Answer } from '../api/answer.js';
import { BigNumber } from '../charts/big-number.js';
import { ColumnChart } from '../charts/column-chart.js';
import style from '../charts/frame.module.css';
import { LineChart } from '../charts/line-chart.js';
import { texts } from '../texts.js';
import {
  EDGES_MAX,
  toBucketData,
  toCycleData,
  toEdgeData,
  toFunnelData,
  toHistogramData,
  toLifecycleData,
} from './bucket-data.js';
import { cycleUnitOf, rangeStage, timeUnitOf, unitBetween } from './buckets.js';
import { type ColumnKind, numberIn, previousOf, type ShownColumn, splitColumns } from './columns.js';
import { CutNote, isCut } from './cut.js';
import { exact } from './format.js';
import type { Refinements } from './use-refinements.js';

const Choice = lazy(async () => ({ default: (await import('../charts/choice.js')).Choice }));
const Funnel = lazy(async () => ({ default: (await import('../charts/funnel.js')).Funnel }));
const Paths = lazy(async () => ({ default: (await import('./paths-drawing.js')).PathsDrawing }));
const Retention = lazy(async () => ({ default: (await import('../charts/retention.js')).Retention }));
const Sessions = lazy(async () => ({ default: (await import('./sessions-drawing.js')).SessionsDrawing }));
const StackedChart = lazy(async () => ({ default: (await import('../charts/stacked-chart.js')).StackedChart }));
const Timeline = lazy(async () => ({ default: (await import('../charts/timeline.js')).Timeline }));

/** More buckets are a line. */
const COLUMNS_MAX = 12;
const COMPUTED: readonly ColumnKind[] = ['bucket', 'cycle', 'edge'];
const BELOW = ['Dormant'];

/** What a card asks for: a line, or columns, where the number of buckets would decide. */
export type Shape = 'line' | 'columns' | undefined;

interface Options {
  readonly shape?: Shape;
  /** What a click on a part asks. Cards have none. */
  readonly refine?: Refinements | undefined;
}

export function drawingOf(answer: Answer, timezone: string, options: Options = {}): ReactNode | undefined {
  const drawing = draw(answer, timezone, options);
  if (drawing === undefined) return undefined;
  return (
    <Suspense fallback={null}>
      {drawing}
      {lacksRows(answer) && <CutNote answer={answer} />}
    </Suspense>
  );
}

/** Its rows are events, of which it draws the newest, and says how many there are. */
const isTimeline = ({ mode, columns }: Answer): boolean =>
  mode === 'user' && columns.includes('event_type') && columns.includes('time');

/** Whether the answer lacks rows that its drawing would contain. */
export const lacksRows = (answer: Answer): boolean => isCut(answer) && !isTimeline(answer);

function draw(answer: Answer, timezone: string, options: Options): ReactNode | undefined {
  const { refine } = options;
  const { columns, rows, mode } = answer;
  switch (mode) {
    case 'aggregate':
    case 'latest_aggregate':
    case 'formula':
      return ofAggregate(answer, timezone, options);
    case 'funnel':
      return columns.includes('step') ? ofFunnel(answer, timezone, refine) : undefined;
    case 'retention':
      return columns.includes('cohort') ? <Retention answer={answer} people={refine?.people} /> : undefined;
    case 'lifecycle':
      return columns[0] === 'period' ? ofLifecycle(answer, timezone, refine) : undefined;
    case 'paths':
      return columns[0] === 'path' && rows.length > 0 ? <Paths answer={answer} anchor={refine?.anchor} /> : undefined;
    case 'stickiness':
      return columns[0] === 'active_days' ? (
        <>
          <ColumnChart data={toHistogramData(answer)} name={nameOf(answer)} />
          <p className={style.note}>{texts.charts.activeDays}</p>
        </>
      ) : undefined;
    case 'sessions':
      return columns.includes('sessions') ? (
        <Sessions
          answer={answer}
          timezone={timezone}
          select={selecting(
            rows.map(({ day }) => String(day)),
            'day',
            refine,
          )}
        />
      ) : (
        ofAggregate(answer, timezone, options)
      );
    case 'choice':
      return answer.decision_status === undefined ? ofAggregate(answer, timezone, options) : <Choice answer={answer} />;
    case 'user':
      return isTimeline(answer) ? (
        <Timeline
          answer={answer}
          timezone={timezone}
          choose={refine && ((event) => refine.where([['event_type', event]]))}
        />
      ) : (
        ofAggregate(answer, timezone, options)
      );
    default:
      return undefined;
  }
}

/** Narrows the time to the buckets from the first to the last index. */
function selecting(values: readonly string[], time: string, refine: Refinements | undefined) {
  if (refine === undefined) return undefined;
  return (first: number, last: number): void =>
    refine.narrow(rangeStage(timeUnitOf(time) ?? 'day', values[first] ?? '', values[last] ?? ''));
}

function ofFunnel(answer: Answer, timezone: string, refine: Refinements | undefined): ReactNode {
  const groups = answer.columns.slice(0, answer.columns.indexOf('step'));
  const time = groups.find((name) => timeUnitOf(name) !== undefined);
  if (time === undefined) return <Funnel answer={answer} where={refine?.where} people={refine?.people} />;
  const { data, values } = toFunnelData(answer, timezone, time);
  return (
    <LineChart
      data={data}
      name={texts.charts.reachedLast(answer.metadata.funnel_steps?.at(-1) ?? '')}
      select={selecting(values, time, refine)}
    />
  );
}

function ofLifecycle(answer: Answer, timezone: string, refine: Refinements | undefined): ReactNode {
  const data = toLifecycleData(answer, timezone);
  const periods = [...new Set(answer.rows.map((row) => String(row.period)))].sort();
  const people = refine?.people;
  const choose = (index: number): void => {
    const period = periods[index] ?? '';
    refine?.narrow(rangeStage(unitBetween(periods), period, period));
  };
  return (
    <StackedChart
      data={data}
      name={nameOf(answer)}
      below={BELOW}
      choose={refine && choose}
      chooseSeries={people && ((index) => people(`people ${data.series[index]?.name.toLowerCase()}`))}
    />
  );
}

/** The number of the earlier range of `compare`. */
export const beforeOf = (answer: Answer, { name }: ShownColumn): number | null | undefined => {
  const [row] = answer.rows;
  const previous = previousOf(answer, name);
  return row === undefined || previous === undefined ? undefined : numberIn(row, previous);
};

function ofAggregate(answer: Answer, timezone: string, { shape, refine }: Options): ReactNode | undefined {
  const { groups, measure } = splitColumns(answer);
  const [row] = answer.rows;
  if (row === undefined) return undefined;
  if (groups.length === 0) {
    return answer.rows.length === 1 ? (
      <BigNumber name={measure.name} value={numberIn(row, measure.name)} before={beforeOf(answer, measure)} />
    ) : undefined;
  }
  const time = groups.find(({ name }) => timeUnitOf(name) !== undefined);
  if (time !== undefined) {
    const { data, hidden, values } = toBucketData(answer, timezone, { time: time.name, groups, measure });
    const name = nameOf(answer, measure.name);
    const select = selecting(values, time.name, refine);
    // Events have no field of the name that a filter could name.
    const isComputed = groups.some((group) => group !== time && COMPUTED.includes(group.kind));
    const isShort = shape === undefined ? data.buckets.length <= COLUMNS_MAX : shape === 'columns';
    if (data.series.length === 1 && hidden === 0 && isShort) {
      return <ColumnChart data={data} name={name} choose={select && ((index) => select(index, index))} />;
    }
    const actionOf = (index: number): (() => void) | undefined => {
      const cells = data.series[index]?.cells ?? [];
      return refine?.isFilterable(cells) && !isComputed ? () => refine.where(cells) : undefined;
    };
    return <LineChart data={data} name={name} hidden={hidden} select={select} actionOf={actionOf} />;
  }
  const [first] = groups;
  if (first === undefined || groups.length > 1) return undefined;
  const cycle = cycleUnitOf(first.name);
  const isEdge = first.kind === 'edge' && answer.rows.length <= EDGES_MAX;
  const data =
    cycle !== undefined ? toCycleData(answer, cycle, measure) : isEdge ? toEdgeData(answer, first, measure) : undefined;
  return data && <ColumnChart data={data} name={nameOf(answer, measure.name)} />;
}

/** The result in words, for people who do not see the picture. */
function nameOf({ rows, mode, columns }: Answer, measure = columns.at(-1) ?? ''): string {
  const values = rows.map((row) => numberIn(row, measure)).filter((value) => value !== null);
  if (values.length === 0) return `${mode}: no values`;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${measure}, ${values.length} values from ${exact(least)} to ${exact(most)}, the last ${exact(values.at(-1) ?? 0)}`;
}
