// Validation of names, which appear on pages and in mails, of domains, and of unknown fields.
import { expect, test } from 'vitest';
import * as bodies from '../../../src/accounts/schema.js';
import { parseJsonBody } from '../../../src/platform/http/json-body.js';

const { domainBody, organizationBody, projectChanges, tokenBody } = bodies;

test.each(['Acme Inc.', ' Büro für Übergänge ', '日本語', "Ada's <b>&</b> 🦆"])(
  'an organization may be named %j',
  (name) => {
    expect(parseJsonBody(organizationBody, { name })).toEqual({ name: name.trim() });
  },
);

test.each(['a\0b', 'a\nb', 'a\r\nBcc: all@example.com', 'a\u007fb', 'a\u0085b', 'a\u2028b', 'a\u202eb', 'a\ud800b'])(
  'an organization name with control characters is rejected: %j',
  (name) => {
    expect(() => parseJsonBody(organizationBody, { name })).toThrow('name has control characters');
  },
);

test('a domain must leave room for the prefix of its TXT record', () => {
  const domainOf = (length: number) => `${'a.'.repeat((length - 3) / 2)}com`;
  expect(domainOf(237)).toHaveLength(237);
  expect(parseJsonBody(domainBody, { domain: domainOf(237) })).toEqual({ domain: domainOf(237) });
  expect(() => parseJsonBody(domainBody, { domain: domainOf(239) })).toThrow('domain is not a domain');
});

test('a misspelled field is refused by name, not left out', () => {
  const token = { name: 'ci', kind: 'service', scopes: ['query'] };
  expect(() => parseJsonBody(tokenBody, { ...token, expires: '1h' })).toThrow(
    'unknown field "expires"; the body has name, kind, scopes, expires_in',
  );
  expect(() => parseJsonBody(projectChanges, { name: 'Shop', ipPolicy: 'drop' })).toThrow(
    'unknown field "ipPolicy"; the body has name, ip_policy, timezone, other_sdks',
  );
});

const { nameField: _, ...all } = bodies;
test.each(Object.entries(all))('%s refuses unknown fields', (_name, body) => {
  expect(() => parseJsonBody(body, { unknown_one: 1 })).toThrow('unknown field "unknown_one"');
});
