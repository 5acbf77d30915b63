// Validation of /track bodies and events: one row per rule, and sanitizing of texts.
import { describe, expect, test } from 'vitest';
import { parseTrackBody } from '../../../src/ingest/body.js';
import { findSkipReason, toIdText, tryOriginOf } from '../../../src/ingest/schema.js';

const LIMITS = { propertiesMax: 3, userPropertiesMax: 2, keyLengthMax: 4, valueBytesMax: 8 };
const event = (fields: object) => ({ event_type: 'e', ...fields });
const properties = (value: unknown) => event({ event_properties: value });

describe('findSkipReason', () => {
  test.each([
    ['the least', event({})],
    ['256 characters of type', { event_type: 'x'.repeat(256) }],
    ['256 characters beyond the basic plane', { event_type: '😀'.repeat(256) }],
    ['ids of 512 characters', event({ user_id: 'u'.repeat(512), device_id: 'd'.repeat(512) })],
    ['ids that are null, empty or numbers', event({ user_id: null, device_id: '', session_id: 7, insert_id: 1.5 })],
    ['the largest exact number as an id', event({ session_id: Number.MAX_SAFE_INTEGER })],
    ['properties that are null', properties(null)],
    ['every type of value', properties({ a: 'x', b: 1, c: null })],
    ['nested values', properties({ a: [1], b: {} })],
    ['a value of the longest length', properties({ a: 'ääää' })],
    ['keys named like machinery', properties(JSON.parse('{"a":1}'))],
    ['unknown fields, however deep', event({ whatever: nested(200_000) })],
  ])('accepts %s', (_, value) => {
    expect(findSkipReason(value, LIMITS)).toBeUndefined();
  });

  test('accepts a value of the maximum depth', () => {
    expect(findSkipReason(properties({ a: nested(500) }), { ...LIMITS, valueBytesMax: 1001 })).toBeUndefined();
  });

  test.each([
    ['a number', 5, 'not_an_object'],
    ['null', null, 'not_an_object'],
    ['an array', [], 'not_an_object'],
    ['no type', {}, 'event_type_missing'],
    ['an empty type', { event_type: '' }, 'event_type_missing'],
    ['a type that is a number', { event_type: 5 }, 'event_type_missing'],
    ['257 characters of type', { event_type: 'x'.repeat(257) }, 'event_type_too_long'],
    ['513 characters of id', event({ insert_id: 'x'.repeat(513) }), 'id_too_long'],
    ['an id that is an object', event({ user_id: {} }), 'id_not_a_string'],
    ['a user id that a JSON number cannot represent', event({ user_id: 2 ** 53 }), 'id_not_exact'],
    ['a negative one', event({ device_id: -(2 ** 53) }), 'id_not_exact'],
    ['an id beyond all numbers', event({ insert_id: Number.POSITIVE_INFINITY }), 'id_not_exact'],
    ['an id that is true', event({ device_id: true }), 'id_not_a_string'],
    ['properties that are an array', properties([1]), 'properties_not_an_object'],
    ['properties that are text', properties('x'), 'properties_not_an_object'],
    ['one property too many', properties({ a: 1, b: 1, c: 1, d: 1 }), 'too_many_properties'],
    ['one user property too many', event({ user_properties: { a: 1, b: 1, c: 1 } }), 'too_many_properties'],
    ['an empty key', properties({ '': 1 }), 'property_key_length'],
    ['a long key', properties({ abcde: 1 }), 'property_key_length'],
    ['a long value', properties({ a: '123456789' }), 'property_value_too_long'],
    ['a value with too many bytes', properties({ a: 'äääää' }), 'property_value_too_long'],
    ['a long nested value', properties({ a: { b: 'xxxx' } }), 'property_value_too_long'],
    ['a value nested beyond any stack', properties({ a: nested(200_000) }), 'property_value_too_deep'],
    ['a value nested one level too deep', properties({ a: nested(501) }), 'property_value_too_deep'],
  ])('skips %s', (_, value, reason) => {
    expect(findSkipReason(value, LIMITS)).toBe(reason);
  });
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

describe('parseTrackBody', () => {
  const parse = (text: string) => parseTrackBody(Buffer.from(text, 'utf8'));

  test('parses one event or a batch', () => {
    expect(parse('{"event_type":"a"}').events).toEqual([{ event_type: 'a' }]);
    expect(parse('{"events":[{"event_type":"a"},5],"origin":"server"}')).toEqual({
      events: [{ event_type: 'a' }, 5],
      batch: { events: [{ event_type: 'a' }, 5], origin: 'server' },
    });
    // In an event, `events` that is not an array is an unknown field.
    for (const events of ['3', 'null', '{}', '"x"']) {
      const text = `{"event_type":"cart","events":${events}}`;
      expect(parse(text)).toEqual({ events: [JSON.parse(text)], batch: undefined });
    }
    expect(parse('{"event_type":"a","events":[{"event_type":"b"}]}').events).toEqual([{ event_type: 'b' }]);
  });

  test('sanitizes texts beside an unknown field of any depth', () => {
    const depth = 200_000;
    const [event] = parse(String.raw`{"event_type":"a\u0000","junk":${'['.repeat(depth)}${']'.repeat(depth)}}`).events;
    expect(event).toMatchObject({ event_type: 'a' });
  });

  test.each([
    '',
    '{',
    'null',
    '[]',
    '5',
    '"x"',
    '{}',
    '{"events":{}}',
    '{"events":null}',
    '{"type":"a"}',
    '[{"event_type":"a"}]',
  ])('rejects %s', (text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ kind: 'bad_request' }));
  });

  test('sanitizes NUL and lone surrogates in keys and values, and keeps surrogate pairs', () => {
    const [event] = parse(
      String.raw`{"event_type":"a\u0000b","event_properties":{"k\ud800":"\ud83d\ude00\udc00"}}`,
    ).events;
    expect(event).toEqual({ event_type: 'ab', event_properties: { 'k\ufffd': '😀\ufffd' } });
  });

  test('replaces invalid UTF-8 by U+FFFD', () => {
    const bytes = Buffer.concat([Buffer.from('{"event_type":"a'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(parseTrackBody(bytes).events).toEqual([{ event_type: 'a\ufffd' }]);
  });

  test('keeps the key __proto__, also when the body is sanitized', () => {
    const [event] = parse(String.raw`{"event_type":"a\u0000","event_properties":{"__proto__":"x","constructor":"y"}}`)
      .events as [{ event_properties: object }];
    expect(Object.entries(event.event_properties)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });
});

test.each([
  ['x', 'x'],
  [5, '5'],
  [1.5, '1.5'],
  [null, ''],
  [undefined, ''],
])('toIdText(%j) is %j', (value, text) => {
  expect(toIdText(value)).toBe(text);
});

test.each([
  [{ origin: 'server', clientOriginated: true }, 'server'],
  [{ origin: 'client' }, 'client'],
  [{ clientOriginated: true }, 'client'],
  [{ clientOriginated: false }, undefined],
  [{ origin: 'mars' }, undefined],
  [undefined, undefined],
])('tryOriginOf(%j) is %s', (source, origin) => {
  expect(tryOriginOf(source)).toBe(origin);
});
