// Enrichment of events: user agent, page and referrer URLs, IP policy and geography.
import { describe, expect, test } from 'vitest';
import { applyIpPolicy, resolveOwnClient, tryParseAddress } from '../../../src/ingest/client-fields.js';
import { readAgent, resolveAgent } from '../../../src/ingest/enrich/agent.js';
import { continentOf } from '../../../src/ingest/enrich/continents.js';
import { createGeographyLookup, parseGeographyHeaders, toGeography } from '../../../src/ingest/enrich/geography.js';
import { cleanPath, parsePageAddress, referrerDomain } from '../../../src/ingest/insert/page.js';
import { parseUserAgent } from '../../../src/ingest/insert/user-agent.js';

const CHROME_WINDOWS =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';
const SAFARI_IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1';
const CHROME_ANDROID =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36';
const SAFARI_IPAD =
  'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1';
const HEADLESS =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0.0.0 Safari/537.36';
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

test('a long user agent of an event is cut, and does not stay in memory', () => {
  const long = `${CHROME_WINDOWS} ${'x'.repeat(1_000_000)}`;
  const { user_agent: stored } = resolveOwnClient({ user_agent: long }, { ipPolicy: 'full' }, () => ({}));
  expect(stored).toBe(long.slice(0, 1024));
  const before = process.memoryUsage().heapUsed;
  for (let number = 0; number < 100; number += 1) {
    const userAgent = `${number} ${'y'.repeat(2_000_000)}`;
    parseUserAgent(userAgent);
    resolveAgent(userAgent, { browser: 'Firefox' });
  }
  // The events had 200 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
});

describe('parseUserAgent', () => {
  test.each([
    [CHROME_WINDOWS, { browser: 'Chrome', os: 'Windows', platform: 'web', deviceType: 'desktop' }],
    [SAFARI_IPHONE, { browser: 'Mobile Safari', os: 'iOS', platform: 'ios', deviceType: 'mobile' }],
    [CHROME_ANDROID, { browser: 'Chrome', os: 'Android', platform: 'android', deviceType: 'mobile' }],
    [SAFARI_IPAD, { os: 'iOS', platform: 'ios', deviceType: 'mobile' }],
    [GOOGLEBOT, { browser: 'Googlebot', browserVersion: '2.1', platform: 'web', deviceType: 'bot' }],
    [
      'Mozilla/5.0 (compatible; Ezooms/1.0; help@moz.com)',
      { browser: 'Ezooms', browserVersion: '1.0', deviceType: 'bot' },
    ],
    [
      'Mozilla/5.0 (compatible; YandexImages/3.0; +http://yandex.com/bots)',
      { browser: 'YandexImages', deviceType: 'bot' },
    ],
    [
      'Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/x)',
      { browser: 'archive.org_bot', deviceType: 'bot' },
    ],
    [
      'Feedly/1.0 (+http://www.feedly.com/fetcher.html)',
      { browser: 'Feedly', browserVersion: '1.0', deviceType: 'bot' },
    ],
    ['curl/8.5.0', { browser: 'curl', browserVersion: '8.5.0', deviceType: 'bot' }],
    ['python-requests/2.31.0', { browser: 'python-requests', deviceType: 'bot' }],
    ['Dart/3.0 (dart:io)', { browser: 'Dart', browserVersion: '3.0', deviceType: 'bot' }],
    ['Shop/7 CFNetwork/1404.0.5 Darwin/22.3.0', { browser: 'Shop', browserVersion: '7', deviceType: 'bot' }],
    [HEADLESS, { browser: 'HeadlessChrome', deviceType: 'bot' }],
    ['', { browser: '', os: '', platform: 'web', deviceType: 'desktop' }],
  ])('parses %s', (header, expected) => {
    expect(parseUserAgent(header)).toMatchObject(expected);
  });

  test('reads only the beginning of a long header', () => {
    expect(parseUserAgent(`${CHROME_WINDOWS} ${'('.repeat(1_000_000)}`)).toMatchObject({ browser: 'Chrome' });
  });
});

describe('resolveAgent', () => {
  test.each<[what: string, userAgent: string, agent: object, expected: object]>([
    [
      'parts of a browser',
      '',
      { browser: 'Firefox', os: 'Linux', device_type: 'desktop' },
      { browser: 'Firefox', os: 'Linux', platform: 'web', deviceType: 'desktop' },
    ],
    [
      'a phone by its system',
      '',
      { os: 'iOS', os_version: '17' },
      { browser: '', os: 'iOS', osVersion: '17', platform: 'ios', deviceType: 'mobile' },
    ],
    [
      'parts replace those of the user agent',
      CHROME_WINDOWS,
      { os: 'Xbox' },
      { browser: 'Chrome', browserVersion: '120.0.0.0', os: 'Xbox', osVersion: '', deviceType: 'desktop' },
    ],
    [
      'another browser has not the version of the user agent',
      CHROME_WINDOWS,
      { browser: 'Brave' },
      { browser: 'Brave', browserVersion: '', os: 'Windows' },
    ],
    [
      'values of other types are none',
      CHROME_WINDOWS,
      { browser: 7, device_type: 'fridge' },
      { browser: 'Chrome', deviceType: 'desktop' },
    ],
    ['long texts are cut', '', { browser: 'x'.repeat(1000) }, { browser: 'x'.repeat(128) }],
  ])('%s', (_what, userAgent, agent, expected) => {
    const resolved = resolveAgent(userAgent, readAgent(agent as Record<string, unknown>));
    expect(resolved).toMatchObject(expected);
    expect(resolveAgent(userAgent, readAgent(agent as Record<string, unknown>))).toBe(resolved);
  });

  test('without parts it is the parsed user agent', () => {
    expect(resolveAgent(SAFARI_IPHONE, undefined)).toBe(parseUserAgent(SAFARI_IPHONE));
  });
});

describe('parsePageAddress', () => {
  test.each([
    ['https://example.com/a/b?x=1#y', 'example.com', '/a/b'],
    ['https://example.com', 'example.com', '/'],
    ['https://example.com?x=1', 'example.com', '/'],
    ['https://Example.COM:8443/A', 'example.com', '/A'],
    ['https://user:secret@example.com/a', 'example.com', '/a'],
    ['https://example.com/a/../b', 'example.com', '/b'],
    ['https://example.com/ä', 'example.com', '/%C3%A4'],
    ['/pricing?plan=pro', '', '/pricing'],
    ['app://home/screen', 'home', '/screen'],
    ['mailto:someone@example.com', '', ''],
    ['not an address', '', ''],
    ['', '', ''],
  ])('%s', (url, hostname, path) => {
    expect(parsePageAddress(url)).toMatchObject({ hostname, path });
  });

  test.each([
    ['/users/123/orders', '/users/{id}/orders'],
    ['/u/0b2c9f0e-7a52-4a35-9b5b-1f5f0c7f2a11', '/u/{id}'],
    ['/commit/deadbeef', '/commit/{id}'],
    ['/commit/deadbee', '/commit/deadbee'],
    ['/t/abcdefghijklmnop', '/t/abcdefghijklmnop'],
    ['/t/abcdefghijklmno1', '/t/{id}'],
    ['/t/abcdefghijklmn1', '/t/abcdefghijklmn1'],
    ['/v1.2/x', '/v1.2/x'],
    ['/', '/'],
    ['', ''],
  ])('cleanPath(%s) is %s', (path, clean) => {
    expect(cleanPath(path)).toBe(clean);
  });

  test('referrerDomain() returns the host name', () => {
    expect(referrerDomain('https://www.google.com/search?q=x')).toBe('www.google.com');
    expect(referrerDomain('')).toBe('');
  });
});

describe('applyIpPolicy', () => {
  test.each([
    ['203.0.113.77', 'anonymize', '203.0.113.0'],
    ['2001:db8:1234:5678::1', 'anonymize', '2001:db8:1234::'],
    ['::ffff:203.0.113.77', 'anonymize', '203.0.113.0'],
    ['::ffff:203.0.113.77', 'full', '203.0.113.77'],
    ['2001:0DB8:0::1', 'full', '2001:db8::1'],
    ['203.0.113.77', 'full', '203.0.113.77'],
    ['203.0.113.77', 'drop', ''],
    ['not an address', 'full', ''],
    [undefined, 'full', ''],
  ] as const)('keeps %s under %s as "%s"', (text, policy, kept) => {
    expect(applyIpPolicy(tryParseAddress(text), policy)).toBe(kept);
  });
});

describe('geography of an event', () => {
  test('reads databases in the layout of MaxMind', () => {
    const record = {
      country: { iso_code: 'US', names: { en: 'United States' } },
      subdivisions: [{ iso_code: 'CA', names: { en: 'California' } }],
      city: { names: { en: 'Mountain View' } },
      continent: { code: 'NA' },
      postal: { code: '94043' },
      location: { latitude: 37.4, longitude: -122.1, time_zone: 'America/Los_Angeles', metro_code: 807 },
    };
    expect(toGeography(record)).toEqual({
      country: 'US',
      region: 'California',
      region_code: 'CA',
      city: 'Mountain View',
      continent: 'NA',
      postal_code: '94043',
      latitude: 37.4,
      longitude: -122.1,
      timezone: 'America/Los_Angeles',
      metro_code: '807',
    });
  });

  test('reads databases in the flat layout', () => {
    const record = {
      country_code: 'DE',
      state1: 'Berlin',
      city: 'Berlin',
      latitude: 52.5,
      longitude: 13.4,
      postcode: '',
    };
    expect(toGeography(record)).toEqual({
      country: 'DE',
      region: 'Berlin',
      city: 'Berlin',
      continent: 'EU',
      latitude: 52.5,
      longitude: 13.4,
    });
  });

  test('uses proxy headers when they contain a country', () => {
    const headerNames = parseGeographyHeaders('country=CF-IPCountry, city=cf-ipcity');
    const find = createGeographyLookup({ databases: [], headerNames });
    expect(find('203.0.113.7', { 'cf-ipcountry': 'BR', 'cf-ipcity': 'Recife' })).toEqual({
      country: 'BR',
      city: 'Recife',
      continent: 'SA',
      source: 'header',
    });
    // Node reads headers as Latin-1.
    const cityOf = (bytes: Buffer) => find('203.0.113.7', { 'cf-ipcity': bytes.toString('latin1') }).city;
    expect(cityOf(Buffer.from('São Paulo'))).toBe('São Paulo');
    expect(cityOf(Buffer.from('São Paulo', 'latin1'))).toBe('São Paulo');
    expect(find('203.0.113.7', {})).toEqual({});
  });

  test('names the invalid setting', () => {
    expect(() => parseGeographyHeaders('planet=x-planet')).toThrow('planet=x-planet');
    expect(() => createGeographyLookup({ databases: ['/nowhere.mmdb'], headerNames: {} })).toThrow('/nowhere.mmdb');
  });

  test('continentOf() returns the continent of a country', () => {
    expect([continentOf('us'), continentOf('NA'), continentOf('XX')]).toEqual(['NA', 'AF', undefined]);
  });
});
