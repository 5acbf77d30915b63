// The console names every source of imports.
import { expect, test } from 'vitest';
import { importTexts } from '../../../console/src/texts/import.js';
import { SOURCES } from '../../../src/imports/sources/table.js';

test('the console offers the sources that the service reads', () => {
  expect(Object.keys(importTexts.sources).sort()).toEqual(SOURCES.map(({ name }) => name).sort());
});
