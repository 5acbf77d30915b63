// How often a key, a session or an address may ask, and an organization may invite. Counted in Redis, so that all processes
// count together; while Redis is away each counts for itself, because a limit must not take down what it protects.
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../platform/config.js';
import { PublicError } from '../platform/errors.js';
import type { Redis } from '../platform/redis/client.js';

export interface RateLimit {
  /** Rejects with rate_limited when `key` has used up what it may. */
  take(key: string): Promise<void>;
}

export interface BatchedRateLimit {
  /** Throws rate_limited when `key` is known to have used up what it may. Never waits. */
  take(key: string): void;
}

export interface RateLimits {
  readonly track: BatchedRateLimit;
  readonly identify: RateLimit;
  readonly query: RateLimit;
  readonly session: RateLimit;
  readonly signIn: RateLimit;
  readonly invitation: RateLimit;
}

type Settings = Pick<
  Config,
  | 'TRACK_REQUESTS_PER_SECOND'
  | 'IDENTIFY_REQUESTS_PER_SECOND'
  | 'QUERY_REQUESTS_PER_SECOND'
  | 'SESSION_REQUESTS_PER_SECOND'
  | 'SIGN_IN_REQUESTS_PER_MINUTE'
  | 'INVITATIONS_PER_DAY_MAX'
>;

export function createRateLimits(settings: Settings, redis: Redis): RateLimits {
  const limiter = (name: string, points: number, duration: LimiterOptions['duration']) =>
    createLimiter(redis, { name, points, duration });
  return {
    track: new BatchedLimit(limiter('track', settings.TRACK_REQUESTS_PER_SECOND, 1)),
    identify: toRateLimit(limiter('identify', settings.IDENTIFY_REQUESTS_PER_SECOND, 1)),
    query: toRateLimit(limiter('query', settings.QUERY_REQUESTS_PER_SECOND, 1)),
    session: toRateLimit(limiter('session', settings.SESSION_REQUESTS_PER_SECOND, 1)),
    signIn: toRateLimit(limiter('sign-in', settings.SIGN_IN_REQUESTS_PER_MINUTE, 60)),
    invitation: toRateLimit(limiter('invitation', settings.INVITATIONS_PER_DAY_MAX, 86_400)),
  };
}

const NAME_OF_SECONDS = { 1: 'second', 60: 'minute', 86400: 'day' } as const;

interface LimiterOptions {
  readonly name: string;
  readonly points: number;
  /** Seconds. */
  readonly duration: keyof typeof NAME_OF_SECONDS;
}

function createLimiter(redis: Redis, { name, points, duration }: LimiterOptions): RateLimiterRedis {
  const window = { keyPrefix: `limit:${name}`, points, duration };
  return new RateLimiterRedis({
    ...window,
    storeClient: redis,
    // Whoever is over the limit costs Redis nothing until the window ends.
    inMemoryBlockOnConsumed: points + 1,
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory(window),
  });
}

const refusal = ({ points, duration }: RateLimiterRedis): PublicError =>
  new PublicError(
    'rate_limited',
    `too many requests; the limit is ${points} per ${NAME_OF_SECONDS[duration as LimiterOptions['duration']]}`,
  );

const toRateLimit = (limiter: RateLimiterRedis): RateLimit => ({
  async take(key) {
    try {
      await limiter.consume(key);
    } catch (reason) {
      throw reason instanceof RateLimiterRes ? refusal(limiter) : reason;
    }
  },
});

const SETTLE_EVERY_MS = 50;

/**
 * A request for an event must not wait for Redis twice. What was taken is counted here and settled with Redis 20 times a
 * second, all requests of a key at once; a key that Redis then finds over its limit is refused until its window ends. So a
 * process may let through what it can take in 50 ms beyond the limit, once per window.
 */
class BatchedLimit implements BatchedRateLimit {
  readonly #limiter: RateLimiterRedis;
  #taken = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  readonly #refusedUntil = new Map<string, number>();

  constructor(limiter: RateLimiterRedis) {
    this.#limiter = limiter;
  }

  take(key: string): void {
    const refusedUntil = this.#refusedUntil.get(key);
    if (refusedUntil !== undefined) {
      if (Date.now() < refusedUntil) throw refusal(this.#limiter);
      this.#refusedUntil.delete(key);
    }
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
    this.#timer ??= setTimeout(() => this.#settle(), SETTLE_EVERY_MS).unref();
  }

  #settle(): void {
    this.#timer = undefined;
    const taken = this.#taken;
    this.#taken = new Map();
    for (const [key, points] of taken) {
      this.#limiter.consume(key, points).catch((reason: unknown) => {
        if (reason instanceof RateLimiterRes) this.#refusedUntil.set(key, Date.now() + reason.msBeforeNext);
      });
    }
  }
}
