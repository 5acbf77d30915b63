// Numbers of events by type, as a receipt of keeping has them.

/** The most frequent first. The type without a name stands for the rest. */
export type EventCounts = readonly { readonly event: string; readonly events: number }[];

export const sumOf = (counts: EventCounts): number => counts.reduce((sum, { events }) => sum + events, 0);

export function addCounts(counts: EventCounts, more: EventCounts): EventCounts {
  const sums = new Map(counts.map(({ event, events }) => [event, events]));
  for (const { event, events } of more) sums.set(event, (sums.get(event) ?? 0) + events);
  return sorted([...sums].map(([event, events]) => ({ event, events })));
}

/**
 * How many of the `counted` events are gone. Events that arrived since hide as many; so the number
 * is never too large.
 */
export function goneOf(counted: EventCounts, left: EventCounts): EventCounts {
  const stillThere = new Map(left.map(({ event, events }) => [event, events]));
  return counted
    .map(({ event, events }) => ({ event, events: events - (stillThere.get(event) ?? 0) }))
    .filter(({ events }) => events > 0);
}

const sorted = (counts: EventCounts): EventCounts =>
  counts.toSorted((one, other) => other.events - one.events || (one.event < other.event ? -1 : 1));
