// Rate limits of a project in events and bytes per second, across all keys and web processes. Both
// numbers are known only after a request has been read, so the requests being read may exceed the
// limit; the project is then rejected until the excess has been worked off.
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Redis } from '../platform/redis/client.js';
import { IngestRefusal, type RefusalReason } from './refusal.js';

export interface ProjectRates {
  /**
   * Throws rate_limited while the project exceeds a limit. It is cheap, so it runs before the body
   * is read.
   */
  admit(projectId: string): void;
  /** Counts what was read, or throws as `admit` does. */
  take(projectId: string, taken: { bytes: number; events: number }): void;
}

export interface ProjectRateLimits {
  readonly eventsPerSecond: number;
  readonly bytesPerSecond: number;
}

export function createProjectRates(redis: Redis, limits: ProjectRateLimits): ProjectRates {
  const events = new Meter(redis, { reason: 'events_per_second', limit: limits.eventsPerSecond, unit: 'events' });
  const bytes = new Meter(redis, { reason: 'bytes_per_second', limit: limits.bytesPerSecond, unit: 'bytes' });
  return {
    admit(projectId) {
      events.admit(projectId);
      bytes.admit(projectId);
    },
    take(projectId, taken) {
      events.take(projectId, taken.events);
      bytes.take(projectId, taken.bytes);
    },
  };
}

interface MeterOptions {
  readonly reason: RefusalReason;
  readonly limit: number;
  readonly unit: string;
}

const SECOND_MS = 1000;
const SETTLE_EVERY_MS = 50;
/**
 * Less than this fraction of the limit within a second is not reported to Redis, so that most
 * projects cost it nothing.
 */
const UNREPORTED = 1 / 20;

class Meter {
  readonly #options: MeterOptions;
  readonly #limiter: RateLimiterRedis;
  /** Counted, not yet reported to Redis. */
  #taken = new Map<string, number>();
  #secondEndsAt = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #refusedUntil = new Map<string, number>();

  constructor(redis: Redis, options: MeterOptions) {
    this.#options = options;
    const window = { keyPrefix: `limit:project:${options.unit}`, points: options.limit, duration: 1 };
    this.#limiter = new RateLimiterRedis({
      ...window,
      storeClient: redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory(window),
    });
  }

  admit(project: string): void {
    if (this.#refusedUntil.size > 0 && Date.now() < (this.#refusedUntil.get(project) ?? 0)) throw this.#refusal();
    if ((this.#taken.get(project) ?? 0) > this.#options.limit) throw this.#refusal();
  }

  take(project: string, points: number): void {
    this.admit(project);
    this.#taken.set(project, (this.#taken.get(project) ?? 0) + points);
    this.#timer ??= setTimeout(() => this.#settle(), SETTLE_EVERY_MS).unref();
  }

  #refusal(): IngestRefusal {
    const { reason, limit, unit } = this.#options;
    return new IngestRefusal(reason, `too many ${unit}; the limit is ${limit} ${unit} per second for a project`);
  }

  #settle(): void {
    this.#timer = undefined;
    const now = Date.now();
    for (const [project, until] of this.#refusedUntil) if (until <= now) this.#refusedUntil.delete(project);
    const isSecondOver = now >= this.#secondEndsAt;
    if (isSecondOver) this.#secondEndsAt = now + SECOND_MS;
    const unreported = new Map<string, number>();
    for (const [project, points] of this.#taken) {
      if (points >= this.#options.limit * UNREPORTED) this.#report(project, points);
      else if (!isSecondOver) unreported.set(project, points);
    }
    this.#taken = unreported;
  }

  #report(project: string, points: number): void {
    this.#limiter.consume(project, points).catch((reason: unknown) => {
      if (!(reason instanceof RateLimiterRes)) return;
      // One request may be many times the limit, and then uses up that many seconds.
      const secondsBeyond = reason.consumedPoints / this.#options.limit - 1;
      this.#refusedUntil.set(project, Date.now() + reason.msBeforeNext + secondsBeyond * SECOND_MS);
    });
  }
}
