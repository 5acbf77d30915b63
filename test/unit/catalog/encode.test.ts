// The text of a catalog: written once for a catalog and its definitions.
import { expect, test } from 'vitest';
import { toCatalog } from '../../../src/catalog/catalog.js';
import { createEncoder } from '../../../src/catalog/encode.js';
import { NOTHING } from '../../../src/definitions/reader.js';

const NAMES = [{ kind: 'event', field: '', name: 'signup', events: 3 }] as const;

test('is written once, until the catalog or its definitions are others', async () => {
  const encode = createEncoder();
  const [catalog, defined] = [toCatalog(NAMES, true), { ...NOTHING, version: 2 }];
  const text = await encode(catalog, NOTHING);
  expect(JSON.parse(text.toString())).toMatchObject({
    events: [{ event_type: 'signup', count: 3 }],
    definitions: { version: 0 },
  });
  expect(await encode(catalog, NOTHING)).toBe(text);
  expect(JSON.parse((await encode(catalog, defined)).toString())).toMatchObject({ definitions: { version: 2 } });
  const changed = toCatalog([{ ...NAMES[0], events: 4 }], true);
  expect(JSON.parse((await encode(changed, defined)).toString())).toMatchObject({
    events: [{ event_type: 'signup', count: 4 }],
  });
});

test('of many names is written in slices, between which other work runs, and once for two requests', async () => {
  const encode = createEncoder();
  const values = Array.from({ length: 250 }, (_, index) => `event_properties.p${index}`).flatMap((field) =>
    ['a', '"b"'].map((name) => ({ kind: 'value', field, name, events: 1 }) as const),
  );
  const catalog = toCatalog([...NAMES, ...values], true);
  const written = encode(catalog, NOTHING);
  expect(encode(catalog, NOTHING)).toBe(written);
  let others = 0;
  setImmediate(() => {
    others += 1;
  });
  const answer = JSON.parse((await written).toString());
  expect(others).toBe(1);
  expect(Object.keys(answer)).toEqual(['complete', 'events', 'properties', 'profile', 'values', 'definitions']);
  expect(answer.values).toHaveLength(250);
  expect(answer.values[249]).toEqual({ field: 'event_properties.p249', values: ['a', '"b"'], distinct: 2 });
});
