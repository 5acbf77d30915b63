// Waits for results of other processes by polling, instead of fixed delays.
import { setTimeout as delay } from 'node:timers/promises';

// For what never comes. A machine with ten busy processes per core stretches a second to many.
const TIMEOUT_MS = 30_000;

const PAUSE_MS = { min: 10, max: 250, shareOfWait: 0.1 };

/**
 * Repeats `attempt` until it does not throw and resolves with its result; throws the last error
 * after `timeoutMs`. The longer it waits, the less often it tries, because attempts take CPU time
 * from what they wait for.
 */
export async function eventually<T>(attempt: () => T | Promise<T>, timeoutMs = TIMEOUT_MS): Promise<T> {
  const startedAt = Date.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > startedAt + timeoutMs) throw error;
    }
    const share = (Date.now() - startedAt) * PAUSE_MS.shareOfWait;
    await delay(Math.min(PAUSE_MS.max, Math.max(PAUSE_MS.min, share)));
  }
}
