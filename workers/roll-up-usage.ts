// Scheduled usage rollup: today and yesterday every 15 s; the last five weeks every hour, because events may be stored late
// or erased.
import { Worker } from 'bullmq';
import { openQueue } from '../src/platform/redis/open-queue.js';
import { rollUpCounts, rollUpStored } from '../src/usage/rollup.js';
import type { RunningJob, WorkerDeps } from './runtime.js';

const QUEUE = 'roll-up-usage';
const RECENT = { name: 'recent', days: 2, everyMs: 15_000 } as const;
// Stored events are counted in ClickHouse each time. The interval limits this to a twentieth of the time.
const REST_PER_WORK = 20;
const ALL = { name: 'all', days: 35, everyMs: 60 * 60_000 } as const;

export async function startUsageRollup(deps: WorkerDeps): Promise<RunningJob> {
  const { redis, log } = deps;
  const schedule = openQueue(QUEUE, { connection: redis });
  // Upserts are idempotent: two schedulers exist, however many processes declare them.
  for (const { name, everyMs } of [RECENT, ALL]) {
    const opts = { removeOnComplete: true, removeOnFail: 10 };
    await schedule.upsertJobScheduler(name, { every: everyMs }, { name, opts });
  }
  let restUntil = 0;
  const worker = new Worker(
    QUEUE,
    async ({ name }) => {
      const now = new Date();
      const { days } = name === ALL.name ? ALL : RECENT;
      const isAnythingCounted = await rollUpCounts(deps, days, now);
      // Skip ClickHouse when nothing changed, and limit its load on large installations.
      const isDue = isAnythingCounted && now.getTime() >= restUntil;
      if (!isDue && name !== ALL.name) return;
      await rollUpStored(deps, days, now);
      restUntil = Date.now() + REST_PER_WORK * (Date.now() - now.getTime());
    },
    { connection: redis.duplicate() },
  );
  worker.on('failed', (_job, err) => log.warn({ err }, 'usage could not be rolled up; the next run does'));
  worker.on('error', (err) => log.warn({ err }, 'the usage rollup lost touch with redis'));
  return {
    async close() {
      await worker.close();
      await schedule.close();
    },
  };
}
