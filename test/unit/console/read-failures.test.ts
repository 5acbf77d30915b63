// Answers to the console that break off while they are read.
import { expect, test } from 'vitest';
import { withReadFailures } from '../../../console/src/api/read-failures.js';

const fail = (cause: unknown): never => {
  throw new Error(`it broke off: ${String(cause)}`);
};
const broken = (): ReadableStream =>
  new ReadableStream({ start: (controller) => controller.error(new TypeError('network error')) });

test('a body that is cut, or whose connection breaks, fails as it is told', async () => {
  await expect(withReadFailures(new Response('{"columns": ["cou'), fail).json()).rejects.toThrow('it broke off');
  await expect(withReadFailures(new Response(broken()), fail).json()).rejects.toThrow('network error');
  await expect(withReadFailures(new Response(broken()), fail).text()).rejects.toThrow('it broke off');
  await expect(withReadFailures(new Response(broken()), fail).blob()).rejects.toThrow('it broke off');
});

test('a whole body is read', async () => {
  expect(await withReadFailures(new Response('{"total": 7}'), fail).json()).toEqual({ total: 7 });
  expect(await withReadFailures(new Response('a,b'), fail).text()).toBe('a,b');
});
