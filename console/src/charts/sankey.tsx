// Paths as a Sankey diagram: the steps of each position below each other, joined by bands as wide
// as the people who took both.
import { useState } from 'react';
import type { Flow, FlowLink, FlowNode } from '../answer/flow.js';
import { compact, exact, percent } from '../answer/format.js';
import { drawingTexts } from '../texts/drawings.js';
import { texts } from '../texts.js';
import { type Mark, Marks } from './marks.js';
import style from './sankey.module.css';
import { colorOf, LETTER_PIXELS } from './series.js';
import { useWidth } from './use-width.js';

const HEIGHT = 420;
const NODE_WIDTH = 12;
const GAP = 26;
const TOP = 20;
/** Narrower columns have no room for names: the diagram scrolls. */
const COLUMN_PIXELS_MIN = 136;

interface Placed {
  readonly node: FlowNode;
  readonly x: number;
  readonly y: number;
  readonly height: number;
  readonly color: string;
  /** The name, as much of it as has room before the next column. */
  readonly label: string;
}

interface Band {
  readonly link: FlowLink;
  readonly path: string;
  readonly color: string;
}

function layOut({ columns, links }: Flow, width: number): { nodes: readonly Placed[]; bands: readonly Band[] } {
  const tallest = Math.max(...columns.map((nodes) => nodes.reduce((sum, { people }) => sum + people, 0)), 1);
  const gaps = Math.max(...columns.map((nodes) => nodes.length), 1) * GAP;
  const scale = (HEIGHT - TOP - gaps) / tallest;
  const step = columns.length > 1 ? (width - COLUMN_PIXELS_MIN) / (columns.length - 1) : 0;
  const names = [...new Set(columns.flat().map(({ name }) => name))];
  const placed = new Map<FlowNode, Placed>();
  for (const [position, nodes] of columns.entries()) {
    const room = position === columns.length - 1 ? COLUMN_PIXELS_MIN : step;
    let y = TOP;
    for (const node of nodes) {
      const height = Math.max(2, node.people * scale);
      const color = colorOf(names.indexOf(node.name));
      placed.set(node, { node, x: position * step, y, height, color, label: short(node.name, room) });
      y += height + GAP;
    }
  }
  const used = { out: new Map<FlowNode, number>(), in: new Map<FlowNode, number>() };
  const take = (side: Map<FlowNode, number>, node: FlowNode, size: number): number => {
    const at = side.get(node) ?? 0;
    side.set(node, at + size);
    return at;
  };
  const orderOf = (node: FlowNode): number => placed.get(node)?.y ?? 0;
  const sorted = [...links].sort((a, b) => orderOf(a.from) - orderOf(b.from) || orderOf(a.to) - orderOf(b.to));
  const bands = sorted.flatMap((link): Band[] => {
    const [from, to] = [placed.get(link.from), placed.get(link.to)];
    if (from === undefined || to === undefined) return [];
    const size = link.people * scale;
    const [y1, y2] = [from.y + take(used.out, link.from, size), to.y + take(used.in, link.to, size)];
    return [{ link, path: bandPath([from.x + NODE_WIDTH, y1], [to.x, y2], size), color: from.color }];
  });
  return { nodes: [...placed.values()], bands };
}

type Point = readonly [x: number, y: number];

function bandPath([x1, y1]: Point, [x2, y2]: Point, size: number): string {
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}V${y2 + size}C${middle} ${y2 + size} ${middle} ${y1 + size} ${x1} ${y1 + size}Z`;
}

interface Props {
  readonly flow: Flow;
  /** Begins the paths with an event. */
  readonly anchor?: ((event: string) => void) | undefined;
}

export function Sankey({ flow, anchor }: Props) {
  const [ref, visible] = useWidth<HTMLElement>();
  const [pointed, setPointed] = useState<FlowLink>();
  const width = Math.max(visible, flow.columns.length * COLUMN_PIXELS_MIN);
  const { nodes, bands } = layOut(flow, width);
  const canBegin = ({ name: event, position }: FlowNode): boolean =>
    anchor !== undefined && position > 0 && event !== texts.charts.rest;
  const marks = nodes
    .filter(({ node }) => canBegin(node))
    .map(
      ({ node, x, y, height }): Mark => ({
        name: drawingTexts.beginAt(node.name, node.position + 1, exact(node.people)),
        box: [x, y - TOP, COLUMN_PIXELS_MIN - TOP, height + TOP],
        choose: () => anchor?.(node.name),
      }),
    );
  const whole = flow.columns[0]?.reduce((sum, { people }) => sum + people, 0) ?? 0;
  const largest = flow.columns[1]?.[0];
  const name = drawingTexts.paths(exact(whole), largest?.name ?? '', percent((largest?.people ?? 0) / (whole || 1)));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section ref={ref} className={style.scroll} tabIndex={0} aria-label={drawingTexts.steps}>
        {visible > 0 && (
          <svg width={width} height={HEIGHT} role="img" aria-label={name} onPointerLeave={() => setPointed(undefined)}>
            {bands.map(({ link, path, color }) => (
              <path
                key={`${link.from.position} ${link.from.name} ${link.to.name}`}
                d={path}
                fill={color}
                fillOpacity={pointed === link ? 0.55 : pointed === undefined ? 0.25 : 0.1}
                onPointerMove={() => setPointed(link)}
              />
            ))}
            {nodes.map(({ node, x, y, height, color, label }) => (
              // biome-ignore lint/a11y/noStaticElementInteractions: keys use the marks
              <g
                key={`${node.position} ${node.name}`}
                className={`${style.node} ${canBegin(node) ? style.active : ''}`}
                onClick={() => canBegin(node) && anchor?.(node.name)}
              >
                {label !== node.name && <title>{node.name}</title>}
                <rect x={x} y={y} width={NODE_WIDTH} height={height} rx="2" fill={color} />
                <text x={x} y={y - 6}>
                  {label} <tspan className={style.people}>{compact(node.people)}</tspan>
                </text>
              </g>
            ))}
          </svg>
        )}
        {visible > 0 && <Marks label={drawingTexts.begin} marks={marks} />}
      </section>
      <p className={style.note} aria-hidden="true">
        {pointed === undefined
          ? drawingTexts.pathsNote
          : `${pointed.from.name} → ${pointed.to.name}: ${exact(pointed.people)}`}
      </p>
    </>
  );
}

/** Beside a name stands its number. */
const NUMBER_PIXELS = 45;

function short(name: string, room: number): string {
  const length = Math.floor((room - NUMBER_PIXELS) / LETTER_PIXELS);
  return name.length > length ? `${name.slice(0, length - 1)}…` : name;
}
