// The table of sources: one row for each folder here.
import type { Source } from '../source.js';
import { accessLog } from './access-log/read.js';
import { amplitude } from './amplitude/read.js';
import { mixpanel } from './mixpanel/read.js';
import { posthog } from './posthog/read.js';
import { segment } from './segment/read.js';

export const SOURCES: readonly Source[] = [mixpanel, amplitude, posthog, segment, accessLog];

export const findSource = (name: string): Source | undefined => SOURCES.find((source) => source.name === name);

/** Products whose exports hold no events, with what to do instead. */
export const NOT_EVENTS: Readonly<Record<string, string>> = {};
