// Rate limiter over fixed windows, counted in Redis for all processes; while Redis is unavailable
// each process counts for itself, because a limit must not stop the service.
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import type { Redis } from '../redis/client.js';

interface WindowOptions {
  readonly name: string;
  readonly points: number;
  readonly seconds: number;
  /** Above this, an id costs Redis nothing until its window ends. */
  readonly inMemoryAbove?: number;
}

export function createWindowLimiter(
  redis: Redis,
  { name, points, seconds, inMemoryAbove }: WindowOptions,
): RateLimiterRedis {
  const window = { keyPrefix: `limit:${name}`, points, duration: seconds };
  return new RateLimiterRedis({
    ...window,
    storeClient: redis,
    ...(inMemoryAbove !== undefined && { inMemoryBlockOnConsumed: inMemoryAbove + 1 }),
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory(window),
  });
}
