// Whether a Redis keeps what it is told. It holds accepted events that are not stored yet: without
// an append-only file a restart loses them, and with eviction a full memory does.
import type { Logger } from '../log.js';
import type { Redis } from './client.js';

export const KEEPING_ADVICE =
  'set appendonly yes and maxmemory-policy noeviction, or take a plan that persists: it holds what was accepted and is not stored yet';

export interface Keeping {
  readonly isKept: boolean;
  /** `appendonly yes, noeviction`. */
  readonly found: string;
}

/** `info`: the sections persistence and memory of INFO. */
export function toKeeping(info: string): Keeping {
  const appends = /^aof_enabled:1/m.test(info);
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'unknown';
  return { isKept: appends && policy === 'noeviction', found: `appendonly ${appends ? 'yes' : 'no'}, ${policy}` };
}

/**
 * What Redis could not write to its disk, by the section persistence of INFO; undefined when it
 * could. While its append-only file is not written, it refuses every write (MISCONF).
 */
export function findFailedWrite(info: string): string | undefined {
  if (/^aof_last_write_status:err/m.test(info)) return 'its append-only file cannot be written';
  return /^rdb_last_bgsave_status:err/m.test(info) ? 'its last snapshot has failed' : undefined;
}

/**
 * Why Redis refuses writes; undefined when it takes them. Asks by a write to a key that does not
 * exist, which writes nothing.
 */
export const findRefusal = (redis: Redis): Promise<string | undefined> =>
  redis.set('doctor', '', 'XX').then(
    () => undefined,
    (error: Error) => error.message,
  );

export const readKeeping = async (redis: Redis): Promise<Keeping> =>
  toKeeping(`${await redis.info('persistence')}\n${await redis.info('memory')}`);

/** Logs a warning once the connection stands, unless Redis keeps everything. */
export function warnUnlessKept(redis: Redis, log: Logger): void {
  const check = (): void => {
    readKeeping(redis).then(
      ({ isKept, found }) => {
        if (!isKept) log.warn({ found }, `redis may lose accepted events: ${found}; ${KEEPING_ADVICE}`);
      },
      // Managed servers may forbid INFO.
      (err: unknown) => log.warn({ err }, 'redis does not say whether it keeps accepted events'),
    );
  };
  if (redis.status === 'ready') check();
  else redis.once('ready', check);
}
