// Text that outlives the page, in a storage that may be forbidden, full, or emptied by another tab at any moment. What
// cannot be stored is remembered by this page alone.

type Area = 'localStorage' | 'sessionStorage';

const unstored: Record<string, string | undefined> = {};

/** Without an argument the entry is read; an empty text removes it. */
const createEntry = (area: Area) => (name: string) => (text?: string) => {
  const key = `service_${name}`;
  try {
    const storage = window[area];
    if (text == null) text = storage[key];
    else {
      delete storage[key];
      if (text) storage[key] = text;
      delete unstored[key];
    }
  } catch {
    unstored[key] = text ?? unstored[key];
  }
  return text || unstored[key];
};

const ofDevice = createEntry('localStorage');
const ofSession = createEntry('sessionStorage');

export const deviceEntry = ofDevice('did');
export const userEntry = ofDevice('uid');
/** 'true' after optIn, 'false' after optOut. */
export const consentEntry = ofDevice('consent');
export const sessionEntry = ofSession('sid');
/** When the session's last event was, milliseconds. */
export const seenEntry = ofSession('seen');
/** The query of the session's first address, until an identify has taken its attribution. */
export const landingEntry = ofSession('utm');
/** The assignment ids that the session has exposed, one after the other. */
export const exposedEntry = ofSession('exp');
