// Ports of processes under test. Each process of tests holds a range of its own, below the ports
// that the system gives to connections, and those of free-port.ts: no other process takes a port
// before its own process listens, and none answers in its place, also when several runs share the
// machine.
import { createServer, type Server } from 'node:net';

const FIRST = 12_000;
const LAST = 21_999;
const PER_RANGE = 400;

// The first port of a range is kept open for as long as this process lives.
let range: Promise<number> | undefined;
let taken = 0;

/** A free port that this process has not used for a long time. */
export async function takePort(): Promise<number> {
  range ??= claimRange();
  const first = await range;
  for (let attempt = 0; attempt < PER_RANGE; attempt += 1) {
    const port = first + 1 + (taken % (PER_RANGE - 1));
    taken += 1;
    const server = await tryListen(port);
    if (server === undefined) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error(`no port is free from ${first} to ${first + PER_RANGE - 1}`);
}

async function claimRange(): Promise<number> {
  for (let first = FIRST; first + PER_RANGE - 1 <= LAST; first += PER_RANGE) {
    const server = await tryListen(first);
    if (server === undefined) continue;
    server.unref();
    return first;
  }
  throw new Error(`no range of ports is free from ${FIRST} to ${LAST}`);
}

const tryListen = (port: number): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, () => resolve(server));
  });
