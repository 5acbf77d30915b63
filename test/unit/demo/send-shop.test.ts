// The sender of the demo shop, while the service does not answer: all requests wait for their next
// attempt.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { generateShop } from '../../../src/demo/generate.js';
import { sendShop } from '../../../src/demo/send-shop.js';
import { takePort } from '../../support/take-port.js';

test('requests that wait at the same time are no leak of listeners', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => warnings.push(name);
  process.on('warning', note);
  const aborting = new AbortController();
  const service = { url: `http://127.0.0.1:${await takePort()}`, publicKey: 'pk', secretKey: 'sk', userAgent: 'test' };
  const sending = sendShop(generateShop({ people: 3000, library: 'test', seed: 'demo', endMs: Date.UTC(2026, 0, 1) }), {
    ...service,
    signal: aborting.signal,
  });
  const ended = expect(sending).rejects.toThrow();
  await delay(1500);
  aborting.abort();
  await ended;
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
