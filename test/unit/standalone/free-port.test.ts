// Free ports of engines and processes.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { findFreePort, tryPort } from '../../../standalone/free-port.js';

const RANGE = '/proc/sys/net/ipv4/ip_local_port_range';

test.runIf(existsSync(RANGE))('are none that the system gives to connections', async () => {
  const [first = 0, last = 0] = readFileSync(RANGE, 'utf8').trim().split(/\s+/).map(Number);
  const found = await Promise.all(Array.from({ length: 20 }, findFreePort));
  expect(found.filter((port) => port >= first && port <= last)).toEqual([]);
});

test('are free', async () => {
  const port = await findFreePort();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  try {
    await expect(tryPort('127.0.0.1', port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  } finally {
    server.close();
  }
});
