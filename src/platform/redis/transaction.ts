// Executes a Redis transaction as one promise: ioredis resolves even when commands of it failed.
import type { ChainableCommander } from 'ioredis';

/** Rejects with the first error of any command. */
export async function executed(transaction: ChainableCommander): Promise<void> {
  const results = await transaction.exec();
  if (results === null) throw new Error('the transaction was discarded');
  for (const [error] of results) if (error !== null) throw error;
}
