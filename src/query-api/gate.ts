// How many queries run at once in this process, and how many may wait. Beyond that a quick "later" is better than a slow
// answer: every waiting query would only run into its deadline.
import { PublicError } from '../platform/errors.js';

export interface Gate {
  /**
   * Runs the task when there is room. Rejects at once when the queue is full, and with the signal's reason when it is
   * aborted while waiting.
   */
  run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T>;
  readonly running: number;
  readonly waiting: number;
}

export function createGate(options: { concurrency: number; waitingMax: number }): Gate {
  let running = 0;
  // In order of arrival; a Set, because who gives up leaves from the middle.
  const waiting = new Set<() => void>();

  function waitForRoom(signal: AbortSignal): Promise<void> {
    if (running < options.concurrency) {
      running++;
      return Promise.resolve();
    }
    if (waiting.size >= options.waitingMax) {
      return Promise.reject(new PublicError('rate_limited', 'too many queries are running; try again in a minute'));
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        waiting.delete(enter);
        reject(signal.reason);
      };
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      waiting.add(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Room passes straight to whoever waits longest, so nobody can slip in between. */
  function leave(): void {
    const [next] = waiting;
    if (next === undefined) {
      running--;
      return;
    }
    waiting.delete(next);
    next();
  }

  return {
    async run(task, signal) {
      signal.throwIfAborted();
      await waitForRoom(signal);
      try {
        return await task();
      } finally {
        leave();
      }
    },
    get running() {
      return running;
    },
    get waiting() {
      return waiting.size;
    },
  };
}
