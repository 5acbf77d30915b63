// Executes a Redis transaction as one promise: ioredis resolves even when commands of it failed.
import type { ChainableCommander } from 'ioredis';

/** Resolves with the reply of each command; rejects with the first error of any. */
export async function executed(transaction: ChainableCommander): Promise<unknown[]> {
  const results = await transaction.exec();
  if (results === null) throw new Error('the transaction was discarded');
  return results.map(([error, reply]) => {
    if (error !== null) throw error;
    return reply;
  });
}
