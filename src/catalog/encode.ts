// The JSON of a catalog with the names of its definitions, as GET /catalog answers it.
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { ReadDefinitions } from '../definitions/reader.js';
import { toLists } from '../definitions/to-lists.js';
import type { CatalogAnswer } from './answers.js';
import type { Catalog } from './catalog.js';

/**
 * Keeps the text of a catalog as long as the reader keeps the catalog: the largest have seven
 * megabytes, and to write them for each request would take all the time of the event loop.
 */
export function createEncoder(): (catalog: Catalog, defined: ReadDefinitions) => Promise<Buffer> {
  const kept = new WeakMap<Catalog, { readonly defined: ReadDefinitions; readonly text: Promise<Buffer> }>();
  return (catalog, defined) => {
    const known = kept.get(catalog);
    if (known?.defined === defined) return known.text;
    const text = write(toAnswer(catalog, defined));
    kept.set(catalog, { defined, text });
    return text;
  };
}

/** Of a field with more values, the most frequent ones are shown. */
const VALUES_SHOWN_MAX = 100;

type ShownTypes = CatalogAnswer['properties'][number]['types'];

function toAnswer({ isComplete, events, properties, values }: Catalog, defined: ReadDefinitions): CatalogAnswer {
  const fields = [...properties].map(([field, types]) => ({
    field,
    types: types.filter((type) => type !== 'null') as ShownTypes,
  }));
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
    definitions: { version: defined.version, ...toLists(defined.definitions) },
  };
}

/** Of a list: values of a field are up to 100 texts, so that a slice takes some milliseconds. */
const ITEMS_OF_SLICE = 100;

/** As JSON.stringify does, in slices with other work in between: seven megabytes take 90 ms. */
async function write(answer: CatalogAnswer): Promise<Buffer> {
  const texts: Buffer[] = [];
  for (const [key, value] of Object.entries(answer)) {
    texts.push(Buffer.from(`${texts.length === 0 ? '{' : ','}${JSON.stringify(key)}:`));
    if (!Array.isArray(value)) {
      texts.push(Buffer.from(JSON.stringify(value)));
      continue;
    }
    texts.push(Buffer.from('['));
    for (let from = 0; from < value.length; from += ITEMS_OF_SLICE) {
      if (from > 0) await nextIteration();
      const slice = JSON.stringify(value.slice(from, from + ITEMS_OF_SLICE)).slice(1, -1);
      texts.push(Buffer.from(from === 0 ? slice : `,${slice}`));
    }
    texts.push(Buffer.from(']'));
  }
  return Buffer.concat([...texts, Buffer.from('}')]);
}
