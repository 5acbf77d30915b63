// Locks of ingest partitions on a shard with several hosts, where a query id does not lock
// (query-id-lock.ts is enough where there is one). A lock is a row in PostgreSQL with an owner, a
// lease and an epoch, and each insert has the epoch in its query id. See
// docs/decisions/0016-writer-epoch.md.
//
// States of a lock, and what changes them:
// - free: no owner, settled. The next writer takes it and raises the epoch.
// - held: an owner that renews its lease while its insert runs, and gives the lock back when the
//   engine has answered.
// - unsettled: the lease has ended, or the owner got no answer. Its insert may be running on any
//   host. The next writer claims the lock after a pause for packets that are on their way, waits
//   until every host says that no such insert runs, and then raises the epoch.
//
// A writer that was stopped asks its lease before the first byte of an insert and before the last
// (NativeInsert.requireHeld), so it sends nothing after its lease has ended.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import { type Moment, momentNow, msSince } from '../moment.js';
import type { Postgres } from '../postgres/client.js';
import type { ClickHouseClient } from './client.js';
import { takesNoInserts } from './failures.js';
import { epochPrefix, type RunningInserts } from './running-inserts.js';

export interface ShardWriterTimes {
  readonly leaseMs: number;
  /** For packets of an ended lease that are on their way. */
  readonly graceMs: number;
}

const TIMES: ShardWriterTimes = { leaseMs: 10_000, graceMs: 5_000 };
const RENEWALS_PER_LEASE = 4;
const POLL_MS = 50;

/** The lock, held for one insert. */
export interface Held {
  /** Client of the host that takes the insert. */
  readonly clickhouse: ClickHouseClient;
  readonly queryId: string;
  /** Throws when another writer may have the lock. */
  readonly requireHeld: () => void;
}

export interface ShardWriterDeps {
  readonly postgres: Postgres;
  readonly shard: number;
  /** They take inserts; the next one when one does not answer, or is behind. */
  readonly hosts: readonly ClickHouseClient[];
  readonly running: RunningInserts;
  readonly times?: ShardWriterTimes;
}

interface Taken {
  readonly epoch: string;
  readonly host: number;
  /** When the lease was last asked for. */
  since: Moment;
}

/** How an insert has ended. */
interface End {
  /** Otherwise it may still run. */
  readonly hasAnswered: boolean;
  /** Whether the host gave no answer, or takes no inserts now. */
  readonly isAtNextHost: boolean;
}

const NO_ANSWER: End = { hasAnswered: false, isAtNextHost: true };
const STORED: End = { hasAnswered: true, isAtNextHost: false };

class WriterLost extends Error {
  constructor(lock: string) {
    super(`the lock ${lock} may belong to another writer`);
    this.name = 'WriterLost';
  }
}

export class ShardWriter {
  readonly #deps: ShardWriterDeps;
  readonly #times: ShardWriterTimes;
  readonly #owner = randomUUID();
  readonly #known = new Set<string>();

  constructor(deps: ShardWriterDeps) {
    this.#deps = deps;
    this.#times = deps.times ?? TIMES;
  }

  /** Runs one insert at a time of a lock, in all processes and on all hosts. */
  async insert(lock: string, send: (held: Held) => Promise<void>, signal?: AbortSignal): Promise<void> {
    const taken = await this.#take(lock, signal);
    const clickhouse = this.#hostOf(taken);
    const renewing = setInterval(() => void this.#renew(lock, taken), this.#times.leaseMs / RENEWALS_PER_LEASE);
    let end = NO_ANSWER;
    try {
      const requireHeld = () => {
        if (msSince(taken.since) >= this.#times.leaseMs) throw new WriterLost(lock);
      };
      await send({ clickhouse, queryId: `${epochPrefix(lock)}${taken.epoch}`, requireHeld });
      end = STORED;
    } catch (error) {
      if (error instanceof ClickHouseError) end = { hasAnswered: true, isAtNextHost: takesNoInserts(error) };
      throw error;
    } finally {
      clearInterval(renewing);
      await this.#release(lock, taken, end);
    }
  }

  #hostOf({ host }: Taken): ClickHouseClient {
    const { hosts, shard } = this.#deps;
    const found = hosts[host % hosts.length];
    if (found === undefined) throw new Error(`shard ${shard} has no host`);
    return found;
  }

  async #take(lock: string, signal: AbortSignal | undefined): Promise<Taken> {
    await this.#create(lock);
    for (;;) {
      const taken =
        (await this.#update(lock, 'epoch = epoch + 1, is_settled = false', 'owner IS NULL AND is_settled')) ??
        (await this.#takeOver(lock, signal));
      if (taken !== undefined) return taken;
      await delay(POLL_MS * (0.5 + Math.random()), undefined, { signal });
    }
  }

  async #create(lock: string): Promise<void> {
    if (this.#known.has(lock)) return;
    const { postgres, shard } = this.#deps;
    await postgres('shard_writers').insert({ shard, lock }).onConflict(['shard', 'lock']).ignore();
    this.#known.add(lock);
  }

  /** Undefined while another writer has the lock, or when it was claimed by another meanwhile. */
  async #takeOver(lock: string, signal: AbortSignal | undefined): Promise<Taken | undefined> {
    const { graceMs } = this.#times;
    const ended = `NOT is_settled AND expires_at < now() - interval '${graceMs} milliseconds'`;
    const claim = await this.#update(lock, 'epoch = epoch', ended);
    if (claim === undefined) return undefined;
    const owned = [`owner = ? AND epoch = ? AND expires_at > now()`, this.#owner, claim.epoch] as const;
    while ((await this.#deps.running.count(lock, 0)) > 0) {
      await delay(POLL_MS * (0.5 + Math.random()), undefined, { signal });
      if ((await this.#update(lock, 'epoch = epoch', ...owned)) === undefined) return undefined;
    }
    return this.#update(lock, 'epoch = epoch + 1', ...owned);
  }

  /** Takes or renews the lease where the condition holds. */
  async #update(
    lock: string,
    change: string,
    condition: string,
    ...values: readonly string[]
  ): Promise<Taken | undefined> {
    const { postgres, shard } = this.#deps;
    const since = momentNow();
    const { rows } = await postgres.raw<{ rows: { epoch: string; host: number }[] }>(
      `UPDATE shard_writers SET owner = ?, expires_at = now() + interval '${this.#times.leaseMs} milliseconds', ${change}
       WHERE shard = ? AND lock = ? AND ${condition} RETURNING epoch, host`,
      [this.#owner, shard, lock, ...values],
    );
    return rows[0] && { ...rows[0], since };
  }

  /** A lease that cannot be renewed ends by itself. */
  async #renew(lock: string, taken: Taken): Promise<void> {
    const condition = 'owner = ? AND epoch = ? AND expires_at > now()';
    const renewed = await this.#update(lock, 'epoch = epoch', condition, this.#owner, taken.epoch).catch(() => {});
    if (renewed !== undefined) taken.since = renewed.since;
  }

  /** When it fails, the lease ends by itself. */
  async #release(lock: string, { epoch }: Taken, { hasAnswered, isAtNextHost }: End): Promise<void> {
    const { postgres, shard } = this.#deps;
    await postgres('shard_writers')
      .where({ shard, lock, owner: this.#owner, epoch })
      .update({
        ...{ owner: null, is_settled: hasAnswered, expires_at: postgres.raw('now()') },
        ...(isAtNextHost && { host: postgres.raw('host + 1') }),
      })
      .catch(() => {});
  }
}
