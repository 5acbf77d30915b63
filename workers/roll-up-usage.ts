// Usage by day: today and yesterday every quarter of a minute, the last five weeks every hour, because events may wait long
// before they are stored, and may be erased.
import { Worker } from 'bullmq';
import { openQueue } from '../src/platform/redis/open-queue.js';
import { rollUpCounts, rollUpStored } from '../src/usage/rollup.js';
import type { RunningJob, WorkerDeps } from './runtime.js';

const QUEUE = 'roll-up-usage';
const RECENT = { name: 'recent', days: 2, everyMs: 15_000 } as const;
// What is stored is counted in the engine, anew each time: that takes a twentieth of its time at most.
const REST_PER_WORK = 20;
const ALL = { name: 'all', days: 35, everyMs: 60 * 60_000 } as const;

export async function startUsageRollup(deps: WorkerDeps): Promise<RunningJob> {
  const { redis, log } = deps;
  const schedule = openQueue(QUEUE, { connection: redis });
  // Upserting is safe from any number of processes: the schedulers are two, whoever declares them.
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
      // An idle service does not ask the engine, and a large one not all the time.
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
