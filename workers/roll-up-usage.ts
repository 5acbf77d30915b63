// Scheduled usage rollup: today and yesterday every 15 s; the last five weeks every hour, because
// events may be stored late or erased.
import { rollUpCounts, rollUpStored } from '../src/usage/rollup.js';
import type { Needs } from './runtime.js';
import { defineScheduledJob } from './scheduled-job.js';

const DAYS = { recent: 2, all: 35 } as const;
// Stored events are counted in ClickHouse each time. The interval limits this to a twentieth of the
// time.
const REST_PER_WORK = 20;

export const startUsageRollup = defineScheduledJob({
  name: 'roll-up-usage',
  everyMs: { recent: 15_000, all: 60 * 60_000 },
  open(deps: Needs<'shards' | 'postgres' | 'redis' | 'log'>) {
    let restUntil = 0;
    return {
      async run(schedule) {
        const now = new Date();
        const startedMs = performance.now();
        const days = schedule === 'all' ? DAYS.all : DAYS.recent;
        const isAnythingCounted = await rollUpCounts(deps, days, now);
        // Skip ClickHouse when nothing changed, and limit its load on large installations.
        const isDue = isAnythingCounted && startedMs >= restUntil;
        if (!isDue && schedule !== 'all') return;
        await rollUpStored(deps, days, now);
        const endedMs = performance.now();
        restUntil = endedMs + REST_PER_WORK * (endedMs - startedMs);
      },
    };
  },
});
