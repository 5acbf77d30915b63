// Hints of unknown fields with the property keys that the project has sent.
import { expect, test } from 'vitest';
import { compile } from '../../../src/query/compile.js';
import { QueryError } from '../../../src/query/errors.js';
import { CONTEXT } from './compiling.js';

const KEYS = ['plan', 'received_at', 'browser', 'Button Name', 'email', 'event.kind', 'day', '_os'];

function hintOf(text: string, propertyKeys?: readonly string[]) {
  try {
    compile(text, { ...CONTEXT, suggestsFixes: true, ...(propertyKeys && { propertyKeys }) });
  } catch (error) {
    if (error instanceof QueryError) return error.details[0];
    throw error;
  }
  return undefined;
}

test.each([
  ['* | count by plan', 'nearest is "event_properties.plan"', 'event_properties.plan'],
  // Near, but perhaps another property that was never sent.
  ['* | count by pln', 'nearest is "event_properties.plan"', undefined],
  ['* | where ButtonName = "x"', 'nearest is "event_properties."Button Name""', undefined],
  // The project's own names come before those of other products.
  ['* | count by email', 'nearest is "event_properties.email"', 'event_properties.email'],
  ['* | count by received_at', 'nearest is "event_properties.received_at"', 'event_properties.received_at'],
  ['* | count by event.kind', 'nearest is "event_properties.event.kind"', 'event_properties.event.kind'],
  ['* | count by page', 'nearest is "_path"', '_path'],
  ['* | count by _contry', 'nearest is "_country"', '_country'],
  // Names of the language, also where a property has the same.
  ['* | count by Day', 'nearest is "day"', 'day'],
  ['* | count by _oss', 'nearest is "_os"', '_os'],
])('%s: %s', (text, hint, fix) => {
  const detail = hintOf(text, KEYS);
  expect([detail?.hint, detail?.fix?.text]).toEqual([hint, fix]);
});

test('without keys the hint names the fields of the language', () => {
  expect(hintOf('* | count by plan')?.hint).toContain('a custom property is written event_properties.plan');
});
