// Promise timeout. A store that accepts a request but never replies counts as unavailable.

export class NoAnswer extends Error {}

/** Rejects with `NoAnswer` when `answer` has not settled after `ms`; a later result is ignored. */
export function withTimeout<T>(ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new NoAnswer(`no answer within ${ms} ms`)), ms);
    answer.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
