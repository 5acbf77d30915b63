// Paths merged by position: a node for each step that people took at a position, a link for each
// pair that followed another.
import type { Answer } from '../api/answer.js';
import { numberIn } from './columns.js';

export interface FlowNode {
  readonly position: number;
  readonly name: string;
  readonly people: number;
}

export interface FlowLink {
  readonly from: FlowNode;
  readonly to: FlowNode;
  readonly people: number;
}

export interface Flow {
  /** Nodes by position, the largest first. */
  readonly columns: readonly (readonly FlowNode[])[];
  readonly links: readonly FlowLink[];
}

/** Steps of a position beyond these are one. */
const NAMES_MAX = 6;

export function toFlow({ rows }: Answer, rest: string): Flow {
  const paths = rows.map((row) => ({
    steps: Array.isArray(row.path) ? row.path.map(String) : [],
    people: numberIn(row, 'users') ?? 0,
  }));
  const length = paths.reduce((most, { steps }) => Math.max(most, steps.length), 0);
  const counts = Array.from({ length }, (_, position) => {
    const ofPosition = new Map<string, number>();
    for (const { steps, people } of paths) {
      const name = steps[position];
      if (name !== undefined) ofPosition.set(name, (ofPosition.get(name) ?? 0) + people);
    }
    return ofPosition;
  });
  const columns = counts.map((ofPosition, position) => {
    const sorted = [...ofPosition].sort(([, a], [, b]) => b - a);
    const others = sorted.slice(NAMES_MAX).reduce((sum, [, people]) => sum + people, 0);
    const shown = [...sorted.slice(0, NAMES_MAX), ...(others > 0 ? [[rest, others] as const] : [])];
    return shown.map(([name, people]): FlowNode => ({ position, name, people }));
  });
  const nodeOf = (position: number, name: string): FlowNode | undefined =>
    columns[position]?.find((node) => node.name === name) ?? columns[position]?.find((node) => node.name === rest);
  const links = new Map<string, { from: FlowNode; to: FlowNode; people: number }>();
  for (const { steps, people } of paths) {
    for (let position = 1; position < steps.length; position++) {
      const from = nodeOf(position - 1, steps[position - 1] ?? '');
      const to = nodeOf(position, steps[position] ?? '');
      if (from === undefined || to === undefined) continue;
      const key = JSON.stringify([position, from.name, to.name]);
      links.set(key, { from, to, people: (links.get(key)?.people ?? 0) + people });
    }
  }
  return { columns, links: [...links.values()] };
}
