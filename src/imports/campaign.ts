// Campaign parameters of a page's address as the properties that the browser script sends.
import type { Properties } from './source.js';
import { cutToBytes } from './values.js';

const PARAMETERS = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'gclid', 'fbclid'] as const;
const MAY_HAVE_ONE = /[?&](?:utm_(?:source|medium|campaign|term|content)|gclid|fbclid)=/;
const VALUE_BYTES_MAX = 8192;

/** Adds the parameters of `url`; properties that the event has stay. */
export function addCampaign(properties: Properties): Properties {
  const { url } = properties;
  if (typeof url !== 'string' || !MAY_HAVE_ONE.test(url)) return properties;
  const query = new URLSearchParams(url.slice(url.indexOf('?')).replace(/#.*$/s, ''));
  const found: Properties = {};
  for (const name of PARAMETERS) {
    const value = query.get(name);
    if (value !== null && value !== '') found[name] = cutToBytes(value, VALUE_BYTES_MAX);
  }
  return { ...found, ...properties };
}
