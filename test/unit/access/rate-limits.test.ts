// Limits of invitation mails. Redis is unavailable here, so the process counts for itself.
import { expect, test } from 'vitest';
import { createRateLimits } from '../../../src/access/rate-limits.js';
import { parseConfig } from '../../../src/platform/config.js';
import type { Redis } from '../../../src/platform/redis/client.js';

const STORES = {
  DATABASE_URL: 'postgres://x',
  REDIS_URL: 'redis://x',
  CLICKHOUSE_URL: 'http://x',
  SECRET_KEY_BASE: 'x'.repeat(32),
};
const REDIS = { status: 'end', defineCommand: () => {} } as unknown as Redis;

test('one person reaches half of the mails to an address, and others can still invite it', async () => {
  const settings = parseConfig({ ...STORES, INVITATION_MAILS_PER_ADDRESS_PER_DAY_MAX: '3' });
  const { invitationMail } = createRateLimits(settings, REDIS);
  const answers: unknown[] = [];
  for (const person of ['eve', 'eve', 'eve', 'ann', 'bob']) {
    const subjects = { personAndAddress: `${person} dan`, address: 'dan', installation: 'all' };
    answers.push(await invitationMail.take(subjects).catch((error: Error) => error.message));
  }
  const ofEve = 'too many requests; the limit is 2 per day for an address from all that one person has';
  expect(answers).toEqual([
    ...[undefined, undefined, ofEve, undefined],
    'too many requests; the limit is 3 per day for an address',
  ]);
});
