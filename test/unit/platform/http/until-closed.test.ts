// Signals of responses whose client leaves before, while or after the work for them begins.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { untilClosed } from '../../../../src/platform/http/until-closed.js';

const server = createServer();

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => server.close());

/** A request, and how its client leaves. */
async function open(): Promise<{ res: ServerResponse; leave: () => Promise<unknown> }> {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: service\r\n\r\n');
  const [, res] = await once(server, 'request');
  const leave = () => {
    client.destroy();
    return once(res, 'close');
  };
  return { res, leave };
}

test('is aborted when the client leaves', async () => {
  const { res, leave } = await open();
  const signal = untilClosed(res);
  expect(signal.aborted).toBe(false);
  await leave();
  expect(signal.aborted).toBe(true);
});

test('is aborted for a client that has left before', async () => {
  const { res, leave } = await open();
  await leave();
  expect(untilClosed(res).aborted).toBe(true);
});
