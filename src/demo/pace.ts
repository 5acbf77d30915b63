// Spreads requests evenly over time, so that they stay below a rate limit.
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Each call resolves when its `cost` is due at that rate per second. A pause earns no credit: what
 * follows it is spread as well.
 */
export function createPace(perSecond: number, signal: AbortSignal | undefined): (cost: number) => Promise<void> {
  let dueMs = 0;
  return async (cost) => {
    const nowMs = performance.now();
    const startMs = Math.max(dueMs, nowMs);
    dueMs = startMs + (cost * 1000) / perSecond;
    if (startMs > nowMs) await sleep(startMs - nowMs, undefined, { signal });
  };
}
