// The client of a record that has names of its browser and system and no user agent: under the
// names that user agents are read to here, so that both count together.
import type { Agent } from '../ingest/enrich/agent.js';
import { type JsonObject, textOf } from '../platform/json-object.js';
import { numberOf, ownOf, present } from './values.js';

/** Names of products in lower case. A name that is not here is kept. */
const BROWSERS: Readonly<Record<string, string>> = {
  'android browser': 'Android Browser',
  'android mobile': 'Android Browser',
  'android webview': 'Chrome WebView',
  'chrome headless': 'Chrome Headless',
  'chrome ios': 'Chrome',
  'chrome mobile': 'Chrome',
  'chrome mobile ios': 'Chrome',
  'chrome webview': 'Chrome WebView',
  'chromium-webview': 'Chrome WebView',
  crios: 'Chrome',
  'edge-chromium': 'Edge',
  'edge-ios': 'Edge',
  'firefox ios': 'Firefox',
  'firefox mobile': 'Firefox',
  'firefox mobile ios': 'Firefox',
  fxios: 'Firefox',
  ie: 'IE',
  'internet explorer': 'IE',
  'ios-webview': 'WebKit',
  'microsoft edge': 'Edge',
  miui: 'MIUI Browser',
  'mobile safari': 'Mobile Safari',
  'opera mobile': 'Opera',
  opr: 'Opera',
  samsung: 'Samsung Internet',
  'samsung browser': 'Samsung Internet',
  'samsung internet': 'Samsung Internet',
  'yandex browser': 'Yandex',
  yandexbrowser: 'Yandex',
};

const SYSTEMS: Readonly<Record<string, string>> = {
  'android os': 'Android',
  'chrome os': 'Chromium OS',
  'chromium os': 'Chromium OS',
  'gnu/linux': 'Linux',
  ios: 'iOS',
  ipados: 'iOS',
  mac: 'Mac OS',
  'mac os': 'Mac OS',
  'mac os x': 'Mac OS',
  macintosh: 'Mac OS',
  macos: 'Mac OS',
};

const DEVICES: Readonly<Record<string, 'desktop' | 'mobile' | 'bot'>> = {
  ...{
    desktop: 'desktop',
    laptop: 'desktop',
    pc: 'desktop',
    computer: 'desktop',
    tv: 'desktop',
    'smart tv': 'desktop',
  },
  ...{ mobile: 'mobile', smartphone: 'mobile', phone: 'mobile', 'feature phone': 'mobile', phablet: 'mobile' },
  ...{ tablet: 'mobile', wearable: 'mobile', ios: 'mobile', android: 'mobile', bot: 'bot' },
};

/** `Windows 10`, as some products write the name and the version together. */
const NAME_AND_VERSION = /^(windows|android|ios|mac os x|mac os) ([\d.]+|xp|vista)$/i;

export interface ClientNames {
  readonly browser?: unknown;
  readonly browserVersion?: unknown;
  readonly os?: unknown;
  readonly osVersion?: unknown;
  /** `Desktop`, `Tablet`, `Smartphone` and the like. */
  readonly device?: unknown;
}

/** Undefined without the name of a browser or a system, or a kind of device that is known. */
export function toAgent(names: ClientNames): Agent | undefined {
  const together = NAME_AND_VERSION.exec(textOf(names.os) ?? '');
  const os = rename(together?.[1] ?? names.os, SYSTEMS);
  const device = ownOf(DEVICES, textOf(names.device)?.toLowerCase() ?? '');
  const named = rename(names.browser, BROWSERS);
  // Umami's `ios` is Safari there.
  const browser = named === 'Ios' || (named === 'Safari' && os === 'iOS') ? 'Mobile Safari' : named;
  if (browser === undefined && os === undefined && device === undefined) return undefined;
  return present({
    browser,
    browser_version: browser === undefined ? undefined : versionOf(names.browserVersion),
    os,
    os_version: os === undefined ? undefined : (versionOf(names.osVersion) ?? together?.[2]),
    device_type: device,
  });
}

/** BigQuery and others write names in capitals or in lower case. */
function rename(value: unknown, names: Readonly<Record<string, string>>): string | undefined {
  const text = textOf(value)?.trim();
  if (text === undefined || text === '' || NONE.has(text.toLowerCase())) return undefined;
  const known = ownOf(names, text.toLowerCase());
  if (known !== undefined) return known;
  const isOneCase = text === text.toLowerCase() || (text === text.toUpperCase() && text.length > 3);
  return isOneCase ? text.charAt(0).toUpperCase() + text.slice(1).toLowerCase() : text;
}

const NONE: ReadonlySet<string> = new Set(['(not set)', 'unknown', 'web', '<na>', 'none']);

function versionOf(value: unknown): string | undefined {
  const text = textOf(value) ?? numberOf(value)?.toString();
  return text === undefined || NONE.has(text.toLowerCase()) ? undefined : (/\d[\w.]*/.exec(text)?.[0] ?? text);
}

/** From the properties that the libraries of Mixpanel and PostHog add. */
export const agentOfProperties = (properties: JsonObject): Agent | undefined =>
  toAgent({
    browser: properties.$browser,
    browserVersion: properties.$browser_version,
    os: properties.$os,
    osVersion: properties.$os_version,
    device: properties.$device_type,
  });
