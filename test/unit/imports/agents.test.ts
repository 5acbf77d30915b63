// Names of browsers, systems and devices in exports become those of user agents here.
import { expect, test } from 'vitest';
import { type ClientNames, toAgent } from '../../../src/imports/agents.js';
import { parseUserAgent } from '../../../src/ingest/insert/user-agent.js';

const CHROME_IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/119.0 Mobile/15E148 Safari/604.1';
const SAFARI_IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1';
const SAFARI_MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Safari/605.1.15';
const EDGE_WINDOWS =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0 Safari/537.36 Edg/119.0';
const FIREFOX_ANDROID = 'Mozilla/5.0 (Android 13; Mobile; rv:109.0) Gecko/113.0 Firefox/113.0';
const SAMSUNG =
  'Mozilla/5.0 (Linux; Android 13; SM-S901B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/22.0 Chrome/111.0 Mobile Safari/537.36';
const CHROME_OS =
  'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0 Safari/537.36';
const CHROME_LINUX =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0 Safari/537.36';

test.each<[product: string, names: ClientNames, userAgent: string]>([
  ['Umami', { browser: 'crios', os: 'iOS', device: 'mobile' }, CHROME_IPHONE],
  ['Umami', { browser: 'ios', os: 'iOS', device: 'mobile' }, SAFARI_IPHONE],
  ['Umami', { browser: 'safari', os: 'Mac OS', device: 'laptop' }, SAFARI_MAC],
  ['Umami', { browser: 'edge-chromium', os: 'Windows 10', device: 'desktop' }, EDGE_WINDOWS],
  ['Umami', { browser: 'samsung', os: 'Android OS', device: 'mobile' }, SAMSUNG],
  ['GA4', { browser: 'Chrome', os: 'Chrome OS', device: 'desktop' }, CHROME_OS],
  ['GA4', { browser: 'Safari', os: 'iOS', device: 'mobile' }, SAFARI_IPHONE],
  ['GA4', { browser: 'Safari', os: 'Macintosh', device: 'desktop' }, SAFARI_MAC],
  ['GA4 of an app', { browser: 'Firefox', os: 'ANDROID', device: 'tablet' }, FIREFOX_ANDROID],
  ['Matomo', { browser: 'Firefox Mobile', os: 'Android', device: 'Smartphone' }, FIREFOX_ANDROID],
  ['Matomo', { browser: 'Chrome', os: 'GNU/Linux', device: 'Desktop' }, CHROME_LINUX],
  ['Matomo', { browser: 'Chrome Mobile iOS', os: 'iOS', device: 'Smartphone' }, CHROME_IPHONE],
  ['Mixpanel', { browser: 'Microsoft Edge', os: 'Windows' }, EDGE_WINDOWS],
  ['Mixpanel, PostHog', { browser: 'Chrome iOS', os: 'iOS', device: 'Mobile' }, CHROME_IPHONE],
  ['PostHog', { browser: 'Safari', os: 'Mac OS X', device: 'Desktop' }, SAFARI_MAC],
  ['PostHog', { browser: 'Samsung Internet', os: 'Android', device: 'Mobile' }, SAMSUNG],
])('%s: %o', (_product, names, userAgent) => {
  const { browser, os, deviceType } = parseUserAgent(userAgent);
  expect(toAgent(names)).toMatchObject({ browser, os, ...(names.device !== undefined && { device_type: deviceType }) });
});

test('versions are texts of digits, and may stand with the name of the system', () => {
  expect(toAgent({ browser: 'Chrome', browserVersion: 119, os: 'Windows 10' })).toEqual({
    ...{ browser: 'Chrome', browser_version: '119', os: 'Windows', os_version: '10' },
  });
  expect(toAgent({ os: 'IOS', osVersion: 'iOS 17.1' })).toEqual({ os: 'iOS', os_version: '17.1' });
});

test('names for nothing are none, and unknown names stay', () => {
  expect(toAgent({ browser: '(not set)', os: 'Unknown', device: 'fridge' })).toBeUndefined();
  expect(toAgent({})).toBeUndefined();
  expect(toAgent({ browser: 'DuckDuckGo', os: 'KaiOS' })).toEqual({ browser: 'DuckDuckGo', os: 'KaiOS' });
});
