// Memory of one database of a Redis that others use at the same time.
import type { Redis } from '../../src/platform/redis/client.js';

/** Bytes of the database's keys, and of answers that its clients have not read yet. */
export async function redisBytesOf(redis: Redis): Promise<number> {
  let sum = 0;
  for (const key of await redis.keys('*')) sum += Number(await redis.memory('USAGE', key, 'SAMPLES', 0));
  const database = `db=${redis.options.db ?? 0}`;
  for (const client of String(await redis.client('LIST')).split('\n')) {
    if (client.split(' ').includes(database)) sum += Number(/ omem=(\d+)/.exec(client)?.[1] ?? 0);
  }
  return sum;
}
