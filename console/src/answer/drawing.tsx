// Chooses the chart component for an answer by its mode and columns. Undefined when an answer is shown as a table only.
import type { ReactNode } from 'react';
import type { Answer } from '../api/answer.js';
import { BigNumber } from '../charts/big-number.js';
import { Choice } from '../charts/choice.js';
import { ColumnChart } from '../charts/column-chart.js';
import { Funnel } from '../charts/funnel.js';
import { LineChart } from '../charts/line-chart.js';
import { Retention } from '../charts/retention.js';
import { Sankey } from '../charts/sankey.js';
import { StackedChart } from '../charts/stacked-chart.js';
import { Timeline } from '../charts/timeline.js';
import { texts } from '../texts.js';
import { toBucketData, toCycleData, toFunnelData, toHistogramData, toLifecycleData } from './bucket-data.js';
import { cycleUnitOf, rangeStage, timeUnitOf } from './buckets.js';
import { numberIn, previousOf, type ShownColumn, splitColumns } from './columns.js';
import { toFlow } from './flow.js';
import { exact } from './format.js';
import { SessionsDrawing } from './sessions-drawing.js';

/** More buckets are a line. */
const COLUMNS_MAX = 12;
const BELOW = ['Dormant'];

/** What a card asks for: a line, or columns, where the number of buckets would decide. */
export type Shape = 'line' | 'columns' | undefined;

interface Options {
  readonly shape?: Shape;
  /** Asks for another time range: its stage. */
  readonly narrow?: (stage: string) => void;
}

export function drawingOf(answer: Answer, timezone: string, options: Options = {}): ReactNode | undefined {
  switch (answer.mode) {
    case 'aggregate':
    case 'latest_aggregate':
    case 'formula':
      return ofAggregate(answer, timezone, options);
    case 'funnel':
      return answer.columns.includes('step') ? ofFunnel(answer, timezone) : undefined;
    case 'retention':
      return answer.columns.includes('cohort') ? <Retention answer={answer} /> : undefined;
    case 'lifecycle':
      return <StackedChart data={toLifecycleData(answer, timezone)} name={nameOf(answer)} below={BELOW} />;
    case 'paths':
      return ofPaths(answer);
    case 'stickiness':
      return <ColumnChart data={toHistogramData(answer)} name={nameOf(answer)} />;
    case 'sessions':
      return <SessionsDrawing answer={answer} timezone={timezone} />;
    case 'choice':
      return answer.decision_status === undefined ? ofAggregate(answer, timezone) : <Choice answer={answer} />;
    case 'user':
      return answer.columns.includes('event_type') && answer.columns.includes('time') ? (
        <Timeline answer={answer} timezone={timezone} />
      ) : (
        ofAggregate(answer, timezone)
      );
    default:
      return undefined;
  }
}

function ofPaths(answer: Answer): ReactNode | undefined {
  const [first] = answer.columns;
  if (first !== 'path' || answer.rows.length === 0) return undefined;
  return <Sankey flow={toFlow(answer, texts.charts.rest)} />;
}

function selecting({ rows }: Answer, time: string, narrow: (stage: string) => void) {
  const values = [...new Set(rows.map((row) => String(row[time])))].sort();
  return (first: number, last: number): void =>
    narrow(rangeStage(timeUnitOf(time) ?? 'day', values[first] ?? '', values[last] ?? ''));
}

function ofFunnel(answer: Answer, timezone: string): ReactNode {
  const groups = answer.columns.slice(0, answer.columns.indexOf('step'));
  const time = groups.find((name) => timeUnitOf(name) !== undefined);
  if (time === undefined) return <Funnel answer={answer} />;
  const data = toFunnelData(answer, timezone, time);
  return <LineChart data={data} name={texts.charts.reachedLast(answer.metadata.funnel_steps?.at(-1) ?? '')} />;
}

const beforeOf = (answer: Answer, { name }: ShownColumn): number | null | undefined => {
  const [row] = answer.rows;
  const previous = previousOf(answer, name);
  return row === undefined || previous === undefined ? undefined : numberIn(row, previous);
};

function ofAggregate(answer: Answer, timezone: string, { shape, narrow }: Options = {}): ReactNode | undefined {
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
    const { data, hidden } = toBucketData(answer, timezone, { time: time.name, groups, measure });
    const name = nameOf(answer, measure.name);
    const isShort = shape === undefined ? data.buckets.length <= COLUMNS_MAX : shape === 'columns';
    return data.series.length === 1 && hidden === 0 && isShort ? (
      <ColumnChart data={data} name={name} />
    ) : (
      <LineChart data={data} name={name} hidden={hidden} select={narrow && selecting(answer, time.name, narrow)} />
    );
  }
  const [first] = groups;
  const cycle = first === undefined || groups.length > 1 ? undefined : cycleUnitOf(first.name);
  if (cycle !== undefined)
    return <ColumnChart data={toCycleData(answer, cycle, measure)} name={nameOf(answer, measure.name)} />;
  return undefined;
}

/** The result in words, for people who do not see the picture. */
function nameOf({ rows, mode, columns }: Answer, measure = columns.at(-1) ?? ''): string {
  const values = rows.map((row) => numberIn(row, measure)).filter((value) => value !== null);
  if (values.length === 0) return `${mode}: no values`;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${measure}, ${values.length} values from ${exact(least)} to ${exact(most)}, the last ${exact(values.at(-1) ?? 0)}`;
}
