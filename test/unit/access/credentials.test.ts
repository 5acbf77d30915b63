// Cache of credentials: lookups per key, limits, and behaviour while PostgreSQL does not respond.
// PostgreSQL is a stub here; test/integration/credentials.test.ts uses a real one.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCredentialStore } from '../../../src/access/credentials.js';
import { digestKey, newKey } from '../../../src/access/keys.js';
import { createLogger } from '../../../src/platform/log.js';
import type { Postgres } from '../../../src/platform/postgres/client.js';

const log = createLogger({ process: 'test', level: 'silent' });
const PROJECT = {
  id: 'p',
  organization_id: 'o',
  secret_key_prefix: 'sk_',
  ip_policy: 'full',
  timezone: 'UTC',
  rules: null,
};

/** A stub of PostgreSQL that answers every lookup of a project with `answer`. */
function postgresThat(answer: () => Promise<unknown>): Postgres {
  const query = { join: () => query, leftJoin: () => query, where: () => query, whereNull: () => query, first: answer };
  return (() => query) as unknown as Postgres;
}

test.each(['', 'nonsense', 'sk_short', `sk_${'x'.repeat(16_000)}`, `sk_${'-'.repeat(32)}`])(
  'a malformed key is neither looked up nor cached (%#)',
  async (text) => {
    let looks = 0;
    const postgres = postgresThat(() => Promise.reject(new Error('PostgreSQL was asked')));
    const store = createCredentialStore(postgres, { cacheMs: 1000, log, now: () => ++looks });
    expect(await store.find(text)).toBeUndefined();
    expect(looks).toBe(0);
  },
);

describe('an unknown key', () => {
  test('costs one lookup per second, and works within a second after it is created', async () => {
    let [lookups, now] = [0, 1_000_000];
    let row: unknown;
    const postgres = postgresThat(async () => {
      lookups += 1;
      return row;
    });
    const store = createCredentialStore(postgres, { cacheMs: 60_000, log, now: () => now });
    const key = newKey('public');
    for (let asked = 0; asked < 1000; asked += 1) expect(await store.find(key)).toBeUndefined();
    await Promise.all(Array.from({ length: 1000 }, () => store.find(key)));
    expect(lookups).toBe(1);

    row = PROJECT;
    now += 999;
    expect(await store.find(key)).toBeUndefined();
    now += 1;
    expect(await store.find(key)).toMatchObject({ projectId: 'p' });
    expect(lookups).toBe(2);
  });

  test('never evicts a valid key from the cache', async () => {
    let lookups = 0;
    let row: unknown = PROJECT;
    const postgres = postgresThat(async () => {
      lookups += 1;
      return row;
    });
    const store = createCredentialStore(postgres, { cacheMs: 1000, log, now: () => 1_000_000 });
    const key = newKey('public');
    await store.find(key);
    row = undefined;
    for (let sent = 0; sent < 11_000; sent += 1) await store.find(newKey('public'));
    expect(lookups).toBe(11_001);
    expect(await store.find(key)).toMatchObject({ projectId: 'p' });
    expect(lookups).toBe(11_001);
  });
});

test('a key that was revoked does not return while PostgreSQL is unavailable', async () => {
  let answer = async (): Promise<unknown> => PROJECT;
  let now = 1_000_000;
  const postgres = postgresThat(() => answer());
  const store = createCredentialStore(postgres, { cacheMs: 1000, log, now: () => now });
  const key = newKey('public');
  expect(await store.find(key)).toMatchObject({ projectId: 'p' });
  answer = async () => undefined;
  now += 1000;
  expect(await store.find(key)).toBeUndefined();
  answer = () => Promise.reject(new Error('PostgreSQL is unavailable'));
  now += 1000;
  await expect(store.find(key)).rejects.toThrow('keys cannot be verified right now');
});

test('a remembered token ends at its time, also while PostgreSQL is unavailable', async () => {
  let now = 1_000_000;
  const row = { ...PROJECT, token_id: 't', kind: 'service', scopes: ['query'], expires_at: new Date(now + 30_000) };
  let answer: () => Promise<unknown> = async () => ({ rows: [{ ...row, is_use_due: false }] });
  const postgres = { raw: () => answer() } as unknown as Postgres;
  const store = createCredentialStore(postgres, { cacheMs: 60_000, log, now: () => now });
  const token = newKey('token');
  expect(await store.find(token)).toMatchObject({ kind: 'token', id: 't' });
  now += 29_999;
  expect(await store.find(token)).toMatchObject({ kind: 'token', id: 't' });
  now += 1;
  expect(await store.find(token)).toBeUndefined();
  answer = () => Promise.reject(new Error('unavailable'));
  now += 60_000;
  expect(await store.find(token)).toBeUndefined();
});

test('above a thousand concurrent lookups new keys are refused, and cached keys are still looked up', async () => {
  let answer = async (): Promise<unknown> => PROJECT;
  let now = 1_000_000;
  const store = createCredentialStore(
    postgresThat(() => answer()),
    { cacheMs: 1000, log, now: () => now },
  );
  const key = newKey('public');
  await store.find(key);
  now += 1000;
  let answerAll = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answerAll = resolve;
  });
  answer = async () => {
    await answered;
  };
  const flood = Array.from({ length: 1000 }, () => store.find(newKey('public')));
  await expect(store.find(newKey('public'))).rejects.toMatchObject({ kind: 'unavailable' });
  const known = store.find(key);
  answerAll();
  expect(await known).toBeUndefined();
  expect(new Set(await Promise.all(flood))).toEqual(new Set([undefined]));
});

test('a lookup sends the digest of a secret to PostgreSQL, never its text', async () => {
  const asked: unknown[] = [];
  const query = {
    join: () => query,
    leftJoin: () => query,
    where: (by: unknown) => asked.push(by) && query,
    whereNull: () => query,
    first: async () => undefined,
  };
  const postgres = Object.assign(() => query, {
    raw: async (sql: string, values: unknown) => asked.push(sql, values) && { rows: [] },
  }) as unknown as Postgres;
  const store = createCredentialStore(postgres, { cacheMs: 1000, log });
  for (const kind of ['secret', 'token', 'admin'] as const) {
    const key = newKey(kind);
    await store.find(key);
    expect(JSON.stringify(asked)).toContain(JSON.stringify(digestKey(key)));
    expect(JSON.stringify(asked)).not.toContain(key.slice(4));
  }
});

describe('while PostgreSQL accepts queries and does not reply', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('a valid key is accepted from the cache after two seconds, and looked up again when PostgreSQL replies', async () => {
    let answer = async (): Promise<unknown> => PROJECT;
    const store = createCredentialStore(
      postgresThat(() => answer()),
      { cacheMs: 1000, log },
    );
    const key = newKey('public');
    expect(await store.find(key)).toMatchObject({ projectId: 'p' });

    answer = () => new Promise(() => {});
    vi.advanceTimersByTime(60_000);
    const found = store.find(key);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await found).toMatchObject({ projectId: 'p' });

    answer = async () => undefined;
    expect(await store.find(key)).toBeUndefined();
  });

  test('a key that was never seen is refused after ten seconds, and looked up again when PostgreSQL replies', async () => {
    let answer = (): Promise<unknown> => new Promise(() => {});
    const store = createCredentialStore(
      postgresThat(() => answer()),
      { cacheMs: 1000, log },
    );
    const key = newKey('public');
    const refused = expect(store.find(key)).rejects.toMatchObject({ kind: 'unavailable' });
    await vi.advanceTimersByTimeAsync(10_000);
    await refused;

    answer = async () => PROJECT;
    expect(await store.find(key)).toMatchObject({ projectId: 'p' });
  });

  test('a key revoked during its lookup is accepted for at most a second after the lookup began', async () => {
    const delayed = (row: unknown, ms: number) =>
      new Promise((resolve) => {
        setTimeout(() => resolve(row), ms);
      });
    let row: unknown = PROJECT;
    const store = createCredentialStore(
      postgresThat(() => delayed(row, 900)),
      { cacheMs: 1000, log },
    );
    const key = newKey('public');
    const first = store.find(key);
    row = undefined;
    await vi.advanceTimersByTimeAsync(900);
    expect(await first).toMatchObject({ projectId: 'p' });
    vi.advanceTimersByTime(100);
    const second = store.find(key);
    await vi.advanceTimersByTimeAsync(900);
    expect(await second).toBeUndefined();
  });
});

test('lookups that fail while a remembered answer stands are one line of the log', async () => {
  let now = 1_000_000;
  let isAway = false;
  const warn = vi.fn();
  const postgres = postgresThat(async () => {
    if (isAway) throw new Error('connect ECONNREFUSED');
    return PROJECT;
  });
  const store = createCredentialStore(postgres, {
    cacheMs: 1000,
    log: Object.assign(Object.create(log), { warn }),
    now: () => now,
  });
  const key = newKey('public');
  await store.find(key);
  isAway = true;
  now += 1000;
  for (let asked = 0; asked < 100; asked += 1) expect(await store.find(key)).toMatchObject({ projectId: 'p' });
  expect(warn).toHaveBeenCalledTimes(1);
});

test('after the clock was set back, a revoked key is refused and a new one accepted as before', async () => {
  let now = 10_000_000;
  let row: unknown = PROJECT;
  const store = createCredentialStore(
    postgresThat(async () => row),
    { cacheMs: 1000, log, now: () => now },
  );
  const [revoked, created] = [newKey('public'), newKey('public')];
  expect(await store.find(revoked)).toMatchObject({ projectId: 'p' });
  row = undefined;
  expect(await store.find(created)).toBeUndefined();
  now -= 3_600_000;
  expect(await store.find(revoked)).toBeUndefined();
  row = PROJECT;
  expect(await store.find(created)).toMatchObject({ projectId: 'p' });
});
