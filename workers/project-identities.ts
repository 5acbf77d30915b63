// Runs the identity projection (PostgreSQL outbox → ClickHouse): at once after changes of this
// process, and every second for entries of other processes. Part of the job upsert-profiles. Each
// shard has a loop of its own, so that one that is unavailable holds up no others.
import { setTimeout as delay } from 'node:timers/promises';
import { CatalogRecorder } from '../src/catalog/recorder.js';
import { projectOutbox } from '../src/identity/outbox.js';
import { REGISTRY_EVERY_MS } from '../src/platform/clickhouse/shards.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import { createRepeatedWarning } from '../src/platform/repeated-warning.js';
import type { Needs, RunningJob } from './runtime.js';

const EVERY_MS = 1000;
// Pause between inserts, so that under load many changes share one.
const PAUSE_MS = 100;
const PAUSE_AFTER_FAILURE_MS = 1000;
/** Transactions at once, of all shards. Within one, names of the catalog are stored by another. */
const CONNECTIONS = 8;

export interface IdentityProjector extends RunningJob {
  /** Signals that the outbox has entries. */
  nudge(): void;
}

export function startIdentityProjector({
  config,
  postgres,
  redis,
  shards,
  log,
}: Needs<
  'postgres' | 'redis' | 'shards' | 'log',
  'CLICKHOUSE_DATABASE' | 'DATABASE_URL' | 'DATABASE_TLS'
>): IdentityProjector {
  const outbox = createPostgres(config, { poolMax: CONNECTIONS });
  const catalogs = new CatalogRecorder({ postgres, redis, log });
  const closing = new AbortController();
  const loops = new Map<number, { nudge: () => void; ended: Promise<void> }>();

  const pause = (ms: number) => delay(ms, undefined, { signal: closing.signal }).catch(() => {});

  function start(id: number): void {
    const alarm = new Alarm();
    loops.set(id, { nudge: () => alarm.nudge(), ended: run(id, alarm).finally(() => loops.delete(id)) });
  }

  /** Until the shard is removed. */
  async function run(id: number, alarm: Alarm): Promise<void> {
    const message = 'profiles and mappings could not be copied; trying again';
    const warn = createRepeatedWarning({ log, message, shard: id });
    while (!closing.signal.aborted) {
      await alarm.wait();
      const shard = shards.known.find((known) => known.id === id);
      if (shard === undefined) return;
      try {
        const copied = await projectOutbox({ postgres: outbox, shard, catalogs }, config.CLICKHOUSE_DATABASE);
        if (copied === 0) continue;
        alarm.nudge();
        await pause(PAUSE_MS);
      } catch (err) {
        // Entries that stay in the outbox are projected again.
        warn(err);
        await pause(PAUSE_AFTER_FAILURE_MS);
      }
    }
  }

  const startAll = () => {
    for (const { id } of shards.known) if (!loops.has(id)) start(id);
  };
  startAll();
  const timer = setInterval(startAll, REGISTRY_EVERY_MS);
  timer.unref();

  const nudge = () => {
    for (const loop of loops.values()) loop.nudge();
  };
  return {
    nudge,
    async close() {
      clearInterval(timer);
      closing.abort();
      nudge();
      await Promise.all([...loops.values()].map(({ ended }) => ended));
      await catalogs.close();
      await outbox.destroy();
    },
  };
}

/** Wakes a loop when it is nudged, and every second. */
class Alarm {
  #isNudged = true;
  #wake = () => {};

  nudge(): void {
    this.#isNudged = true;
    this.#wake();
  }

  async wait(): Promise<void> {
    if (!this.#isNudged) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, EVERY_MS);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#isNudged = false;
  }
}
