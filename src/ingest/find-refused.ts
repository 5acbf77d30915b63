// Events that the database refuses are found one by one, so that they alone are kept for a person to look at, and everything that
// was accepted together with them is stored.
import { type HalvingStore, storeByHalves } from '../platform/store-by-halves.js';
import { visitEvents } from './events.js';
import type { Frame } from './frame.js';
import { leaveOut } from './leave-out.js';

interface EventPlace {
  readonly frame: number;
  readonly position: number;
}

/** Resolves with what is refused, as frames that hold nothing else; everything else has been stored. */
export async function storeAllButRefused(
  frames: readonly Frame[],
  { store, isRefused }: HalvingStore<Frame>,
): Promise<Frame[]> {
  const places = frames.flatMap((frame, index) => placesIn(frame, index));
  const refused = await storeByHalves(places, { store: (some) => store(only(frames, some)), isRefused });
  return only(frames, refused);
}

function placesIn(frame: Frame, index: number): EventPlace[] {
  const places: EventPlace[] = [];
  visitEvents(frame, (_event, position) => places.push({ frame: index, position }));
  return places;
}

function only(frames: readonly Frame[], places: readonly EventPlace[]): Frame[] {
  return frames.flatMap((frame, index) => {
    const positions = new Set(places.filter((place) => place.frame === index).map(({ position }) => position));
    if (positions.size === 0) return [];
    return leaveOut(frame, (_event, position) => !positions.has(position)).frame ?? [];
  });
}
