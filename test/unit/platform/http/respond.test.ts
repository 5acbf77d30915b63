// Log of requests that fail because a store is unavailable.
import type { Request, Response } from 'express';
import { afterEach, expect, test, vi } from 'vitest';
import { PublicError } from '../../../../src/platform/errors.js';
import { nameFailures } from '../../../../src/platform/http/respond.js';

afterEach(() => vi.useRealTimers());

function start() {
  const warn = vi.fn();
  const next = vi.fn();
  const handle = nameFailures({ warn });
  const fail = (id: string, message: string) => {
    const req = { method: 'POST', baseUrl: '', route: { path: '/track' }, headers: { 'x-request-id': id } };
    const error = Object.assign(new Error(message), { code: 'ECONNREFUSED' });
    handle(error, req as unknown as Request, { headersSent: false } as Response, next);
  };
  return {
    fail,
    answers: () => next.mock.calls.map(([error]) => (error instanceof PublicError ? error.status : error)),
    lines: () => warn.mock.calls.map(([{ err, ...fields }, text]) => [err.message, fields, text]),
  };
}

test('a cause is logged with the first request that it fails, and once within half a minute', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { fail, lines, answers } = start();
  for (let number = 0; number < 100; number++) fail(`a-${number}`, 'connect ECONNREFUSED redis');
  fail('b', 'connect ECONNREFUSED postgres');
  vi.advanceTimersByTime(30_000);
  fail('c', 'connect ECONNREFUSED redis');
  const fields = { method: 'POST', route: '/track' };
  expect(lines()).toEqual([
    ['connect ECONNREFUSED redis', { ...fields, request: 'a-0' }, 'request failed'],
    ['connect ECONNREFUSED postgres', { ...fields, request: 'b' }, 'request failed'],
    ['connect ECONNREFUSED redis', { ...fields, request: 'c', repeated: 99 }, 'request failed'],
  ]);
  expect(answers()).toEqual(Array.from({ length: 102 }, () => 503));
});
