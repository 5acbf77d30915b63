// Ports of processes under test. Each worker of vitest has a range of its own, below the ports that
// the system gives to connections: no other process takes a port before its own process listens,
// and none answers in its place.
import { createServer } from 'node:net';

const FIRST = 12_000;
const WORKERS_MAX = 10;
const PER_WORKER = 2_000;

const worker = Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS_MAX;
let taken = 0;

/** A free port that this worker has not used for a long time. */
export async function takePort(): Promise<number> {
  for (;;) {
    const port = FIRST + worker * PER_WORKER + (taken % PER_WORKER);
    taken += 1;
    if (await isFree(port)) return port;
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
