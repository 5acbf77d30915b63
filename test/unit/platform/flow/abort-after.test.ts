// A timeout beside another signal, also when memory is collected meanwhile.
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { abortAfter } from '../../../../src/platform/flow/abort-after.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('ends after its time although memory is collected', async () => {
  const closing = new AbortController();
  const ended = new Promise((resolve) => {
    const signal = abortAfter(200, closing.signal);
    signal.addEventListener('abort', () => resolve(signal.reason));
  });
  for (let round = 0; round < 5; round += 1) {
    await delay(10);
    collect();
  }
  const reason = await Promise.race([ended, delay(10_000, 'never')]);
  expect(reason).toMatchObject({ name: 'TimeoutError' });
});

test('ends with the other signal', () => {
  const closing = new AbortController();
  const signal = abortAfter(60_000, closing.signal);
  closing.abort(new Error('closing'));
  expect(signal.reason).toEqual(new Error('closing'));
});
