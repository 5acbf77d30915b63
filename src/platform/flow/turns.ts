// Fair scheduler of event loop time: pieces of work that take milliseconds run one per iteration,
// round-robin over keys, so that other connections and keys are not delayed by everything that one
// key has sent.
import { setImmediate as nextIteration } from 'node:timers/promises';
import { RoundRobin } from './round-robin.js';

export class Turns {
  readonly #waiting = new RoundRobin<() => void>();
  #isRunning = false;

  /** Resolves when the caller may run, up to its next await. */
  enter(key: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(key, resolve);
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (!this.#waiting.isEmpty) {
      this.#waiting.shift()?.();
      await nextIteration();
    }
    this.#isRunning = false;
  }
}
