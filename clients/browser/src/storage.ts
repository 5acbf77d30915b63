// Persistent text storage with a fallback in memory: web storage may be blocked, full, or cleared
// by another tab.

type Area = 'localStorage' | 'sessionStorage';

const unstored: Record<string, string | undefined> = {};

/** Reads the entry without an argument; an empty text removes it. */
const createEntry = (area: Area) => (name: string) => (text?: string) => {
  // biome-ignore lint/style/useTemplate: a few bytes fewer when compressed.
  const key = 'service_' + name;
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
/** Time of the session's last event, epoch milliseconds. */
export const seenEntry = ofSession('seen');
/** Query string of the session's first URL, until an identify call has used its attribution. */
export const landingEntry = ofSession('utm');
/** Assignment ids exposed in this session, concatenated. */
export const exposedEntry = ofSession('exp');
