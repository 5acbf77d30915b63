// Canonical form of e-mail addresses: which are equal, and which are invalid.
import { describe, expect, test } from 'vitest';
import { tryCanonicalDomain, tryCanonicalEmail } from '../../../src/accounts/addresses.js';
import { invitationBody } from '../../../src/accounts/schema.js';

const KELVIN = '\u212a';

describe('tryCanonicalDomain', () => {
  test.each([
    ['Example.COM', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['XN--Bcher-kva.example', 'xn--bcher-kva.example'],
    ['straße.example', 'xn--strae-oqa.example'],
    ['аррӏе.example', 'xn--80ak6aa92e.example'],
    ['a.xn--p1ai', 'a.xn--p1ai'],
  ])('maps %s to %s', (text, domain) => expect(tryCanonicalDomain(text)).toBe(domain));

  test.each([
    `${KELVIN}iosk.example`,
    'ｅxample.com',
    'exam\u00adple.com',
    'exam\u200bple.com',
    'a。example',
    'BÜCHER.example',
    'ⅷ.example',
    'ex%61mple.com',
    'example.com:80',
    'user@example.com',
    'xn--a.example',
    'a_b.example',
    'a..example',
    'example.com.',
    'localhost',
    '1.2.3',
    '1.2.3.4',
    '0x7f.1',
    '',
  ])('rejects %j', (text) => expect(tryCanonicalDomain(text)).toBeUndefined());
});

describe('tryCanonicalEmail', () => {
  test.each([
    ['Ann@Example.COM', 'ann@example.com'],
    ['jörg@bücher.example', 'jörg@xn--bcher-kva.example'],
    ['a+b@example.com', 'a+b@example.com'],
  ])('maps %s to %s', (text, email) => expect(tryCanonicalEmail(text)).toBe(email));

  test.each([
    `${KELVIN}ate@example.com`,
    `kate@${KELVIN}iosk.example`,
    'ﬁona@example.com',
    'maſs@example.com',
    'İda@example.com',
    'JÖRG@example.com',
    'jo\u0308rg@example.com',
    'ann\u200b@example.com',
    'ann\u202e@example.com',
    'ann @example.com',
    'x@acme.example@other.example',
    '@example.com',
    'ann@',
    'ann',
    `${'a'.repeat(250)}@example.com`,
  ])('rejects %j', (text) => expect(tryCanonicalEmail(text)).toBeUndefined());

  test.each(['ann,eve@example.com', '<ann>@example.com', 'a..b@example.com', '"a b"@example.com', 'ann@1.2.3.4'])(
    'an invitation to %s is rejected',
    (email) => expect(invitationBody.safeParse({ email, role: 'member' }).success).toBe(false),
  );
});
