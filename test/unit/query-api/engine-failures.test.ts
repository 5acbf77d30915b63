// Mapping of ClickHouse errors to responses.
import { ClickHouseError } from '@clickhouse/client';
import { expect, test } from 'vitest';
import { toPublicError } from '../../../src/query-api/engine-failures.js';

const CIRCUMSTANCES = { isLate: false, limits: { timeoutMs: 30_000, memoryBytes: 1024 ** 3 } };
const refusal = (code: string) => new ClickHouseError({ message: 'message of the engine', code, type: 'REFUSED' });

test.each([
  ['159', 504, 'longer than 30 s'],
  ['167', 400, 'more fields or conditions'],
  ['168', 400, 'more fields or conditions'],
  ['81', 503, 'cannot be answered right now'],
  ['201', 503, 'quota of the ClickHouse account is used up'],
  ['202', 503, 'cannot be answered right now'],
  ['241', 503, 'cannot be answered right now'],
  ['243', 503, "more of ClickHouse's disk than is free"],
  ['394', 503, 'cannot be answered right now'],
  ['439', 503, 'cannot be answered right now'],
  ['516', 503, 'cannot be answered right now'],
  ['396', 400, 'only the fields you need'],
  ['427', 400, 'regular expression'],
])('maps ClickHouse code %s to %i with "%s"', (code, status, words) => {
  expect(toPublicError(refusal(code), CIRCUMSTANCES)).toMatchObject({
    status,
    message: expect.stringContaining(words),
  });
});

test('answers with the memory limit when a query exceeds it', () => {
  const message = 'Query memory limit exceeded: would use 1.04 GiB, maximum: 1.00 GiB';
  const cause = new ClickHouseError({ message, code: '241', type: 'MEMORY_LIMIT_EXCEEDED' });
  expect(toPublicError(cause, CIRCUMSTANCES)).toMatchObject({
    status: 400,
    message: expect.stringContaining('1024 MiB'),
  });
});

test.each(['62', '1002'])('leaves ClickHouse code %s unchanged, because it is an internal error', (code) => {
  const cause = refusal(code);
  expect(toPublicError(cause, CIRCUMSTANCES)).toBe(cause);
});
