// How slow the machine is at the moment: a thread repeats a small piece of work, and its duration
// is compared with the shortest one. Event loop delays are divided by it.
import { Worker } from 'node:worker_threads';

const THREAD = `
  const { parentPort } = require('node:worker_threads');
  setInterval(() => {
    const startedAt = performance.now();
    let sum = 0;
    for (let index = 0; index < 2e6; index++) sum = (sum * 31 + index) | 0;
    parentPort.postMessage(performance.now() - startedAt + (sum & 0));
  }, 20);
`;

export interface Metronome {
  /** The median duration since the last call, relative to the shortest of all: 1 or more. */
  slowness(): number;
  stop(): Promise<unknown>;
}

export function startMetronome(): Metronome {
  const thread = new Worker(THREAD, { eval: true });
  let beats: number[] = [];
  let shortest = Number.POSITIVE_INFINITY;
  thread.on('message', (ms: number) => {
    beats.push(ms);
    shortest = Math.min(shortest, ms);
  });
  return {
    slowness: () => {
      const sorted = beats.sort((a, b) => a - b);
      beats = [];
      return Math.max(1, (sorted[sorted.length >> 1] ?? shortest) / shortest);
    },
    stop: () => thread.terminate(),
  };
}
