// Routes of the protocols of other SDKs, for the route matrix and the OpenAPI document. Names and
// texts only: the route matrix must not load what reads the bodies.
import { AMPLITUDE_PATHS } from './amplitude/paths.js';
import { POSTHOG_PATHS } from './posthog/paths.js';
import { SEGMENT_PATHS } from './segment/paths.js';

export const PROTOCOL_PATHS = [...SEGMENT_PATHS, ...POSTHOG_PATHS, ...AMPLITUDE_PATHS] as const;
