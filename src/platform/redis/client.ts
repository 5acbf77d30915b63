// Redis clients. By default commands wait for a lost connection instead of failing, and callers set
// their own timeouts (BullMQ requires maxRetriesPerRequest: null).
import { Redis } from 'ioredis';
import type { Config } from '../config.js';
import { withTimeout } from '../flow/with-timeout.js';
import type { Logger } from '../log.js';
import { logErrors } from './log-errors.js';
import { warnOfTlsMismatch } from './tls-mismatch.js';

export type { Redis };

export type RedisSettings = Pick<Config, 'REDIS_URL'> & Partial<Pick<Config, 'REDIS_TLS'>>;

export function createRedis(config: RedisSettings): Redis {
  return new Redis(config.REDIS_URL, {
    maxRetriesPerRequest: null,
    enableReadyCheck: true,
    reconnectOnError: leavesReplica,
    ...tlsOf(config),
  });
}

const LEAVE_EVERY_MS = 1000;
/** By the options of a client, which its duplicates do not share. */
const leftAt = new WeakMap<object, number>();

/**
 * Whether a client connects again: after a failover, connections may stay with the server that was
 * the primary. Once a second at most, because there may be no other primary yet. The refused
 * command is not sent again, because it may be one of a transaction.
 */
function leavesReplica(this: object, { message }: Error): boolean {
  if (!message.startsWith('READONLY')) return false;
  const now = performance.now();
  if (now - (leftAt.get(this) ?? Number.NEGATIVE_INFINITY) < LEAVE_EVERY_MS) return false;
  leftAt.set(this, now);
  return true;
}

/** An address that begins with rediss:// is encrypted in any case. */
const tlsOf = ({ REDIS_TLS }: RedisSettings): { tls?: { rejectUnauthorized: boolean } } =>
  REDIS_TLS === 'self-signed' ? { tls: { rejectUnauthorized: false } } : {};

const COMMAND_TIMEOUT_MS = 10_000;
const READY_WITHIN_MS = 3000;

/**
 * For request handlers: a command fails when Redis is unavailable or does not reply within the
 * timeout.
 */
export function createFailFastRedis(config: RedisSettings, log: Logger, timeoutMs = COMMAND_TIMEOUT_MS): Redis {
  const redis = new Redis(config.REDIS_URL, {
    ...tlsOf(config),
    reconnectOnError: leavesReplica,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: timeoutMs,
    // A timed-out command stays in memory until it is answered or its connection ends.
    socketTimeout: timeoutMs,
  });
  logErrors(redis, { log, message: 'redis cannot be reached' });
  warnOfTlsMismatch(redis, log);
  redis.on('close', () => stopSocketTimer(redis));
  return redis;
}

/**
 * ioredis 5.11 keeps the timer of a connection that was lost with an open command, and ends the
 * next connection by it.
 */
function stopSocketTimer(redis: Redis): void {
  const timed = redis as unknown as { socketTimeoutTimer: NodeJS.Timeout | undefined };
  clearTimeout(timed.socketTimeoutTimer);
  timed.socketTimeoutTimer = undefined;
}

/**
 * Resolves when a fail-fast client can be used, so that a process listens only then and fails none
 * of its first requests. While Redis is unavailable, after a while: other requests need none.
 */
export async function firstReady(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return;
  const ready = new Promise<void>((resolve) => void redis.once('ready', resolve));
  await withTimeout(READY_WITHIN_MS, ready).catch(() => {});
}
