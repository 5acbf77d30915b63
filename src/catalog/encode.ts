// The JSON of a catalog with the names of its definitions, as GET /catalog answers it.
import type { ReadDefinitions } from '../definitions/reader.js';
import { toLists } from '../definitions/to-lists.js';
import type { Catalog } from './catalog.js';

/**
 * Keeps the text of a catalog as long as the reader keeps the catalog: the largest have seven
 * megabytes, and to write them for each request would take all the time of the event loop.
 */
export function createEncoder(): (catalog: Catalog, defined: ReadDefinitions) => Buffer {
  const kept = new WeakMap<Catalog, { readonly defined: ReadDefinitions; readonly text: Buffer }>();
  return (catalog, defined) => {
    const known = kept.get(catalog);
    if (known?.defined === defined) return known.text;
    const definitions = { version: defined.version, ...toLists(defined.definitions) };
    const text = Buffer.from(JSON.stringify({ ...toAnswer(catalog), definitions }));
    kept.set(catalog, { defined, text });
    return text;
  };
}

/** Of a field with more values, the most frequent ones are shown. */
const VALUES_SHOWN_MAX = 100;

function toAnswer({ isComplete, events, properties, values }: Catalog) {
  const fields = [...properties].map(([field, types]) => ({ field, types: types.filter((type) => type !== 'null') }));
  const isOfProfile = ({ field }: { readonly field: string }): boolean => field.startsWith('user.');
  return {
    complete: isComplete,
    events: [...events].map(([event_type, count]) => ({ event_type, count })),
    properties: fields.filter((each) => !isOfProfile(each)),
    profile: fields.filter(isOfProfile),
    values: [...values].map(([field, all]) => ({
      field,
      values: all.slice(0, VALUES_SHOWN_MAX),
      distinct: all.length,
    })),
  };
}
