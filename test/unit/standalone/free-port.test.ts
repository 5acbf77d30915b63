// Free ports of engines and processes.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { findFreePort, tryPort } from '../../../standalone/free-port.js';

const RANGE = '/proc/sys/net/ipv4/ip_local_port_range';
/** Linux's default; an administrator may have set another. */
const FIRST_OF_CONNECTIONS = 32_768;
const first = existsSync(RANGE) ? Number.parseInt(readFileSync(RANGE, 'utf8'), 10) : 0;

test.runIf(first >= FIRST_OF_CONNECTIONS)('are below those that the system gives to connections', async () => {
  const found = await Promise.all(Array.from({ length: 20 }, findFreePort));
  expect(found.filter((port) => port >= first)).toEqual([]);
});

test('are returned once, because they may not be bound yet', async () => {
  const found: number[] = [];
  // By chance alone, some of 500 ports out of 10,000 are equal in almost every run.
  for (let count = 0; count < 500; count += 1) found.push(await findFreePort());
  expect(new Set(found).size).toBe(found.length);
});

test('are not returned to two processes, which may not have bound them yet', async () => {
  vi.resetModules();
  const other = await import('../../../standalone/free-port.js');
  const found: number[] = [];
  // By chance alone, some of them are equal in almost every run.
  for (let count = 0; count < 300; count += 1) found.push(await findFreePort(), await other.findFreePort());
  expect(new Set(found).size).toBe(found.length);
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
