// How long a project keeps its events: whole days by event type, and the edges that follow. Pure.
import { DAY_MS } from '../platform/utc-day.js';
import type { TimeRange } from '../query/analyze/resolved.js';

/** Days that events are kept; undefined for those that have no end. */
export interface Keep {
  readonly default?: number | undefined;
  readonly events: readonly { readonly event: string; readonly days: number }[];
}

/** Events of these types, or of all others, are deleted when their time is before the edge. */
export interface Edge {
  /** Undefined: the types that no other edge names. */
  readonly events: readonly string[] | undefined;
  readonly days: number;
  /** Epoch milliseconds: the start of a day in UTC. */
  readonly beforeMs: number;
}

const startOfDay = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;

/** Today is not counted, so that at least so many whole days are kept. */
const edgeAt = (days: number, nowMs: number): number => startOfDay(nowMs) - days * DAY_MS;

/** One edge for each number of days, the default last. */
export function edgesOf(keep: Keep, nowMs: number): Edge[] {
  const byDays = new Map<number, string[]>();
  for (const { event, days } of keep.events) byDays.set(days, [...(byDays.get(days) ?? []), event]);
  const named = [...byDays].map(([days, events]): Edge => ({ events, days, beforeMs: edgeAt(days, nowMs) }));
  if (keep.default === undefined) return named;
  return [...named, { events: undefined, days: keep.default, beforeMs: edgeAt(keep.default, nowMs) }];
}

/** The types that have an edge of their own. */
export const namedIn = (edges: readonly Edge[]): string[] => edges.flatMap(({ events }) => events ?? []);

interface Asked {
  readonly range: TimeRange;
  /** The range of `compare`. */
  readonly earlier?: TimeRange;
  readonly mentions: { readonly events: ReadonlySet<string> };
}

/** A warning for each edge behind which the query looks. */
export function warningsOfKeep(keep: Keep | undefined, { range, earlier, mentions }: Asked, nowMs: number): string[] {
  if (keep === undefined) return [];
  const edges = edgesOf(keep, nowMs);
  const named = new Set(namedIn(edges));
  const fromMs = Math.min(range.fromMs, earlier?.fromMs ?? range.fromMs);
  const isAsked = (event: string): boolean => mentions.events.size === 0 || mentions.events.has(event);
  return edges
    .filter(({ beforeMs }) => fromMs < beforeMs)
    .flatMap(({ events, days, beforeMs }) => {
      const date = new Date(beforeMs).toISOString().slice(0, 10);
      const until = `before ${date} are not kept (keep: ${days}d)`;
      if (events !== undefined) {
        const asked = events.filter(isAsked);
        return asked.length === 0 ? [] : [`events ${asked.join(', ')} ${until}`];
      }
      const isOther = mentions.events.size === 0 || [...mentions.events].some((event) => !named.has(event));
      return isOther ? [`${named.size === 0 ? 'events' : 'other events'} ${until}`] : [];
    });
}
