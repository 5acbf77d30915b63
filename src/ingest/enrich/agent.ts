// The client of an event in parts, for senders that know its browser and system and have no user
// agent, such as imports: `agent` of an event of a secret key. Its parts replace those that follow
// from the user agent.
import { LRUCache } from 'lru-cache';
import type { RawEvent } from '../body.js';
import { cutUserAgent, parseUserAgent, platformOf, type UserAgent } from '../insert/user-agent.js';

export interface Agent {
  readonly browser?: string;
  readonly browser_version?: string;
  readonly os?: string;
  readonly os_version?: string;
  readonly device_type?: UserAgent['deviceType'];
}

const TEXTS = ['browser', 'browser_version', 'os', 'os_version'] as const;
const DEVICE_TYPES: ReadonlySet<unknown> = new Set<UserAgent['deviceType']>(['desktop', 'mobile', 'bot']);
const LENGTH_MAX = 128;

/** The known parts with a value; longer texts are cut. */
export function readAgent(value: RawEvent): Agent {
  const agent: Record<string, unknown> = {};
  for (const name of TEXTS) {
    const text = value[name];
    if (typeof text === 'string' && text !== '') agent[name] = text.slice(0, LENGTH_MAX);
  }
  if (DEVICE_TYPES.has(value.device_type)) agent.device_type = value.device_type;
  return agent as Agent;
}

const CACHED_MAX = 10_000;
/** Equal agents are one object, by which the worker counts them. */
const cache = new LRUCache<string, UserAgent>({ max: CACHED_MAX });

/** What is stored of a client: its parts, where it has them, else those of its user agent. */
export function resolveAgent(userAgent: string, agent: Agent | undefined): UserAgent {
  const parsed = parseUserAgent(userAgent);
  if (agent === undefined) return parsed;
  const { browser, browser_version: browserVersion, os, os_version: osVersion, device_type: deviceType } = agent;
  const key = JSON.stringify([cutUserAgent(userAgent), browser, browserVersion, os, osVersion, deviceType]);
  const known = cache.get(key);
  if (known !== undefined) return known;
  const platform = os === undefined ? parsed.platform : platformOf(os);
  const isOfApp = userAgent === '' && platform !== 'web';
  const resolved = {
    // The version of a user agent is that of its own browser and system.
    browser: browser ?? parsed.browser,
    browserVersion: browserVersion ?? (browser === undefined ? parsed.browserVersion : ''),
    os: os ?? parsed.os,
    osVersion: osVersion ?? (os === undefined ? parsed.osVersion : ''),
    platform,
    deviceType: deviceType ?? (isOfApp ? 'mobile' : parsed.deviceType),
  };
  cache.set(key, resolved);
  return resolved;
}
