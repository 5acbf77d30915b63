// The site of an access log, by the command and by an upload.
import { expect, test } from 'vitest';
import { tryToSite } from '../../../src/imports/site.js';
import { uploadQuery } from '../../../src/imports/upload/routes.js';

test.each([
  ['https://example.com', 'https://example.com'],
  ['HTTPS://Example.com:443/shop//', 'https://example.com/shop'],
  ['http://user:secret@localhost:8080/', 'http://localhost:8080'],
  ['https://example.com/?ref=1', undefined],
  ['https://example.com/#top', undefined],
])('tryToSite(%s) is %s', (text, site) => {
  expect(tryToSite(new URL(text))).toBe(site);
  expect(uploadQuery.safeParse({ source: 'access-log', site: text }).success).toBe(site !== undefined);
});

test.each(['example.com', 'ftp://example.com', ''])('an upload refuses the site "%s"', (site) => {
  expect(uploadQuery.safeParse({ source: 'access-log', site }).success).toBe(false);
});
