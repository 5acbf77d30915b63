// Scheduled usage rollup: today and yesterday every 15 s; the last five weeks every hour, because events may be stored late
// or erased.
import { rollUpCounts, rollUpStored } from '../src/usage/rollup.js';
import type { RunningJob, WorkerDeps } from './runtime.js';
import { startScheduledJob } from './scheduled-job.js';

const QUEUE = 'roll-up-usage';
const RECENT = { name: 'recent', days: 2, everyMs: 15_000 } as const;
// Stored events are counted in ClickHouse each time. The interval limits this to a twentieth of the time.
const REST_PER_WORK = 20;
const ALL = { name: 'all', days: 35, everyMs: 60 * 60_000 } as const;

export function startUsageRollup(deps: WorkerDeps): Promise<RunningJob> {
  let restUntil = 0;
  return startScheduledJob(deps, {
    queue: QUEUE,
    schedules: [RECENT, ALL],
    async run({ schedule }) {
      const now = new Date();
      const { days } = schedule === ALL.name ? ALL : RECENT;
      const isAnythingCounted = await rollUpCounts(deps, days, now);
      // Skip ClickHouse when nothing changed, and limit its load on large installations.
      const isDue = isAnythingCounted && now.getTime() >= restUntil;
      if (!isDue && schedule !== ALL.name) return;
      await rollUpStored(deps, days, now);
      restUntil = Date.now() + REST_PER_WORK * (Date.now() - now.getTime());
    },
  });
}
