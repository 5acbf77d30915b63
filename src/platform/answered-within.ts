// Waiting for a store no longer than whoever asked will: one that takes a question and says nothing is away as well.

/** Rejects when there is no answer after `ms`; what comes later is ignored. */
export function answeredWithin<T>(ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
    answer.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
