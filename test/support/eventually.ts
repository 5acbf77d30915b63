// Waits for results of other processes by polling, instead of fixed delays.
import { setTimeout as delay } from 'node:timers/promises';

// For what never comes. A machine with ten busy processes per core stretches a second to many.
const TIMEOUT_MS = 30_000;

/**
 * Repeats `attempt` until it does not throw and resolves with its result; throws the last error
 * after `timeoutMs`.
 */
export async function eventually<T>(attempt: () => T | Promise<T>, timeoutMs = TIMEOUT_MS): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await delay(25);
  }
}
