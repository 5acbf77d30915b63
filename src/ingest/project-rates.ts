// How many events and bytes a project may send per second, with whatever keys, in all web processes together. Both are known only
// when a request has been read, so a project may go beyond its limit by the requests that are being read, and is then
// refused until it would have been allowed that much.
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Redis } from '../platform/redis/client.js';
import { IngestRefusal, type RefusalReason } from './refusal.js';

export interface ProjectRates {
  /** Throws rate_limited while the project is beyond a limit. Costs nothing, so it comes before the body is read. */
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
/** Less than this part of the limit in a second is not told to Redis: most projects cost it nothing. */
const UNTOLD = 1 / 20;

class Meter {
  readonly #options: MeterOptions;
  readonly #limiter: RateLimiterRedis;
  /** Taken and not yet told to Redis. */
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
    const untold = new Map<string, number>();
    for (const [project, points] of this.#taken) {
      if (points >= this.#options.limit * UNTOLD) this.#tell(project, points);
      else if (!isSecondOver) untold.set(project, points);
    }
    this.#taken = untold;
  }

  #tell(project: string, points: number): void {
    this.#limiter.consume(project, points).catch((reason: unknown) => {
      if (!(reason instanceof RateLimiterRes)) return;
      // A request may be many times the limit: then so many seconds have been used up.
      const secondsBeyond = reason.consumedPoints / this.#options.limit - 1;
      this.#refusedUntil.set(project, Date.now() + reason.msBeforeNext + secondsBeyond * SECOND_MS);
    });
  }
}
