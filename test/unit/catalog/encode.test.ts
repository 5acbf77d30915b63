// The text of a catalog: written once for a catalog and its definitions.
import { expect, test } from 'vitest';
import { toCatalog } from '../../../src/catalog/catalog.js';
import { createEncoder } from '../../../src/catalog/encode.js';
import { NOTHING } from '../../../src/definitions/reader.js';

const NAMES = [{ kind: 'event', field: '', name: 'signup', events: 3 }] as const;

test('is written once, until the catalog or its definitions are others', () => {
  const encode = createEncoder();
  const [catalog, defined] = [toCatalog(NAMES, true), { ...NOTHING, version: 2 }];
  const text = encode(catalog, NOTHING);
  expect(JSON.parse(text.toString())).toMatchObject({
    events: [{ event_type: 'signup', count: 3 }],
    definitions: { version: 0 },
  });
  expect(encode(catalog, NOTHING)).toBe(text);
  expect(JSON.parse(encode(catalog, defined).toString())).toMatchObject({ definitions: { version: 2 } });
  const changed = toCatalog([{ ...NAMES[0], events: 4 }], true);
  expect(JSON.parse(encode(changed, defined).toString())).toMatchObject({
    events: [{ event_type: 'signup', count: 4 }],
  });
});
