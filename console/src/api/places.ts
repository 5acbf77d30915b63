// Places for what may run at a time. A caller that finds none waits for one that another leaves.

export interface Places {
  readonly enter: () => Promise<void>;
  readonly leave: () => void;
}

export function createPlaces(count: number): Places {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    async enter() {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    leave() {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}
