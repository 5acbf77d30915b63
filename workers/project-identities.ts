// Runs the identity projection (PostgreSQL outbox → ClickHouse): at once after changes of this
// process, and every second for entries of other processes. Part of the job upsert-profiles.
import { setTimeout as delay } from 'node:timers/promises';
import { CatalogRecorder } from '../src/catalog/recorder.js';
import { projectOutbox } from '../src/identity/outbox.js';
import type { Needs, RunningJob } from './runtime.js';

const EVERY_MS = 1000;
// Pause between inserts, so that under load many changes share one.
const PAUSE_MS = 100;
const PAUSE_AFTER_FAILURE_MS = 1000;

export interface IdentityProjector extends RunningJob {
  /** Signals that the outbox has entries. */
  nudge(): void;
}

export function startIdentityProjector({
  config,
  postgres,
  clickhouse,
  log,
}: Needs<'postgres' | 'clickhouse' | 'log', 'CLICKHOUSE_DATABASE'>): IdentityProjector {
  const catalogs = new CatalogRecorder({ postgres, log });
  const closing = new AbortController();
  let isNudged = true;
  let wake = () => {};

  async function untilNudged(): Promise<void> {
    if (isNudged) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, EVERY_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const pause = (ms: number) => delay(ms, undefined, { signal: closing.signal }).catch(() => {});

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      await untilNudged();
      isNudged = false;
      try {
        const copied = await projectOutbox({ postgres, clickhouse, catalogs }, config.CLICKHOUSE_DATABASE);
        if (copied === 0) continue;
        isNudged = true;
        await pause(PAUSE_MS);
      } catch (err) {
        // Entries that stay in the outbox are projected again.
        log.warn({ err }, 'profiles and mappings could not be copied; trying again');
        await pause(PAUSE_AFTER_FAILURE_MS);
      }
    }
  }
  const running = run();

  const nudge = () => {
    isNudged = true;
    wake();
  };
  return {
    nudge,
    async close() {
      closing.abort();
      nudge();
      await running;
      await catalogs.close();
    },
  };
}
