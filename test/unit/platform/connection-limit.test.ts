import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { connectionsOf, limitConnections } from '../../../src/platform/http/connection-limit.js';

test.each([
  [256, 128],
  [128, 64],
  [1024, 896],
  [1_048_576, 1_048_448],
])('of %i open files, %i may be connections', (filesMax, connections) => {
  expect(connectionsOf(filesMax)).toBe(connections);
});

test('connections above the limit are closed, and the log says so once', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const warnings: unknown[] = [];
  limitConnections(server, { warn: (fields: unknown) => void warnings.push(fields) }, 4);
  const { port } = server.address() as AddressInfo;
  const open = () => connect(port, '127.0.0.1');
  const kept = [open(), open()];
  await Promise.all(kept.map((socket) => once(socket, 'connect')));
  for (let n = 0; n < 3; n += 1) await once(open().resume(), 'close');
  expect(warnings).toEqual([{ err: 'more than 2 at once: raise the limit of open files (ulimit -n), which is 4' }]);
  for (const socket of kept) socket.destroy();
  server.close();
});
