// Lines over time. The parts that lead to an unfinished bucket are dashed; missing values leave a
// gap.
import { scaleLinear, scalePoint } from 'd3-scale';
import { area, line } from 'd3-shape';
import { type PointerEvent, useState } from 'react';
import { Axes, HEIGHT, Legend, MARGIN, Notes, Panel } from './frame.js';
import style from './frame.module.css';
import { type BucketData, colorOf, type Series, valueDomain } from './series.js';
import { useWidth } from './use-width.js';

interface Props {
  readonly data: BucketData;
  readonly name: string;
  /** Series that are not drawn. */
  readonly hidden?: number;
  /** Called with the first and the last bucket over which the pointer was dragged. */
  readonly select?: ((first: number, last: number) => void) | undefined;
  /** What a click on the name of a series in the legend does. */
  readonly actionOf?: ((series: number) => (() => void) | undefined) | undefined;
}

export function LineChart({ data, name, hidden = 0, select, actionOf }: Props) {
  const [ref, width] = useWidth<HTMLElement>();
  const [pointed, setPointed] = useState<number>();
  const [start, setStart] = useState<number>();
  const { buckets, series } = data;
  const values = series.flatMap((each) => [...each.values, ...(each.previous ?? [])]).filter((value) => value !== null);
  const x = scalePoint<number>()
    .domain(buckets.keys())
    .range([MARGIN.left, Math.max(MARGIN.left + 1, width - MARGIN.right)]);
  const y = scaleLinear()
    .domain(valueDomain(values))
    .nice(4)
    .range([HEIGHT - MARGIN.bottom, MARGIN.top]);
  const at = (index: number): number => x(index) ?? 0;
  const point = (event: PointerEvent<SVGSVGElement>): number => {
    const left = event.clientX - event.currentTarget.getBoundingClientRect().left;
    const step = x.step() || 1;
    const index = Math.max(0, Math.min(buckets.length - 1, Math.round((left - MARGIN.left) / step)));
    setPointed(index);
    return index;
  };
  const end = (event: PointerEvent<SVGSVGElement>): void => {
    const last = point(event);
    if (start !== undefined && start !== last) select?.(Math.min(start, last), Math.max(start, last));
    setStart(undefined);
  };
  return (
    <>
      {(series.length > 1 || hidden > 0) && (
        <Legend names={series.map((each) => each.name)} hidden={hidden} actionOf={actionOf} />
      )}
      <figure ref={ref} className={style.chart}>
        {width > 0 && (
          <svg
            width={width}
            height={HEIGHT}
            role="img"
            aria-label={name}
            onPointerMove={point}
            onPointerDown={(event) => {
              const index = point(event);
              // A finger scrolls the page.
              if (select !== undefined && event.pointerType !== 'touch') setStart(index);
            }}
            onPointerUp={end}
            onPointerLeave={() => {
              setPointed(undefined);
              setStart(undefined);
            }}
          >
            <Axes data={data} x={at} y={y} width={width} />
            {start !== undefined && pointed !== undefined && (
              <rect
                className={style.selection}
                x={Math.min(at(start), at(pointed))}
                y={MARGIN.top}
                width={Math.abs(at(start) - at(pointed))}
                height={HEIGHT - MARGIN.bottom - MARGIN.top}
              />
            )}
            {series.map((each, index) => (
              <Line
                key={each.name}
                data={data}
                series={each}
                color={colorOf(index)}
                x={at}
                y={y}
                isAlone={series.length === 1}
              />
            ))}
            {pointed !== undefined && (
              <>
                <line
                  x1={at(pointed)}
                  x2={at(pointed)}
                  y1={MARGIN.top}
                  y2={HEIGHT - MARGIN.bottom}
                  className={style.cross}
                />
                {series.map((each, index) => {
                  const value = each.values[pointed];
                  return value === null || value === undefined ? null : (
                    <circle
                      key={each.name}
                      cx={at(pointed)}
                      cy={y(value)}
                      r="4"
                      fill={colorOf(index)}
                      stroke="var(--surface)"
                      strokeWidth="2"
                    />
                  );
                })}
              </>
            )}
          </svg>
        )}
        {pointed !== undefined && <Panel data={data} index={pointed} x={at(pointed)} width={width} />}
      </figure>
      <Notes data={data} />
    </>
  );
}

interface LineProps {
  readonly data: BucketData;
  readonly series: Series;
  readonly color: string;
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
  readonly isAlone: boolean;
}

type Point = readonly [index: number, value: number | null];

function Line({ data: { buckets }, series, color, x, y, isAlone }: LineProps) {
  const points = series.values.map((value, index): Point => [index, value]);
  const toLine = line<Point>()
    .defined(([, value]) => value !== null)
    .x(([index]) => x(index))
    .y(([, value]) => y(value ?? 0));
  const toArea = area<Point>()
    .defined(([, value]) => value !== null)
    .x(([index]) => x(index))
    .y0(y(0))
    .y1(([, value]) => y(value ?? 0));
  const earlier = series.previous?.map((value, index): Point => [index, value]);
  const last = points.at(-1);
  const endsInside = buckets.at(-1)?.part !== undefined && points.length > 1;
  const pieces = piecesOf(points, (index) => buckets[index]?.part !== undefined);
  return (
    <g fill="none" stroke={color} strokeWidth="2" strokeLinejoin="round" strokeLinecap="round">
      {isAlone && <path d={toArea(points) ?? ''} fill={color} fillOpacity="0.08" stroke="none" />}
      {earlier && <path d={toLine(earlier) ?? ''} strokeWidth="1.5" strokeOpacity="0.7" strokeDasharray="6 5" />}
      {pieces.map(({ piece, isDashed }) => (
        <path key={piece[0]?.[0]} d={toLine(piece) ?? ''} strokeDasharray={isDashed ? '2 5' : undefined} />
      ))}
      {endsInside && last !== undefined && last[1] !== null && (
        <circle cx={x(last[0])} cy={y(last[1])} r="3.5" fill="var(--surface)" />
      )}
      {loneOf(points).map(([index, value]) => (
        <circle key={index} cx={x(index)} cy={y(value ?? 0)} r="2.5" fill={color} />
      ))}
    </g>
  );
}

interface Piece {
  readonly piece: Point[];
  readonly isDashed: boolean;
}

/** The line in pieces: segments that lead to or from an unfinished bucket are dashed. */
function piecesOf(points: readonly Point[], isPart: (index: number) => boolean): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const [index, point] of points.entries()) {
    const before = points[index - 1];
    if (before === undefined) continue;
    const isDashed = isPart(index - 1) || isPart(index);
    const open = pieces.at(-1);
    if (open?.isDashed === isDashed) open.piece.push(point);
    else pieces.push({ piece: [before, point], isDashed });
  }
  return pieces;
}

/** Points between two gaps, which a line does not show. */
const loneOf = (points: readonly Point[]): readonly Point[] =>
  points.filter(
    ([, value], index) =>
      value !== null && (points[index - 1]?.[1] ?? null) === null && (points[index + 1]?.[1] ?? null) === null,
  );
