// Events that the database refuses are found by halving, so that they alone are kept for a person to look at, and everything
// that was accepted together with them is stored.

import { visitEvents } from './events.js';
import type { Frame } from './frame.js';
import { leaveOut } from './leave-out.js';

interface EventPlace {
  readonly frame: number;
  readonly position: number;
}

/**
 * Resolves with what is refused, as frames that hold nothing else; everything else has been stored. `store` rejects for refused
 * frames with an error that `isRefused` knows; any other error passes through, and the whole may be repeated.
 */
export async function storeByHalves(
  frames: readonly Frame[],
  { store, isRefused }: { store: (frames: readonly Frame[]) => Promise<void>; isRefused: (error: unknown) => boolean },
): Promise<Frame[]> {
  async function storeOrHalve(places: readonly EventPlace[]): Promise<readonly EventPlace[]> {
    try {
      await store(only(frames, places));
      return [];
    } catch (error) {
      if (!isRefused(error)) throw error;
      return places.length === 1 ? places : halve(places);
    }
  }
  async function halve(places: readonly EventPlace[]): Promise<readonly EventPlace[]> {
    const middle = Math.ceil(places.length / 2);
    const first = await storeOrHalve(places.slice(0, middle));
    return [...first, ...(await storeOrHalve(places.slice(middle)))];
  }

  const places = frames.flatMap((frame, index) => placesIn(frame, index));
  return only(frames, await storeOrHalve(places));
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
