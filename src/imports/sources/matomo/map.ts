// Maps visits of Matomo: each action of a visit is an event. README.md beside this file has the
// mapping.
import { isObject, type JsonObject, textOf } from '../../../platform/json-object.js';
import { toAgent } from '../../agents.js';
import { RecordIds } from '../../record-ids.js';
import type { ImportedEvent, Mapped, Properties } from '../../source.js';
import { idOf, numberOf, ownOf, present } from '../../values.js';

const TYPES: Readonly<Record<string, string>> = {
  action: 'page_view',
  search: 'search',
  goal: 'goal',
  download: 'download',
  outlink: 'outlink',
  ecommerceOrder: 'ecommerce_order',
  ecommerceAbandonedCart: 'ecommerce_abandoned_cart',
};

const CONTINENTS: Readonly<Record<string, string>> = {
  ...{ afr: 'AF', ant: 'AN', asi: 'AS', eur: 'EU', amn: 'NA', amc: 'NA', oce: 'OC', ams: 'SA' },
};

export function createMapper(): (visit: JsonObject) => readonly Mapped[] {
  const ids = new RecordIds('ma');
  return (visit) => {
    const idVisit = idOf(visit.idVisit);
    const actions = Array.isArray(visit.actionDetails) ? visit.actionDetails : undefined;
    if (idVisit === undefined || actions === undefined) {
      const message = textOf(visit.message);
      return [
        { kind: 'skip', reason: message === undefined ? 'not a visit' : `not a visit: ${message.slice(0, 200)}` },
      ];
    }
    const shared = toShared(visit);
    const dimensions = dimensionsOf(visit);
    const events = actions.filter(isObject).map((action, index): Mapped => {
      const type = toType(action);
      if (type === undefined) return { kind: 'skip', reason: 'an action without a type' };
      // Other actions of a page view repeat its idpageview.
      const part = (action.type === 'action' ? idOf(action.idpageview) : undefined) ?? index;
      const seconds = numberOf(action.timestamp);
      // Field by field: Node 20 takes several times as long for a copy, and for reads of it.
      const event: ImportedEvent = {
        event_type: type,
        timeMs: seconds === undefined ? undefined : Math.trunc(seconds * 1000),
        insert_id: ids.own(`${idVisit}.${part}`),
        user_id: shared.user_id,
        device_id: shared.device_id,
        session_id: shared.session_id,
        // The referrer is that of the visit: of its first action.
        event_properties: addActionProperties(action, toVisitProperties(visit, dimensions, index === 0)),
        ip: shared.ip,
        agent: shared.agent,
        geo: shared.geo,
        origin: shared.origin,
      };
      return { kind: 'event', event };
    });
    const { user_id: user, device_id: device } = shared;
    const seconds = numberOf(visit.lastActionTimestamp) ?? numberOf(visit.serverTimestamp) ?? 0;
    if (user === undefined || device === undefined) return events;
    return [...events, { kind: 'link', device, user, timeMs: seconds * 1000 }];
  };
}

type Shared = Pick<ImportedEvent, 'user_id' | 'device_id' | 'session_id' | 'ip' | 'agent' | 'geo' | 'origin'>;

/** What all actions of a visit share. */
const toShared = (visit: JsonObject): Shared => ({
  user_id: idOf(visit.userId),
  device_id: idOf(visit.visitorId),
  session_id: idOf(visit.idVisit),
  ip: textOf(visit.visitIp),
  agent: toAgent({
    browser: visit.browserName,
    browserVersion: visit.browserVersion,
    os: visit.operatingSystemName,
    osVersion: visit.operatingSystemVersion,
    device: visit.deviceType,
  }),
  geo: toGeography(visit),
  origin: 'client',
});

function toType(action: JsonObject): string | undefined {
  if (action.type === 'event') return textOf(action.eventAction) ?? 'event';
  const type = textOf(action.type);
  return type === undefined ? undefined : (ownOf(TYPES, type) ?? type);
}

function addActionProperties(action: JsonObject, properties: Properties): Properties {
  const fields = {
    url: action.url,
    title: action.pageTitle,
    seconds_spent: numberOf(action.timeSpent),
    event_category: action.eventCategory,
    event_name: action.eventName,
    event_value: numberOf(action.eventValue),
    goal_id: action.goalId,
    goal_name: action.goalName,
    revenue: numberOf(action.revenue),
    order_id: action.orderId,
    items: Array.isArray(action.itemDetails) && action.itemDetails.length > 0 ? action.itemDetails : undefined,
    search_keyword: action.siteSearchKeyword,
    search_category: action.siteSearchCategory,
    search_count: numberOf(action.siteSearchCount),
  };
  return present(dimensionsOf(action), present(fields, properties));
}

function toVisitProperties(visit: JsonObject, dimensions: Properties, isFirst: boolean): Properties {
  const fields = {
    language: visit.languageCode,
    browser: visit.browserName,
    browser_version: visit.browserVersion,
    os_name: visit.operatingSystemName,
    os_version: visit.operatingSystemVersion,
    device_category: visit.deviceType,
    device_model: visit.deviceModel,
    screen: visit.resolution,
    site_id: visit.idSite,
  };
  const properties = present(dimensions, present(fields));
  return isFirst ? present(toReferrer(visit), properties) : properties;
}

function toReferrer(visit: JsonObject): Properties {
  const isCampaign = visit.referrerType === 'campaign';
  return {
    referrer: visit.referrerUrl,
    utm_campaign: visit.campaignName ?? (isCampaign ? visit.referrerName : undefined),
    utm_source: visit.campaignSource,
    utm_medium: visit.campaignMedium,
    utm_content: visit.campaignContent,
    utm_term: visit.campaignKeyword ?? (isCampaign ? visit.referrerKeyword : undefined),
  };
}

/** Custom dimensions: `dimension1` and so on. */
function dimensionsOf(record: JsonObject): Properties {
  const dimensions: Properties = {};
  for (const key in record) if (/^dimension\d+$/.test(key)) dimensions[key] = record[key];
  return dimensions;
}

function toGeography(visit: JsonObject): ImportedEvent['geo'] {
  const country = textOf(visit.countryCode)?.toUpperCase();
  // "xx" is Matomo's code for an unknown country.
  if (country === undefined || country === 'XX') return undefined;
  return present({
    country,
    region: textOf(visit.region),
    region_code: textOf(visit.regionCode),
    city: textOf(visit.city),
    continent: ownOf(CONTINENTS, textOf(visit.continentCode) ?? ''),
    latitude: numberOf(visit.latitude),
    longitude: numberOf(visit.longitude),
  });
}
