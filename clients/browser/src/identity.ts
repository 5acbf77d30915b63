// Device id and session id. A session ends after 30 minutes without an event, or when the clock is
// set by more.
import { randomId } from '../../node/src/random-id-web.js';
import { deviceEntry, exposedEntry, landingEntry, seenEntry, sessionEntry, userEntry } from './storage.js';

export const deviceId = (): string | undefined => deviceEntry() || deviceEntry(randomId());

/** Session id for an event at this moment. */
export const touchSession = (): string | undefined => {
  const sessionMs = 1_800_000;
  const now = Date.now();
  if (!(Math.abs(now - +(seenEntry() as string)) < sessionMs)) {
    exposedEntry('');
    sessionEntry(randomId());
    landingEntry(location.search);
  }
  seenEntry(now as unknown as string);
  return sessionEntry();
};

export const forgetIdentity = (): void => {
  [deviceEntry, userEntry, sessionEntry, seenEntry, landingEntry, exposedEntry].map((entry) => entry(''));
};
