// Turns on the event loop: pieces of work that each hold it for milliseconds begin one per iteration, and their keys take turns, so
// that neither other connections nor other keys wait for all that one key has sent.
import { setImmediate as nextIteration } from 'node:timers/promises';
import { RoundRobin } from './round-robin.js';

export class Turns {
  readonly #waiting = new RoundRobin<() => void>();
  #isRunning = false;

  /** Resolves when the caller may begin. What it does before it next waits is its turn. */
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
