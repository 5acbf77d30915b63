// Text that outlives the page, in a storage that may be forbidden, full, or emptied by another tab at any moment. What
// cannot be stored is remembered by this page alone.

type Area = 'localStorage' | 'sessionStorage';

const unstored: Record<string, string | undefined> = {};

/** Without an argument the entry is read; an empty text removes it. */
const createEntry = (area: Area, key: string) => (text?: string) => {
  try {
    const storage = window[area];
    if (text == null) return storage[key] || unstored[key];
    delete unstored[key];
    delete storage[key];
    if (text) storage[key] = text;
  } catch {
    unstored[key] = text ?? unstored[key];
  }
  return text || unstored[key];
};

export const deviceEntry = createEntry('localStorage', 'service_did');
export const userEntry = createEntry('localStorage', 'service_uid');
/** 'true' after optIn, 'false' after optOut. */
export const consentEntry = createEntry('localStorage', 'service_consent');
export const sessionEntry = createEntry('sessionStorage', 'service_sid');
/** When the session's last event was, milliseconds. */
export const seenEntry = createEntry('sessionStorage', 'service_seen');
/** The query of the session's first address, until an identify has taken its attribution. */
export const landingEntry = createEntry('sessionStorage', 'service_utm');
/** The assignment ids that the session has exposed, one after the other. */
export const exposedEntry = createEntry('sessionStorage', 'service_exp');
