// Scheduled sweep: every ten minutes deletes orphaned payloads, which crashes leave behind, and
// first-seen times older than a day.
import { sweepFirstTimes } from '../src/ingest/first-seen-times.js';
import { discardPayload, payloadKeyPattern, payloadWrittenAt } from '../src/ingest/payloads.js';
import { isJobOfPayloadKnown } from '../src/ingest/queue.js';
import type { Redis } from '../src/platform/redis/client.js';
import type { Needs } from './runtime.js';
import { defineScheduledJob } from './scheduled-job.js';

export const startPayloadSweep = defineScheduledJob({
  name: 'sweep-orphaned-payloads',
  everyMs: 10 * 60_000,
  open({ redis, log }: Needs<'redis' | 'log'>) {
    const found = new Set<string>();
    return {
      async run() {
        await sweepFirstTimes(redis, Date.now());
        const swept = await sweepOrphanedPayloads(redis, Date.now(), found);
        if (swept > 0) log.warn({ swept }, 'payloads without a job were deleted');
      },
    };
  },
});

const ORPHAN_AGE_MS = 60 * 60_000;
const SCAN_COUNT = 500;

/**
 * Deletes payloads older than an hour whose job was never added or has ended. Resolves with their
 * number. `found` are those of the sweep before, and only these are deleted: by a clock that is
 * hours ahead, a payload whose job is just being added is old, too.
 */
export async function sweepOrphanedPayloads(redis: Redis, now: number, found: Set<string>): Promise<number> {
  let swept = 0;
  const before = new Set(found);
  found.clear();
  for await (const keys of redis.scanStream({ match: payloadKeyPattern, count: SCAN_COUNT })) {
    for (const key of keys as string[]) {
      const at = payloadWrittenAt(key);
      if (at === undefined || now - at < ORPHAN_AGE_MS) continue;
      if (await isJobOfPayloadKnown(redis, key)) continue;
      if (!before.has(key)) found.add(key);
      else if (await discardPayload(redis, key)) swept += 1;
    }
  }
  return swept;
}
