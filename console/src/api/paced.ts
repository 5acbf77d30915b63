// Paces the queries of a page with many answers, so that it stays below the limits of a session: a
// few run at a time, each starts a little after the one before, and one that meets a limit waits
// and runs again.
import { createPlaces, pause } from './places.js';
import { RequestFailed } from './request.js';

const RUNNING_MAX = 4;
const GAP_MS = 70;
/** Of a query: what still fails after two seconds is shown with its cause. */
const TRIES = 3;
const PAUSE_MS = 1100;

const places = createPlaces(RUNNING_MAX, GAP_MS);

export async function paced<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tried = 1; ; tried++) {
    await places.enter(signal);
    try {
      signal.throwIfAborted();
      return await run();
    } catch (error) {
      const isLimited = error instanceof RequestFailed && error.status === 429;
      if (!isLimited || tried >= TRIES || signal.aborted) throw error;
    } finally {
      places.leave();
    }
    await pause(PAUSE_MS);
  }
}
