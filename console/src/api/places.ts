// Places for what may run at a time, and begins a little after what began before. A caller that
// finds none waits for one that another leaves.

export interface Places {
  readonly enter: (signal: AbortSignal) => Promise<void>;
  readonly leave: () => void;
}

export function createPlaces(count: number, gapMs: number): Places {
  const waiting: (() => void)[] = [];
  let free = count;
  let nextAt = 0;
  return {
    async enter(signal) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      // Of a screen that has moved on: dozens would hold up what that asks instead.
      if (signal.aborted) return;
      const now = performance.now();
      nextAt = Math.max(now, nextAt + gapMs);
      if (nextAt > now) await pause(nextAt - now);
    },
    leave() {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
