// Whether a call is of a server or of the device of its user, for the protocol and for imports of
// archives.
import { isObject } from '../../../platform/json-object.js';
import type { RawEvent } from '../../body.js';

/** Channels of libraries that run on the device of the user. */
const CLIENT_CHANNELS: ReadonlySet<unknown> = new Set(['client', 'mobile', 'web', 'browser']);

/** Libraries of mobile apps know no user agent; they say the device. */
export const isOfServer = (channel: unknown, context: RawEvent): boolean =>
  channel === 'server' || (!CLIENT_CHANNELS.has(channel) && !hasUserAgent(context) && !isObject(context.device));

const hasUserAgent = ({ userAgent }: RawEvent): boolean => typeof userAgent === 'string' && userAgent !== '';
