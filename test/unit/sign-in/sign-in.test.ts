// Sign-in: provider settings, the person in a provider's response, and allowed targets.
// test/integration/sign-in.test.ts tests the redirects.
import type { Request, Response } from 'express';
import grant, { type GrantResponse } from 'grant';
import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { parseConfig } from '../../../src/platform/config.js';
import { createAttemptCookie } from '../../../src/sign-in/attempt-cookie.js';
import { findVerifiedEmail, toIdentity } from '../../../src/sign-in/identity.js';
import { createIdpClient } from '../../../src/sign-in/idp-client.js';
import { toIdentityProvider } from '../../../src/sign-in/provider.js';

const CALLBACK = 'https://analytics.example/auth/idp/cb';
const STORES = {
  DATABASE_URL: 'postgres://x',
  REDIS_URL: 'redis://x',
  CLICKHOUSE_URL: 'http://x',
  SECRET_KEY_BASE: 'x'.repeat(32),
};
const CLIENT = { IDP_CLIENT_ID: 'client', IDP_CLIENT_SECRET: 'secret' };
const providerOf = (settings: Record<string, string>) =>
  toIdentityProvider(parseConfig({ ...STORES, ...settings }), CALLBACK);

describe('toIdentityProvider', () => {
  test.each([
    ['google', {}, 'accounts.google.com'],
    ['microsoft', {}, 'login.microsoftonline.com'],
    ['gitlab', {}, 'gitlab.com'],
    ['github', {}, 'github.com'],
    ['okta', { IDP_SUBDOMAIN: 'acme' }, '[subdomain].okta.com'],
    ['auth0', { IDP_SUBDOMAIN: 'acme' }, '[subdomain].auth0.com'],
    ['keycloak', { IDP_SUBDOMAIN: 'id.acme.example/realms/main' }, '[subdomain]'],
    ['cognito', { IDP_SUBDOMAIN: 'acme.auth.eu-west-1.amazoncognito.com' }, '[subdomain]'],
  ])('knows the preset %s', (preset, more, host) => {
    const provider = providerOf({ IDP_PRESET: preset, ...CLIENT, ...more });
    if (provider === undefined) throw new Error('no provider');
    const known = grant.default.express({ [provider.grantName]: provider.grant }) as unknown as {
      config: Record<string, Record<string, string | boolean>>;
    };
    const resolved = known.config[provider.grantName] ?? {};
    for (const address of ['authorize_url', 'access_url', 'profile_url']) {
      expect(resolved[address]).toMatch(/^https:\/\/[^/]/);
    }
    expect(String(resolved.authorize_url).startsWith(`https://${host}/`)).toBe(true);
    expect(resolved).toMatchObject({
      redirect_uri: CALLBACK,
      key: 'client',
      secret: 'secret',
      pkce: true,
      state: true,
    });
    expect(resolved.nonce ?? false).toBe(provider.isOpenId);
    expect(provider.id).toBe([preset, ...Object.values(more)].join(':'));
  });

  test('takes the addresses of a tenant beside a preset, and keeps the rest of it', () => {
    const tenant = 'https://login.microsoftonline.com/tenant-id/oauth2/v2.0';
    const addresses = { IDP_AUTHORIZE_URL: `${tenant}/authorize`, IDP_TOKEN_URL: `${tenant}/token` };
    const provider = providerOf({ IDP_PRESET: 'microsoft', IDP_TRUST_EMAIL: 'true', ...addresses, ...CLIENT });
    expect(provider).toMatchObject({ id: 'microsoft', grantName: 'microsoft', isOpenId: true, trustsEmail: true });
    const urls = { authorize_url: addresses.IDP_AUTHORIZE_URL, access_url: addresses.IDP_TOKEN_URL };
    expect(provider?.grant).toMatchObject(urls);
    expect(provider?.grant).not.toHaveProperty('profile_url');
  });

  test('takes scopes and the address of the profile instead of those of a preset, and trusts no address by itself', () => {
    const preset = providerOf({ IDP_PRESET: 'gitlab', ...CLIENT });
    expect(preset).toMatchObject({ isOpenId: true, trustsEmail: false });
    expect(preset?.grant).toMatchObject({ profile_url: 'https://gitlab.com/oauth/userinfo' });
    const own = { IDP_SCOPE: 'user:email', IDP_USERINFO_URL: 'https://github.example/api/user' };
    const provider = providerOf({ IDP_PRESET: 'github', ...own, ...CLIENT });
    expect(provider?.grant).toMatchObject({ scope: own.IDP_SCOPE, profile_url: own.IDP_USERINFO_URL });
  });

  test('keeps the parameters of IDP_AUTHORIZE_URL', async () => {
    const provider = providerOf({
      IDP_AUTHORIZE_URL: 'https://id.example/authorize?p=b2c_1_sign_in&prompt=login',
      IDP_TOKEN_URL: 'https://id.example/token',
      IDP_USERINFO_URL: 'https://id.example/me',
      ...CLIENT,
    });
    if (provider === undefined) throw new Error('no provider');
    const { location } = await createIdpClient(provider, pino({ level: 'silent' })).start();
    const { pathname, searchParams } = new URL(location);
    const { p, prompt, client_id: clientId, response_type: type } = Object.fromEntries(searchParams);
    expect([pathname, p, prompt, clientId, type]).toEqual(['/authorize', 'b2c_1_sign_in', 'login', 'client', 'code']);
  });

  test('returns undefined without settings, and throws when some are missing', () => {
    expect(providerOf({})).toBeUndefined();
    expect(() => providerOf({ IDP_CLIENT_ID: 'x' })).toThrow(
      'IDP_CLIENT_SECRET, IDP_AUTHORIZE_URL, IDP_TOKEN_URL, IDP_USERINFO_URL must be set as well',
    );
    expect(() => providerOf({ IDP_PRESET: 'okta', ...CLIENT })).toThrow('IDP_SUBDOMAIN must be set as well');
    expect(() => providerOf({ IDP_CLIENT_SECRET: 'x' })).toThrow('IDP_CLIENT_ID, IDP_AUTHORIZE_URL');
    expect(() => providerOf({ IDP_TOKEN_URL: 'https://id.example/token' })).toThrow('IDP_CLIENT_ID, IDP_CLIENT_SECRET');
  });
});

describe('toIdentity', () => {
  const now = Date.parse('2026-11-21T00:00:00Z');
  const openId = { id: 'p', isOpenId: true, trustsEmail: false };
  const token = (payload: object): Pick<GrantResponse, 'jwt'> => ({
    jwt: { id_token: { header: {}, payload: { sub: 's', exp: now / 1000 + 60, ...payload }, signature: '' } },
  });
  const ada = { sub: 's', email: 'ada@example.com', email_verified: true, name: 'Ada' };
  const signedIn = { provider: 'p', subject: 's', email: 'ada@example.com', emailVerified: true, name: 'Ada' };
  const as = (changes: object) => ({ signedIn: { ...signedIn, ...changes } });
  const NO_SUBJECT = 'the profile has no sub and no id that can be stored';

  test.each([
    [true, true],
    ['true', true],
    ['false', false],
    ['yes', false],
    [1, false],
  ])('the flag %j verifies an address: %s', (flag, emailVerified) => {
    const response = { ...token({}), profile: { ...ada, email_verified: flag } };
    expect(toIdentity(openId, response, { now })).toEqual(as({ emailVerified }));
  });

  test.each([
    ['the subject, with a verified address', openId, { ...token({}), profile: ada }, as({})],
    [
      'an address that is not verified',
      openId,
      { ...token({}), profile: { ...ada, email_verified: false } },
      as({ emailVerified: false }),
    ],
    ['the sub of a profile that has an id as well', openId, { ...token({}), profile: { ...ada, id: 7 } }, as({})],
    [
      'an address without a verified flag',
      openId,
      { ...token({}), profile: { ...ada, email_verified: undefined } },
      as({ emailVerified: false }),
    ],
    [
      'one that is trusted all the same',
      { ...openId, trustsEmail: true },
      { ...token({}), profile: { ...ada, email_verified: undefined } },
      as({}),
    ],
    [
      'someone without an address',
      openId,
      { ...token({}), profile: { sub: 's' } },
      as({ email: undefined, emailVerified: false, name: undefined }),
    ],
    [
      'the address and name of the token where the profile has none',
      openId,
      { ...token({ email: 'ada@example.com', email_verified: true, name: 'Ada' }), profile: { sub: 's' } },
      as({}),
    ],
    [
      'the address of the profile, not verified by the flag of the token',
      openId,
      { ...token({ email: 'eve@example.com', email_verified: true }), profile: { ...ada, email_verified: undefined } },
      as({ emailVerified: false }),
    ],
    [
      'a name of one line that is not endless',
      openId,
      { ...token({}), profile: { ...ada, name: ` A\0d\na${'🦆'.repeat(200)}` } },
      as({ name: `A d a${'🦆'.repeat(95)}` }),
    ],
    [
      'a number as id without OpenID',
      { ...openId, isOpenId: false },
      { profile: { id: 7, login: 'ada' } },
      as({ subject: '7', email: undefined, emailVerified: false, name: 'ada' }),
    ],
    ['an error', openId, { error: 'x' }, { problem: 'x' }],
    ['no token', openId, { profile: ada }, { problem: 'there is no id_token' }],
    [
      'a token of another',
      openId,
      { ...token({ sub: 'other' }), profile: ada },
      { problem: 'the id_token and the profile are of different people' },
    ],
    [
      'an old token',
      openId,
      { ...token({ exp: now / 1000 - 61 }), profile: ada },
      { problem: 'the id_token has expired' },
    ],
    [
      'a token without an end',
      openId,
      { ...token({ exp: undefined }), profile: ada },
      { problem: 'the id_token has expired' },
    ],
    [
      'no profile',
      openId,
      { ...token({}), profile: { error: 'gone' } },
      { problem: 'the profile cannot be read: gone' },
    ],
    ['a profile without a subject', openId, { ...token({}), profile: { email: 'a@b.c' } }, { problem: NO_SUBJECT }],
    ['a subject with NUL', openId, { profile: { ...ada, sub: 's\0' } }, { problem: NO_SUBJECT }],
    ['a subject with half a character', openId, { profile: { ...ada, sub: 's\ud800' } }, { problem: NO_SUBJECT }],
    [
      'an address that is not stored exactly',
      openId,
      { ...token({}), profile: { ...ada, email: 'ada\0@example.com' } },
      as({ email: undefined, emailVerified: false }),
    ],
  ])('%s', (_name, provider, response, expected) => {
    expect(toIdentity(provider, response, { now })).toEqual(expected);
  });

  test("prefers a verified address of the provider's list over that of the profile", () => {
    const emails = [
      { email: 'old@example.com', verified: true, primary: false },
      { email: 'unverified@example.com', verified: false, primary: true },
      { email: 'ada@example.com', verified: true, primary: true },
    ];
    expect(findVerifiedEmail(emails)).toBe('ada@example.com');
    expect(findVerifiedEmail(emails.slice(0, 2))).toBe('old@example.com');
    expect(findVerifiedEmail(emails.slice(1, 2))).toBeUndefined();
    expect(findVerifiedEmail({ message: 'rate limited' })).toBeUndefined();
    const response = { profile: { id: 's', email: 'shown@example.com', name: 'Ada' } };
    const context = { verifiedEmail: 'ada@example.com', now };
    expect(toIdentity({ ...openId, isOpenId: false }, response, context)).toEqual(as({}));
  });
});

test('a sign-in attempt ends after ten minutes, however long the browser keeps its cookie', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const attempts = createAttemptCookie({ secretKeyBase: 'x'.repeat(32), isSecure: true });
    const headers: { cookie?: string } = {};
    const cookie = (name: string, value: string): void => {
      headers.cookie = `${name}=${value}`;
    };
    attempts.set({ cookie } as unknown as Response, { secrets: { provider: 'idp' }, next: '/start' });
    vi.advanceTimersByTime(10 * 60_000 - 1);
    expect(attempts.read({ headers } as Request)).toMatchObject({ next: '/start' });
    vi.advanceTimersByTime(1);
    expect(attempts.read({ headers } as Request)).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});
