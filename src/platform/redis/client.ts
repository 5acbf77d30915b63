// The one way every process reaches Redis. Commands wait for a lost connection to come back instead of failing: what a
// caller waits for at most is the caller's business (BullMQ requires maxRetriesPerRequest: null as well).
import { Redis } from 'ioredis';
import type { Config } from '../config.js';

export type { Redis };

export function createRedis(config: Pick<Config, 'REDIS_URL'>): Redis {
  return new Redis(config.REDIS_URL, { maxRetriesPerRequest: null, enableReadyCheck: true });
}
