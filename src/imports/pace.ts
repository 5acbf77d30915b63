// Limits the rate of calls by spacing them evenly, so that the service does not answer 429, which
// costs a minute.
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns a function that calls `send` at most `perSecond` times a second, in the order of calls.
 */
export function paced<A, R>(
  send: (argument: A) => Promise<R>,
  { perSecond, signal }: { readonly perSecond: number; readonly signal?: AbortSignal },
): (argument: A) => Promise<R> {
  let nextMs = 0;
  // One call waits at a time: after a pause of the process a later one would be due at once, and
  // pass those whose timers have not run.
  let turn: Promise<unknown> = Promise.resolve();
  async function waitForPlace(): Promise<void> {
    const nowMs = performance.now();
    const startMs = Math.max(nowMs, nextMs);
    nextMs = startMs + 1000 / perSecond;
    // Timers have a resolution of a millisecond: short waits add up until one is due.
    if (startMs - nowMs >= 1) await sleep(startMs - nowMs, undefined, { signal });
  }
  return (argument) => {
    const place = turn.then(waitForPlace, waitForPlace);
    turn = place;
    return place.then(() => send(argument));
  };
}
