// Runs the checks of checks.ts: all at once, each within a time limit. Used by `npm run doctor` and
// by the console.
import { setTimeout as delay } from 'node:timers/promises';
import type { Shard } from '../platform/clickhouse/shards.js';
import { CHECKS, type Check, type Finding, reasonOf, type Stores } from './checks.js';

export const CHECK_TIMEOUT_MS = 5000;

export interface Examined extends Finding {
  readonly name: string;
  /** What to do about a finding other than ok. */
  readonly advice: string;
}

/** `more` are checks beside those of the stores. */
export async function examineAll(stores: Stores, more: readonly Check[] = []): Promise<Examined[]> {
  // Without PostgreSQL the shards are those known before.
  const known = await Promise.race([stores.shards.read().catch(() => undefined), delay(CHECK_TIMEOUT_MS, undefined)]);
  const shards = known ?? stores.shards.known;
  const runs = [...CHECKS, ...more].flatMap((check) =>
    check.isOfShard === true
      ? shards.map((shard) => ({
          check,
          shard,
          name: shards.length === 1 ? check.name : `${check.name}, shard ${shard.id}`,
        }))
      : [{ check, shard: stores.shards.first, name: check.name }],
  );
  return Promise.all(
    runs.map(async ({ check, shard, name }) => ({
      ...{ name, advice: check.advice },
      ...(await examine(check, stores, shard)),
    })),
  );
}

async function examine(check: Check, stores: Stores, shard: Shard): Promise<Finding & Partial<Examined>> {
  const failure = (found: string) =>
    ({ state: 'failed', found, ...(check.unasked !== undefined && { advice: check.unasked }) }) as const;
  const silence = delay(CHECK_TIMEOUT_MS, failure('no answer within 5 s'), { ref: false });
  return Promise.race([check.run(stores, shard).catch((error: unknown) => failure(reasonOf(error))), silence]);
}
