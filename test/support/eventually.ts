// Waiting for what happens in other processes, without guessing how long it takes.
import { setTimeout as delay } from 'node:timers/promises';

/** Repeats `attempt` until it does not throw, and resolves with what it returned; after `timeoutMs` its last error wins. */
export async function eventually<T>(attempt: () => T | Promise<T>, timeoutMs = 15_000): Promise<T> {
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
