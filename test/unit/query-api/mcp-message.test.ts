// Messages of agents: what is counted in their bytes, and what is refused.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countValues, MESSAGE_VALUES_MAX, parseMessage } from '../../../src/query-api/mcp/parse-message.js';

/** Keys with their values, items, and every object and list. */
function signsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values = Object.values(value);
  const commas = Math.max(0, values.length - 1);
  const colons = Array.isArray(value) ? 0 : values.length;
  return 1 + commas + colons + values.map(signsOf).reduce((sum, each) => sum + each, 0);
}

test('texts do not count, whatever they contain', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.boolean(), (value, isIndented) => {
      const text = JSON.stringify(value, undefined, isIndented ? 2 : 0);
      expect(countValues(Buffer.from(text))).toBe(Math.min(signsOf(value), MESSAGE_VALUES_MAX + 1));
    }),
  );
  for (const text of [',:[{', '"', '\\', '\\"', '\\\\",', 'é,']) {
    expect(countValues(Buffer.from(JSON.stringify([text])))).toBe(1);
  }
});

test('a message with a long text is parsed', () => {
  const message = { jsonrpc: '2.0', id: 1, params: { source_yaml: '- {a: [1, 2]}\n'.repeat(4_000) } };
  expect(parseMessage(Buffer.from(JSON.stringify(message)))).toEqual(message);
});

test.each(['null', '1', '"a"', '{"params":null}', '{"params":"a"}', `{"id":"${'a'.repeat(2_000)}"}`])(
  'the SDK checks the rest: %s',
  (json) => expect(parseMessage(Buffer.from(json))).toEqual(JSON.parse(json)),
);

test('a message may begin with a byte-order mark', () => {
  expect(parseMessage(Buffer.from('\uFEFF{"id":1}'))).toEqual({ id: 1 });
});

test.each([
  ['many keys', `{${Array.from({ length: 1_001 }, (_, index) => `"${index}":1`).join(',')}}`, /more than 2000 keys/],
  ['many items', `[${'1,'.repeat(2_000)}1]`, /more than 2000 keys/],
  ['deep lists', '['.repeat(400_000), /more than 2000 keys/],
  ['a text without an end', `"${',[{'.repeat(2_000)}`, /not valid JSON/],
  ['a backslash at the end', '"\\', /not valid JSON/],
  ['a batch', '[{}]', /not a batch/],
  ['nothing', '', /not valid JSON/],
  ['a long id', `{"id":"${'a'.repeat(2_001)}"}`, /"id" of the message has 2001 characters, and the limit is 2000/],
  ['a long name', `{"params":{"name":"${'a'.repeat(2_001)}"}}`, /"name" of the message has 2001 characters/],
  ['a long address', `{"params":{"uri":"${'a'.repeat(2_001)}"}}`, /"uri" of the message has 2001 characters/],
])('%s: bad request', (_what, json, message) => {
  expect(() => parseMessage(Buffer.from(json))).toThrow(
    expect.objectContaining({ kind: 'bad_request', message: expect.stringMatching(message) }),
  );
});
