// Campaign parameters of a page's address as the properties that the browser script sends.
import type { Properties } from './source.js';
import { cutToBytes } from './values.js';

const PARAMETERS = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'gclid', 'fbclid'] as const;
const MAY_HAVE_ONE = /[?&](?:utm_(?:source|medium|campaign|term|content)|gclid|fbclid)=/;
const VALUE_BYTES_MAX = 8192;

/** Adds the parameters of `url` to the properties; those that the event has stay. */
export function addCampaign(properties: Properties): void {
  const { url } = properties;
  if (typeof url !== 'string' || !MAY_HAVE_ONE.test(url)) return;
  const query = new URLSearchParams(url.slice(url.indexOf('?')).replace(/#.*$/s, ''));
  for (const name of PARAMETERS) {
    const value = query.get(name);
    const isAbsent = properties[name] === undefined;
    if (isAbsent && value !== null && value !== '') properties[name] = cutToBytes(value, VALUE_BYTES_MAX);
  }
}
