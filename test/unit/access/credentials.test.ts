// What is no key by its form costs nothing: neither a lookup nor memory.
import { expect, test } from 'vitest';
import { createCredentialStore } from '../../../src/access/credentials.js';
import { createLogger } from '../../../src/platform/log.js';
import type { Postgres } from '../../../src/platform/postgres/client.js';

test.each(['', 'nonsense', 'sk_short', `sk_${'x'.repeat(16_000)}`, `sk_${'-'.repeat(32)}`])('%.20s', async (text) => {
  const unreachable = (() => {
    throw new Error('PostgreSQL was asked');
  }) as unknown as Postgres;
  const log = createLogger({ process: 'test', level: 'silent' });
  let looks = 0;
  const store = createCredentialStore(unreachable, { cacheMs: 1000, log, now: () => ++looks });
  expect(await store.find(text)).toBeUndefined();
  expect(looks).toBe(0);
});
