// Whether the service can run on a Redis at all: not on a cluster, which refuses commands whose
// keys are on different servers, not on a replica, which refuses writes, and not on the Redis of
// another installation, because each would take the jobs of the other and store events in its own
// databases, nor in a database that it does not have.
import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigProblem } from '../config-problem.js';
import type { Logger } from '../log.js';
import { createRepeatedWarning } from '../repeated-warning.js';
import type { Redis } from './client.js';

export const SERVER_ADVICE =
  'take a primary without cluster mode: the service writes, and needs all keys on one server';

/** Holds a keyed hash of the installation whose jobs are in this database of the Redis. */
const INSTALLATION_KEY = 'installation';

const ASK_EVERY_MS = 1000;

/** What the server is, by its INFO, when the service cannot run on it; undefined for any other. */
export function findUnusable(info: string): string | undefined {
  if (/^redis_mode:cluster/m.test(info)) return 'a Redis Cluster';
  return /^slave_read_only:1/m.test(info) ? 'a replica, which refuses writes' : undefined;
}

/**
 * Which database of REDIS_URL the server does not have: clients then go on with the first one,
 * which may be that of another service. Undefined when it has it.
 */
export async function findMissingDatabase(redis: Redis): Promise<string | undefined> {
  const { db = 0 } = redis.options;
  if (db === 0) return undefined;
  const error = await redis.select(db).catch((thrown: unknown) => thrown);
  if (!(error instanceof Error && /index is out of range/i.test(error.message))) return undefined;
  return `a Redis without the database ${db}`;
}

/**
 * Throws a ConfigProblem for a cluster, a replica, and a Redis of an installation with another
 * secret; an unused one belongs to this installation from now on. Resolves with the error of one
 * that refuses writes, as while its disk or its memory is full.
 */
export async function requireUsableRedis(redis: Redis, secretKeyBase: string): Promise<Error | undefined> {
  const unusable = findUnusable(await redis.info().catch(() => ''));
  if (unusable !== undefined) throw new ConfigProblem(`REDIS_URL is ${unusable}: ${SERVER_ADVICE}`);
  const missing = await findMissingDatabase(redis);
  if (missing !== undefined) throw new ConfigProblem(`REDIS_URL is ${missing}: take one that it has`);
  const own = createHmac('sha256', secretKeyBase).update(INSTALLATION_KEY).digest('hex');
  const holder = await claim(redis, own).catch((error: Error) => error);
  if (holder instanceof Error) return holder;
  if (holder === own) return undefined;
  throw new ConfigProblem(
    `REDIS_URL is the Redis of another installation, with another SECRET_KEY_BASE: each would take the jobs of the other. Use another Redis, or another database of it (redis://host:6379/1); if SECRET_KEY_BASE was changed, set it back, or delete the key of the old one when that is lost: docs/operating.md, "Changing SECRET_KEY_BASE"`,
  );
}

/** For processes that do nothing without writes: resolves when Redis takes them. */
export async function waitForUsableRedis(redis: Redis, secretKeyBase: string, log: Logger): Promise<void> {
  const warn = createRepeatedWarning({ log, message: 'Redis refuses writes; the jobs begin when it takes them' });
  for (;;) {
    const refusal = await requireUsableRedis(redis, secretKeyBase);
    if (refusal === undefined) return;
    warn(refusal);
    await delay(ASK_EVERY_MS);
  }
}

/** Resolves with the installation that has the Redis. */
async function claim(redis: Redis, own: string): Promise<string> {
  await redis.set(INSTALLATION_KEY, own, 'NX');
  return (await redis.get(INSTALLATION_KEY)) ?? own;
}
