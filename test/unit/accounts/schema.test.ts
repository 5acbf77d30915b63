// What the management routes take as a name: it is shown on pages, in mails and in their subjects.
import { expect, test } from 'vitest';
import { organizationBody } from '../../../src/accounts/schema.js';
import { parseJsonBody } from '../../../src/platform/http/json-body.js';

test.each(['Acme Inc.', ' Büro für Übergänge ', '日本語', "Ada's <b>&</b> 🦆"])('%j is a name', (name) => {
  expect(parseJsonBody(organizationBody, { name })).toEqual({ name: name.trim() });
});

test.each(['a\0b', 'a\nb', 'a\r\nBcc: all@example.com', 'a\u007fb', 'a\u0085b'])('%j is none', (name) => {
  expect(() => parseJsonBody(organizationBody, { name })).toThrow('name has control characters');
});
