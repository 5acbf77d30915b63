// Recognizes ids of devices that the libraries of Mixpanel and PostHog make, for records that do
// not say whether an id is a device or a user.

/** A UUID, or the older form of five hexadecimal numbers. */
const MADE_BY_LIBRARY =
  /^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{8,16}-[0-9a-f]{8,16}-[0-9a-f]{4,12}-[0-9a-f]{4,12}-[0-9a-f]{8,16})$/i;

/** A user's id may be a UUID too: the person of its events is the same then, only not a user. */
export const isMadeByLibrary = (id: string | number): boolean => MADE_BY_LIBRARY.test(String(id));
