// Isolates events that ClickHouse rejects by bisecting a failed insert: only the rejected events
// become dead letters, and all others of the same batch are stored.
import { type BisectableStore, bisectFailures } from '../../platform/flow/bisect-failures.js';
import type { Envelope } from '../envelope.js';
import { removeEvents } from './remove-events.js';
import { replayEvents } from './replay-events.js';

interface EventPlace {
  readonly envelope: number;
  readonly position: number;
}

/** Resolves with envelopes of the rejected events only; all others have been stored. */
export async function isolateRejected(
  envelopes: readonly Envelope[],
  { store, isRefused }: BisectableStore<Envelope>,
): Promise<Envelope[]> {
  const places = envelopes.flatMap((envelope, index) => placesIn(envelope, index));
  const refused = await bisectFailures(places, { store: (some) => store(only(envelopes, some)), isRefused });
  return only(envelopes, refused);
}

function placesIn(envelope: Envelope, index: number): EventPlace[] {
  const places: EventPlace[] = [];
  replayEvents(envelope, (_event, position) => places.push({ envelope: index, position }));
  return places;
}

function only(envelopes: readonly Envelope[], places: readonly EventPlace[]): Envelope[] {
  return envelopes.flatMap((envelope, index) => {
    const positions = new Set(places.filter((place) => place.envelope === index).map(({ position }) => position));
    if (positions.size === 0) return [];
    return removeEvents(envelope, (_event, position) => !positions.has(position)).envelope ?? [];
  });
}
