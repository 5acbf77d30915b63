// The one way every process reaches Redis. Commands wait for a lost connection to come back instead of failing: what a
// caller waits for at most is the caller's business (BullMQ requires maxRetriesPerRequest: null as well).
import { Redis } from 'ioredis';
import type { Config } from '../config.js';
import type { Logger } from '../log.js';

export type { Redis };

export function createRedis(config: Pick<Config, 'REDIS_URL'>): Redis {
  return new Redis(config.REDIS_URL, { maxRetriesPerRequest: null, enableReadyCheck: true });
}

const COMMAND_TIMEOUT_MS = 10_000;

/** For requests that someone waits for: a command fails when Redis is away, or silent for ten seconds. */
export function createImpatientRedis(config: Pick<Config, 'REDIS_URL'>, log: Logger): Redis {
  const redis = new Redis(config.REDIS_URL, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    // A command that has timed out is kept, with all that it carries, until it is answered or its connection ends.
    socketTimeout: COMMAND_TIMEOUT_MS,
  });
  redis.on('error', (err) => log.warn({ err }, 'redis cannot be reached'));
  return redis;
}
