// Columns over a few buckets or over numbers. Columns of unfinished buckets are outlined instead of
// filled.
import { scaleBand, scaleLinear } from 'd3-scale';
import { useState } from 'react';
import { ColumnOverlay } from './column-overlay.js';
import { Axes, HEIGHT, MARGIN, Notes } from './frame.js';
import style from './frame.module.css';
import { type BucketData, valueDomain } from './series.js';
import { useWidth } from './use-width.js';

const COLUMN_PIXELS_MAX = 56;

interface Props {
  readonly data: BucketData;
  readonly name: string;
  /** Called with the index of a column that is clicked. */
  readonly choose?: ((index: number) => void) | undefined;
}

export function ColumnChart({ data, name, choose }: Props) {
  const [ref, width] = useWidth<HTMLElement>();
  const [pointed, setPointed] = useState<number>();
  const { buckets } = data;
  const values = data.series[0]?.values ?? [];
  const previous = data.series[0]?.previous;
  const numbers = [...values, ...(previous ?? [])].filter((value) => value !== null);
  const x = scaleBand<number>()
    .domain(buckets.keys())
    .range([MARGIN.left, Math.max(MARGIN.left + 1, width - MARGIN.right)])
    .padding(0.25);
  const y = scaleLinear()
    .domain(valueDomain(numbers))
    .nice(4)
    .range([HEIGHT - MARGIN.bottom, MARGIN.top]);
  const middle = (index: number): number => (x(index) ?? 0) + x.bandwidth() / 2;
  const size = Math.min(x.bandwidth(), COLUMN_PIXELS_MAX);
  return (
    <>
      <figure ref={ref} className={style.chart}>
        {width > 0 && (
          <svg width={width} height={HEIGHT} role="img" aria-label={name} onPointerLeave={() => setPointed(undefined)}>
            <Axes data={data} x={middle} y={y} width={width} hasBands />
            {values.map((value, index) => {
              const top = Math.min(y(value ?? 0), y(0));
              const isPart = buckets[index]?.part !== undefined;
              return (
                // biome-ignore lint/a11y/noStaticElementInteractions: keys use the marks
                <g
                  key={buckets[index]?.long}
                  className={choose && style.active}
                  onPointerMove={() => setPointed(index)}
                  onClick={choose && (() => choose(index))}
                >
                  <rect x={x(index)} y={0} width={x.bandwidth()} height={HEIGHT} fill="transparent" />
                  {value !== null && (
                    <rect
                      x={middle(index) - size / 2}
                      y={top}
                      width={size}
                      height={Math.abs(y(value) - y(0))}
                      rx="3"
                      fill="var(--series-1)"
                      fillOpacity={isPart ? 0.15 : pointed === index ? 1 : 0.88}
                      stroke="var(--series-1)"
                      strokeWidth={isPart ? 1.5 : 0}
                      strokeDasharray="3 3"
                    />
                  )}
                  {typeof previous?.[index] === 'number' && (
                    <line
                      x1={middle(index) - size / 2 - 5}
                      x2={middle(index) + size / 2 + 5}
                      y1={y(previous[index])}
                      y2={y(previous[index])}
                      stroke="var(--text)"
                      strokeWidth="1.5"
                      strokeDasharray="4 3"
                    />
                  )}
                </g>
              );
            })}
          </svg>
        )}
        <ColumnOverlay data={data} x={x} width={width} choose={choose} pointed={pointed} point={setPointed} />
      </figure>
      <Notes data={data} />
    </>
  );
}
