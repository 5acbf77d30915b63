// Builds request bodies from the calls of a page.
import { randomId } from '../../node/src/random-id-web.js';
import { isAllowed } from './consent.js';
import { deviceId, touchSession } from './identity.js';
import { attributionOf, type Fields } from './page.js';
import { enqueue } from './queue.js';
import { identifyUrl, report, trackUrl } from './settings.js';
import { landingEntry, userEntry } from './storage.js';

declare const VERSION: string;

export const PAGE_VIEW = 'page_view';
/** Placeholder texts of programs without an id: accepting them would merge unrelated people. */
const NOTHING = /^(|null|undefined|NaN|\[object.*)$/;

/** At most as long as a value may be: the event would be skipped. It is ASCII. */
export const address = (): string => location.href.slice(0, 8192);

/** A boolean is the result of an expression such as `user && user.id`. */
const isUsable = (text: unknown): unknown =>
  NOTHING.test(text as string) || text === !!text ? report('no id') : isAllowed();

export const track = (
  eventType: string,
  eventProperties?: Fields,
  userProperties?: Fields,
  insertId = randomId(),
): void => {
  if (!isUsable(eventType)) return;
  enqueue(trackUrl, {
    event_type: eventType,
    device_id: deviceId(),
    user_id: userEntry(),
    session_id: touchSession(),
    time: new Date(),
    insert_id: insertId,
    library: `service-js/${VERSION}`,
    clientOriginated: true,
    event_properties: {
      url: address(),
      language: navigator.language,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      ...(eventType === PAGE_VIEW && {
        referrer: document.referrer || undefined,
        referring_domain: document.referrer.split(/\/+|:\d+\//)[1],
        title: document.title || undefined,
        // biome-ignore lint/style/useTemplate: a few bytes fewer when compressed.
        viewport: innerWidth + 'x' + innerHeight,
        ...attributionOf(location.search),
      }),
      ...eventProperties,
    },
    user_properties: userProperties,
  });
};

export const identify = (userId: string, userProperties?: Fields, operations?: { $set_once?: Fields }): void => {
  if (!isUsable(userId)) return;
  touchSession();
  enqueue(identifyUrl, {
    device_id: deviceId(),
    user_id: userEntry(`${userId}`),
    user_properties: userProperties,
    user_property_ops: {
      ...operations,
      $set_once: { ...attributionOf(landingEntry(), 'initial_'), ...operations?.$set_once },
    },
  });
  landingEntry('');
};
