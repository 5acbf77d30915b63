// Clocks of the stores, compared with that of this machine.
import { rowsOf } from '../platform/clickhouse/client.js';
import { withTimeout } from '../platform/flow/with-timeout.js';
import type { Stores } from './checks.js';

/** Shorter than the time of a check: those of the other stores are shown. */
const CLOCK_ANSWER_MS = 3000;

/** The differences of the clocks that answer, in milliseconds, and how many were asked. */
export async function readSkews(stores: Stores): Promise<{ skews: number[]; asked: number }> {
  const asked = await Promise.allSettled(clocks(stores).map((read) => withTimeout(CLOCK_ANSWER_MS, measureSkew(read))));
  const skews = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  return { skews, asked: asked.length };
}

const clocks = ({ postgres, redis, shards }: Stores): (() => Promise<number>)[] => [
  async () => Number((await postgres.raw('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now')).rows[0].now),
  async () => {
    const [seconds, microseconds] = await redis.time();
    return Number(seconds) * 1000 + Number(microseconds) / 1000;
  },
  ...shards.known.map(({ clickhouse }) => async () => {
    const query = 'SELECT toUnixTimestamp64Milli(now64(3)) AS now';
    const [row] = await rowsOf<{ now: string }>(clickhouse, query);
    return Number(row?.now);
  }),
];

/** Minimum clock difference to a store in milliseconds, without the round-trip time. */
async function measureSkew(read: () => Promise<number>): Promise<number> {
  await read();
  const before = Date.now();
  const there = await read();
  const after = Date.now();
  return Math.max(0, before - there, there - after);
}
