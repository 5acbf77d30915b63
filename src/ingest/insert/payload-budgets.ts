// Payloads of ingest jobs that a worker holds in memory, by shard: a shard that stores nothing
// fills its part, and the others go on with theirs.
import { BOUNDS } from '../../platform/flow/bounds.js';
import { ByteSemaphore } from '../../platform/flow/byte-semaphore.js';

/** Part of a shard's bytes that is reserved for its prompt queue. */
const PROMPT_SHARE = 1 / 4;

export interface PayloadBudget {
  readonly prompt: ByteSemaphore;
  readonly bulk: ByteSemaphore;
}

export class PayloadBudgets {
  readonly #budgets = new Map<number, PayloadBudget>();

  /** Returns those of new shards, by id, which take their part from the others. */
  divideAmong(shardIds: readonly number[]): ReadonlyMap<number, PayloadBudget> {
    const bytes = Math.min(BOUNDS.ingestShardPayloadBytes, BOUNDS.ingestPayloadBytes / shardIds.length);
    const [promptBytes, bulkBytes] = [bytes * PROMPT_SHARE, bytes * (1 - PROMPT_SHARE)];
    for (const { prompt, bulk } of this.#budgets.values()) {
      prompt.bytesMax = promptBytes;
      bulk.bytesMax = bulkBytes;
    }
    const added = new Map<number, PayloadBudget>();
    for (const id of shardIds.filter((shardId) => !this.#budgets.has(shardId))) {
      added.set(id, { prompt: new ByteSemaphore(promptBytes), bulk: new ByteSemaphore(bulkBytes) });
    }
    for (const [id, budget] of added) this.#budgets.set(id, budget);
    return added;
  }
}
