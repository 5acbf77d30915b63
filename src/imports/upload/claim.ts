// One import of a project at a time, in all processes: a key in Redis that its holder renews, and
// that ends by itself when the process is killed.
import { randomUUID } from 'node:crypto';
import { PublicError } from '../../platform/errors.js';
import type { ProjectId } from '../../platform/ids.js';
import type { Redis } from '../../platform/redis/client.js';

const HELD_MS = 30_000;
const RENEW_MS = 10_000;

const RENEW = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('pexpire', KEYS[1], ARGV[2]) or 0";
const RELEASE = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1]) or 0";

/** Resolves with the function that ends the claim. Rejects with rate_limited while there is one. */
export async function claimImport(redis: Redis, projectId: ProjectId): Promise<() => Promise<void>> {
  const key = `import:${projectId}`;
  const holder = randomUUID();
  if ((await redis.set(key, holder, 'PX', HELD_MS, 'NX')) === null) {
    throw new PublicError('rate_limited', 'another import of this project is running; wait for its end, or cancel it');
  }
  const renewal = setInterval(() => {
    // A failure is repeated in ten seconds.
    redis.eval(RENEW, 1, key, holder, HELD_MS).catch(() => undefined);
  }, RENEW_MS);
  renewal.unref();
  return async () => {
    clearInterval(renewal);
    // Without Redis the claim ends by itself.
    await redis.eval(RELEASE, 1, key, holder).catch(() => undefined);
  };
}
