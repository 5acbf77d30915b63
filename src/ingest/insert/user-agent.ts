// Parses the User-Agent header: browser, operating system and device type. Crawlers, HTTP libraries
// and headless browsers are labelled as bots, never dropped; their browser is the product that the
// header names.
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import { UAParser } from 'ua-parser-js';

export interface UserAgent {
  readonly browser: string;
  readonly browserVersion: string;
  readonly os: string;
  readonly osVersion: string;
  readonly platform: 'android' | 'ios' | 'web';
  readonly deviceType: 'mobile' | 'bot' | 'desktop';
}

/** No browser sends more; the excess is neither parsed nor stored. */
const LENGTH_MAX = 1024;

/** A copy, because a part of a text keeps the whole in memory. */
export const cutUserAgent = (text: string): string =>
  text.length <= LENGTH_MAX ? text : Buffer.from(text.slice(0, LENGTH_MAX)).toString();
const CACHED_MAX = 10_000;
const cache = new LRUCache<string, UserAgent>({ max: CACHED_MAX });

let last: { readonly header: string; readonly parsed: UserAgent } | undefined;

export function parseUserAgent(header: string): UserAgent {
  // The events of a request share one header.
  if (last?.header !== header) last = { header, parsed: parseCached(header) };
  return last.parsed;
}

function parseCached(header: string): UserAgent {
  const text = cutUserAgent(header);
  const known = cache.get(text);
  if (known !== undefined) return known;
  const parsed = parse(text);
  cache.set(text, parsed);
  return parsed;
}

function parse(text: string): UserAgent {
  const { browser, os, device } = new UAParser(text).getResult();
  const isBot = text !== '' && (isbot(text) || HTTP_LIBRARY.test(text));
  const product = isBot ? botProduct(text) : undefined;
  return {
    browser: product?.name ?? browser.name ?? '',
    browserVersion: product?.version ?? browser.version ?? '',
    os: os.name ?? '',
    osVersion: os.version ?? '',
    platform: platformOf(os.name),
    deviceType: isBot ? 'bot' : MOBILE_DEVICES.has(device.type ?? '') ? 'mobile' : 'desktop',
  };
}

/** HTTP libraries that isbot does not recognize: Dart's and Apple's. */
const HTTP_LIBRARY = /^(?!Mozilla\b).*\b(?:Dart\/[\d.]+ \(dart:io\)|CFNetwork\/\d)/;

const MOBILE_DEVICES: ReadonlySet<string> = new Set(['mobile', 'tablet', 'wearable']);

export function platformOf(os: string | undefined): UserAgent['platform'] {
  if (os === 'iOS') return 'ios';
  return os?.startsWith('Android') === true ? 'android' : 'web';
}

// A bot names its product in the comment ("Mozilla/5.0 (compatible; Ezooms/1.0; …)"), by a word
// such as "bot" or "crawler", or at the start ("curl/8.5.0"). URLs are removed first, because they
// contain such words too ("…/bots").
const ADDRESS = /https?:\/\/\S*/gi;
const IN_COMMENT = /compatible; (?!MSIE|Linux|Windows)([\w.-]{1,64})\/v?(\d[\w.]{0,31})/;
const BY_WORD =
  /([\w.-]{0,64}(?:bot|crawler|spider|slurp|headless|monitor|preview|fetch)[\w.-]{0,64})(?:[/ ]v?(\d[\w.]{0,31}))?/i;
const IN_FRONT = /^(?!Mozilla\b)([^\s/;(),]{1,64})(?:\/v?(\d[\w.]{0,31}))?/;

function botProduct(text: string): { name: string; version: string } | undefined {
  const words = text.replace(ADDRESS, '');
  const match = IN_COMMENT.exec(words) ?? BY_WORD.exec(words) ?? IN_FRONT.exec(words);
  return match?.[1] === undefined ? undefined : { name: match[1], version: match[2] ?? '' };
}
