// Shared frame of charts over time buckets: margins, value axis with grid lines, bucket labels, and
// the tooltip.
import type { ScaleLinear } from 'd3-scale';
import { texts } from '../texts.js';
import style from './frame.module.css';
import type { Mark } from './marks.js';
import { type BucketData, colorOf, LETTER_PIXELS, labelEvery, ticksOf } from './series.js';

export const HEIGHT = 300;
export const MARGIN = { top: 12, right: 12, bottom: 26, left: 56 } as const;
const LABEL_GAP = 8;

interface AxesProps {
  readonly data: BucketData;
  readonly x: (index: number) => number;
  readonly y: ScaleLinear<number, number>;
  readonly width: number;
  /** The marks stand inside of their bands, so labels do, too. */
  readonly hasBands?: boolean;
}

export function Axes({ data, x, y, width, hasBands = false }: AxesProps) {
  const every = labelEvery(
    data.buckets.map(({ short }) => short),
    width - MARGIN.left - MARGIN.right,
  );
  const last = data.buckets.length - 1;
  const ticks = ticksOf(data, y.ticks(4));
  const [least = 0, next = 0] = ticks;
  const most = Math.max(-least, ticks.at(-1) ?? 0);
  return (
    <g aria-hidden="true" className={style.axes}>
      {ticks.map((value) => (
        <g key={value} transform={`translate(0 ${y(value)})`}>
          <line x1={MARGIN.left} x2={width - MARGIN.right} className={value === 0 ? style.zero : style.grid} />
          <text x={MARGIN.left - LABEL_GAP} dy="0.32em" textAnchor="end">
            {data.short(value, most, next - least)}
          </text>
        </g>
      ))}
      {data.buckets.map(({ short, long }, index) =>
        (last - index) % every === 0 ? (
          <text
            key={long}
            x={x(index)}
            y={HEIGHT - LABEL_GAP}
            textAnchor={hasBands ? bandAnchorOf(x(index), short, width) : anchorOf(index, last)}
          >
            {short}
          </text>
        ) : null,
      )}
      {data.buckets.map(({ long }, index) => {
        const numbers = numbersAt(data, index);
        return numbers === '' ? null : (
          <g key={long} transform={`translate(${x(index)} 0)`} className={style.annotation}>
            <line y1={MARGIN.top} y2={HEIGHT - MARGIN.bottom} />
            <text y={MARGIN.top - 2} textAnchor="middle">
              {numbers}
            </text>
          </g>
        );
      })}
    </g>
  );
}

/** Numbers of the annotations at a bucket, as in the list below the chart: `1, 2`. */
const numbersAt = ({ annotations = [] }: BucketData, index: number): string =>
  annotations.flatMap(({ bucket }, place) => (bucket === index ? [place + 1] : [])).join(', ');

const anchorOf = (index: number, last: number): 'end' | 'middle' | 'start' =>
  index === last && last > 0 ? 'end' : index === 0 && last > 0 ? 'start' : 'middle';

/** The label of a narrow last band would be cut off in its middle. */
const bandAnchorOf = (x: number, { length }: string, width: number): 'end' | 'middle' =>
  x + (length * LETTER_PIXELS) / 2 > width ? 'end' : 'middle';

interface PanelProps {
  readonly data: BucketData;
  readonly index: number;
  readonly x: number;
  readonly width: number;
}

/** The numbers of one bucket, beside the pointer. */
export function Panel({ data, index, x, width }: PanelProps) {
  const bucket = data.buckets[index];
  if (bucket === undefined) return null;
  const isRight = x > width / 2;
  const place = isRight ? { right: width - x + 10 } : { left: x + 10 };
  return (
    <div className={style.panel} style={place} aria-hidden="true">
      <div className={style.when}>
        {bucket.long}
        {bucket.part !== undefined && <em> {nameOf(bucket.part)}</em>}
      </div>
      {data.series.map(({ name, values, previous }, each) => (
        <div key={name} className={style.line}>
          <span className={`mark ${style.swatch}`} style={{ background: colorOf(each) }} />
          <span className={style.name}>{name}</span>
          <strong>
            {numberAt(data, values, index)}
            {previous && <span className={style.before}> {texts.charts.before(numberAt(data, previous, index))}</span>}
          </strong>
        </div>
      ))}
    </div>
  );
}

function numberAt({ long }: BucketData, values: readonly (number | null)[], index: number): string {
  const value = values[index];
  return value === null || value === undefined ? '–' : long(value);
}

interface Columns {
  readonly x: (index: number) => number | undefined;
  readonly width: number;
  readonly choose: (index: number) => void;
}

/** A mark for each column, named by its time and its numbers. */
export const columnMarks = (data: BucketData, { x, width, choose }: Columns): Mark[] =>
  data.buckets.map(({ long }, index) => {
    const numbers = data.series.map(({ name, values }) => `${name} ${numberAt(data, values, index)}`);
    const box = [x(index) ?? 0, MARGIN.top, width, HEIGHT - MARGIN.top - MARGIN.bottom] as const;
    return { name: texts.charts.narrowTo(long, numbers.join(', ')), box, choose: () => choose(index) };
  });

/** What lines and dashes mean: annotations, unfinished buckets, the earlier range of `compare`. */
export function Notes({ data }: { readonly data: BucketData }) {
  return (
    <>
      <Annotations data={data} />
      <DashNotes data={data} />
    </>
  );
}

/** The texts of the numbered lines, readable without pointing at them. */
function Annotations({ data: { annotations = [] } }: { readonly data: BucketData }) {
  if (annotations.length === 0) return null;
  return (
    <ol className={style.annotations} aria-label={texts.charts.annotations}>
      {annotations.map(({ when, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two annotations may be the same
        <li key={index}>
          {when}: {text}
        </li>
      ))}
    </ol>
  );
}

function DashNotes({ data: { buckets, series } }: { readonly data: BucketData }) {
  const partial = buckets.filter(({ part }) => part !== undefined);
  const isPartial = partial.length > 0;
  const isCompared = series.some(({ previous }) => previous !== undefined);
  if (!isPartial && !isCompared) return null;
  const names = partial.map(({ long, part }) => `${long}: ${nameOf(part)}.`);
  return (
    <p className={style.note}>
      {isPartial && [texts.answer.unfinished, ...names].join(' ')}
      {isCompared && ` ${texts.charts.previous}`}
    </p>
  );
}

const nameOf = (part: BucketData['buckets'][number]['part']): string =>
  part === 'so far' ? texts.answer.soFar : texts.answer.partial;

interface LegendProps {
  readonly names: readonly string[];
  /** Series that are not drawn. */
  readonly hidden?: number;
  /** What a click on the name at an index does. */
  readonly actionOf?: ((index: number) => (() => void) | undefined) | undefined;
  readonly titleOf?: (name: string) => string;
}

export function Legend({ names, hidden = 0, actionOf, titleOf = texts.answer.onlyThis }: LegendProps) {
  return (
    <ul className={style.legend}>
      {names.map((name, index) => {
        const act = actionOf?.(index);
        return (
          <li key={name}>
            <span className={`mark ${style.swatch}`} style={{ background: colorOf(index) }} />
            {act === undefined ? (
              <span className={style.short} title={name}>
                {name}
              </span>
            ) : (
              <button type="button" className={style.choose} title={titleOf(name)} onClick={act}>
                <span className={style.short}>{name}</span>
              </button>
            )}
          </li>
        );
      })}
      {hidden > 0 && <li>{texts.answer.hidden(hidden)}</li>}
    </ul>
  );
}
