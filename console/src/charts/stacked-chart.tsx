// Stacked columns of the lifecycle: active people above zero, those who stopped below.
import { scaleBand, scaleLinear } from 'd3-scale';
import { useState } from 'react';
import { texts } from '../texts.js';
import { ColumnOverlay } from './column-overlay.js';
import { Axes, HEIGHT, Legend, MARGIN, Notes } from './frame.js';
import style from './frame.module.css';
import { type BucketData, colorOf, valueDomain } from './series.js';
import { useWidth } from './use-width.js';

interface Props {
  readonly data: BucketData;
  readonly name: string;
  /** Names of series that are drawn below zero. */
  readonly below: readonly string[];
  /** Called with the index of a column that is clicked. */
  readonly choose?: ((index: number) => void) | undefined;
  /** Called with the index of a series that is chosen in the legend. */
  readonly chooseSeries?: ((index: number) => void) | undefined;
}

interface Piece {
  readonly name: string;
  readonly color: string;
  readonly from: number;
  readonly to: number;
}

function piecesOf({ series }: BucketData, index: number, below: readonly string[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let [up, down] = [0, 0];
  for (const [each, { name, values }] of series.entries()) {
    const value = values[index] ?? 0;
    const color = colorOf(each);
    const isBelow = below.includes(name);
    const from = isBelow ? down : up;
    const to = isBelow ? down - value : up + value;
    if (isBelow) down = to;
    else up = to;
    pieces.push({ name, color, from, to });
  }
  return pieces;
}

export function StackedChart({ data, name, below, choose, chooseSeries }: Props) {
  const [ref, width] = useWidth<HTMLElement>();
  const [pointed, setPointed] = useState<number>();
  const stacks = data.buckets.map((_, index) => piecesOf(data, index, below));
  const ends = stacks.flatMap((pieces) => pieces.map(({ to }) => to));
  const x = scaleBand<number>()
    .domain(data.buckets.keys())
    .range([MARGIN.left, Math.max(MARGIN.left + 1, width - MARGIN.right)])
    .padding(0.3);
  const y = scaleLinear()
    .domain(valueDomain(ends))
    .nice(4)
    .range([HEIGHT - MARGIN.bottom, MARGIN.top]);
  const middle = (index: number): number => (x(index) ?? 0) + x.bandwidth() / 2;
  const short: BucketData['short'] = (value, ...axis) => data.short(Math.abs(value), ...axis);
  return (
    <>
      <Legend
        names={data.series.map((each) => each.name)}
        actionOf={chooseSeries && ((index) => () => chooseSeries(index))}
        titleOf={texts.charts.whoIs}
      />
      <figure ref={ref} className={style.chart}>
        {width > 0 && (
          <svg width={width} height={HEIGHT} role="img" aria-label={name} onPointerLeave={() => setPointed(undefined)}>
            <Axes data={{ ...data, short }} x={middle} y={y} width={width} hasBands />
            {stacks.map((pieces, index) => (
              // biome-ignore lint/a11y/noStaticElementInteractions: keys use the marks
              <g
                key={data.buckets[index]?.long}
                className={choose && style.active}
                onPointerMove={() => setPointed(index)}
                onClick={choose && (() => choose(index))}
              >
                <rect x={x(index)} y={0} width={x.bandwidth()} height={HEIGHT} fill="transparent" />
                {pieces.map(({ name: piece, color, from, to }) => (
                  <rect
                    key={piece}
                    x={x(index)}
                    y={Math.min(y(from), y(to))}
                    width={x.bandwidth()}
                    height={Math.abs(y(from) - y(to))}
                    fill={color}
                    fillOpacity={data.buckets[index]?.part === undefined ? 1 : 0.3}
                    stroke={data.buckets[index]?.part === undefined ? 'var(--surface)' : color}
                    strokeDasharray={data.buckets[index]?.part === undefined ? undefined : '3 3'}
                  />
                ))}
              </g>
            ))}
          </svg>
        )}
        <ColumnOverlay data={data} x={x} width={width} choose={choose} pointed={pointed} point={setPointed} />
      </figure>
      <Notes data={data} />
    </>
  );
}
