// Meter of a rate limit for requests that must not wait for Redis. Points are counted here and
// settled with Redis 20 times a second, all points of an id at once; an id that Redis finds above
// its limit is refused for the rest of its window. So a process may exceed the limit by what it
// accepts in 50 ms, once per window.
import { type RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

const SETTLE_EVERY_MS = 50;
const SECOND_MS = 1000;

export interface MeterOptions {
  /**
   * Counted within a second, fewer points than this are not reported to Redis, so that most ids
   * cost it nothing.
   */
  readonly unreported?: number;
  /**
   * Points of one request may be many: refuse while they are counted here, and until the excess has
   * been worked off.
   */
  readonly carriesExcess?: boolean;
}

export class BatchedMeter {
  readonly #limiter: RateLimiterRedis;
  readonly #unreported: number;
  readonly #carriesExcess: boolean;
  /** Counted, not yet reported to Redis. */
  #taken = new Map<string, number>();
  #secondEndsAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** By the monotonic clock. */
  readonly #refusedUntil = new Map<string, number>();

  constructor(limiter: RateLimiterRedis, { unreported = 0, carriesExcess = false }: MeterOptions = {}) {
    this.#limiter = limiter;
    this.#unreported = unreported;
    this.#carriesExcess = carriesExcess;
  }

  isExceeded(id: string): boolean {
    if (this.#refusedUntil.size > 0 && performance.now() < (this.#refusedUntil.get(id) ?? 0)) return true;
    return this.#carriesExcess && (this.#taken.get(id) ?? 0) > this.#limiter.points;
  }

  add(id: string, points: number): void {
    this.#taken.set(id, (this.#taken.get(id) ?? 0) + points);
    this.#timer ??= setTimeout(() => this.#settle(), SETTLE_EVERY_MS).unref();
  }

  #settle(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const [id, until] of this.#refusedUntil) if (until <= now) this.#refusedUntil.delete(id);
    const isSecondOver = now >= this.#secondEndsAt;
    if (isSecondOver) this.#secondEndsAt = now + SECOND_MS;
    const kept = new Map<string, number>();
    for (const [id, points] of this.#taken) {
      if (points >= this.#unreported) this.#report(id, points);
      else if (!isSecondOver) kept.set(id, points);
    }
    this.#taken = kept;
  }

  #report(id: string, points: number): void {
    this.#limiter.consume(id, points).catch((reason: unknown) => {
      if (!(reason instanceof RateLimiterRes)) return;
      const excess = this.#carriesExcess ? reason.consumedPoints / this.#limiter.points - 1 : 0;
      const excessMs = excess * this.#limiter.duration * SECOND_MS;
      this.#refusedUntil.set(id, performance.now() + reason.msBeforeNext + excessMs);
    });
  }
}
