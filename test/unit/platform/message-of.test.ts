// The message of an error for people: drivers and Node have errors without one.
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { messageOf } from '../../../src/platform/errors.js';
import { tryPort } from '../../../standalone/free-port.js';

test('names why a host with several addresses is not reached', async () => {
  const port = await tryPort('127.0.0.1', 0);
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  const error = await new Promise<unknown>((resolve) => {
    const socket = connect({ host: 'localhost', port, lookup: (_host, _options, done) => done(null, addresses) });
    socket.once('error', resolve);
  });
  expect(error).toMatchObject({ constructor: AggregateError, message: '' });
  expect(messageOf(error)).toBe(`connect ECONNREFUSED 127.0.0.1:${port}`);
});
