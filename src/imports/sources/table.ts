// The table of sources: one row for each folder here.
import type { Source } from '../source.js';
import { accessLog } from './access-log/read.js';
import { amplitude } from './amplitude/read.js';
import { eventAnalytics } from './event-analytics/read.js';
import { ga4 } from './ga4/read.js';
import { matomo } from './matomo/read.js';
import { mixpanel } from './mixpanel/read.js';
import { posthog } from './posthog/read.js';
import { segment } from './segment/read.js';
import { snowplow } from './snowplow/read.js';
import { umami } from './umami/read.js';

export const SOURCES: readonly Source[] = [
  ...[mixpanel, amplitude, posthog, segment, ga4, umami, snowplow, matomo],
  ...[accessLog, eventAnalytics],
];

export const findSource = (name: string): Source | undefined =>
  SOURCES.find((source) => source.name === (OTHER_NAMES.get(name) ?? name));

/** Products with the files of another one. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([['rudderstack', 'segment']]);

/**
 * Products whose exports hold no events, with what to do instead. A map, because a name such as
 * `constructor` is a property of every object.
 */
export const NOT_EVENTS: ReadonlyMap<string, string> = new Map([
  [
    'plausible',
    'an export of Plausible has daily sums, not events: who came twice, funnels and paths cannot be made of it. ' +
      'Keep the export for old totals, send events to this service from now on, ' +
      'and if logs of the web server are kept, import those: npm run import -- access-log FILE…',
  ],
]);
