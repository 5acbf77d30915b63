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
  const hashAt = url.indexOf('#');
  const query = url.slice(url.indexOf('?') + 1, hashAt < 0 ? undefined : hashAt);
  const parameters = NEEDS_DECODING.test(query) ? new URLSearchParams(query) : readPlain(query);
  for (const name of PARAMETERS) {
    const value = parameters.get(name);
    if (value && properties[name] === undefined) properties[name] = cutToBytes(value, VALUE_BYTES_MAX);
  }
}

/** Others are read without URLSearchParams, which costs as much as writing the event. */
const NEEDS_DECODING = /[%+\ud800-\udfff]/;

/** The first value of each parameter of a query without escapes. */
function readPlain(query: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const pair of query.split('&')) {
    const equalsAt = pair.indexOf('=');
    const name = equalsAt < 0 ? pair : pair.slice(0, equalsAt);
    if (!values.has(name)) values.set(name, equalsAt < 0 ? '' : pair.slice(equalsAt + 1));
  }
  return values;
}
