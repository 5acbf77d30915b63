// Validation of identify calls: accepted values, and one error per rule.
import { describe, expect, test } from 'vitest';
import { IdentifyRefusal, parseIdentifyBody } from '../../../src/identity/schema.js';

const LIMITS = { propertiesMax: 9, userPropertiesMax: 4, keyLengthMax: 9, valueBytesMax: 16 };
const parse = (body: unknown) =>
  parseIdentifyBody(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), LIMITS).call;

describe('parseIdentifyBody() accepts', () => {
  test.each<[string, unknown, object]>([
    ['a user alone', { user_id: 'u' }, { userId: 'u', deviceId: undefined, ops: {} }],
    ['numbers as ids', { user_id: 7, device_id: 1.5 }, { userId: '7', deviceId: '1.5' }],
    ['512 characters, of which each may be four bytes', { user_id: '😀'.repeat(512) }, { userId: '😀'.repeat(512) }],
    ['an empty device id as absent', { user_id: 'u', device_id: '' }, { deviceId: undefined }],
    ['a null device id as absent', { user_id: 'u', device_id: null }, { deviceId: undefined }],
    [
      'null fields as absent',
      { user_id: 'u', user_properties: null, user_property_ops: { $set: null, $unset: null } },
      { ops: {} },
    ],
    [
      'user_properties before $set',
      { user_id: 'u', user_properties: { a: 1, b: 1 }, user_property_ops: { $set: { a: 2, c: null } } },
      { ops: { set: { a: 2, b: 1, c: null } } },
    ],
    [
      'each operator',
      { user_id: 'u', user_property_ops: { $set_once: { a: 'x', b: null }, $add: { c: -1.5 }, $unset: ['d'] } },
      { ops: { setOnce: { a: 'x' }, add: { c: -1.5 }, unset: ['d'] } },
    ],
    [
      'objects and arrays as JSON',
      { user_id: 'u', user_properties: { a: { b: [1] }, c: [] } },
      { ops: { set: { a: '{"b":[1]}', c: '[]' } } },
    ],
    [
      'a number beyond doubles as text',
      '{"user_id":"u","user_properties":{"a":1e999}}',
      { ops: { set: { a: 'Infinity' } } },
    ],
    [
      'NUL and lone surrogates, sanitized',
      '{"user_id":"u\\u0000v","user_properties":{"a\\u0000":"x\\ud800"}}',
      { userId: 'uv', ops: { set: { a: 'x\ufffd' } } },
    ],
    ['unknown fields, ignored', { user_id: 'u', anything: 1 }, { userId: 'u' }],
  ])('%s', (_, body, taken) => {
    expect(parse(body)).toMatchObject(taken);
  });

  test('property keys such as __proto__', () => {
    const { ops } = parse(
      '{"user_id":"u","user_properties":{"__proto__":"x"},"user_property_ops":{"$add":{"__proto__":1}}}',
    );
    expect(Object.entries(ops.set ?? {})).toEqual([['__proto__', 'x']]);
    expect(Object.entries(ops.add ?? {})).toEqual([['__proto__', 1]]);
  });
});

describe('parseIdentifyBody() refuses', () => {
  const ops = (of: object) => ({ user_id: 'u', user_property_ops: of });

  test.each<[body: unknown, reason: string, message: string]>([
    ['{"user_id"', 'body', 'the body is not valid JSON'],
    ['[]', 'body', 'the body must be an object with "user_id"'],
    [{}, 'user_id', '"user_id" is required and must not be empty'],
    [{ user_id: '' }, 'user_id', '"user_id" is required and must not be empty'],
    [{ user_id: null }, 'user_id', '"user_id" is required and must not be empty'],
    ['{"user_id":"\\u0000"}', 'user_id', '"user_id" is required and must not be empty'],
    [{ user_id: true }, 'user_id', '"user_id" must be a string'],
    [{ user_id: {} }, 'user_id', '"user_id" must be a string'],
    [{ user_id: 'null' }, 'user_id', '"user_id" is "null", which is not an id'],
    [{ user_id: 'undefined' }, 'user_id', '"user_id" is "undefined", which is not an id'],
    [{ user_id: 'NaN' }, 'user_id', '"user_id" is "NaN", which is not an id'],
    [{ user_id: '[object Object]' }, 'user_id', '"user_id" is "[object Object]", which is not an id'],
    [{ user_id: 'u', device_id: 'undefined' }, 'device_id', '"device_id" is "undefined", which is not an id'],
    [{ user_id: 'u', device_id: [] }, 'device_id', '"device_id" must be a string'],
    [
      '{"user_id":1234567890123456789}',
      'user_id',
      '"user_id" is a number too large to be read exactly; send it as text',
    ],
    [
      { user_id: 'u', device_id: -1e16 },
      'device_id',
      '"device_id" is a number too large to be read exactly; send it as text',
    ],
    [{ user_id: 'x'.repeat(513) }, 'limit', '"user_id" is longer than 512 characters'],
    [{ user_id: 'u', device_id: 'x'.repeat(513) }, 'limit', '"device_id" is longer than 512 characters'],
    [{ user_id: 'u', user_properties: 'a' }, 'properties', '"user_properties" must be an object'],
    [{ user_id: 'u', user_property_ops: [] }, 'properties', '"user_property_ops" must be an object'],
    [ops({ $push: {} }), 'properties', 'unknown operator "$push"; the operators are $set, $set_once, $add, $unset'],
    [
      ops({ ['$'.repeat(65)]: {} }),
      'properties',
      `unknown operator "${'$'.repeat(64)}…"; the operators are $set, $set_once, $add, $unset`,
    ],
    [ops({ $set: 'a' }), 'properties', '"$set" must be an object'],
    [ops({ $add: { a: '1' } }), 'properties', '"$add" of "a" must be a number'],
    [ops({ $add: { a: null } }), 'properties', '"$add" of "a" must be a number'],
    ['{"user_id":"u","user_property_ops":{"$add":{"a":1e999}}}', 'properties', '"$add" of "a" must be a number'],
    [ops({ $unset: { a: 1 } }), 'properties', '"$unset" must be an array of strings'],
    [ops({ $unset: ['a', 1] }), 'properties', '"$unset" must be an array of strings'],
    [
      { user_id: 'u', user_properties: { a: 1, b: 1, c: 1 }, user_property_ops: { $unset: ['d', 'e'] } },
      'limit',
      'the call has 5 properties; the limit is 4',
    ],
    [{ user_id: 'u', user_properties: { '': 1 } }, 'limit', 'a property key is empty'],
    [
      { user_id: 'u', user_properties: { abcdefghij: 1 } },
      'limit',
      'the property key "abcdefghij" is longer than 9 characters',
    ],
    [ops({ $unset: ['abcdefghij'] }), 'limit', 'the property key "abcdefghij" is longer than 9 characters'],
    [ops({ $set_once: { a: 'ä'.repeat(9) } }), 'limit', 'the value of "a" is larger than 16 bytes'],
    [
      `{"user_id":"u","user_properties":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
      'limit',
      'the value of "a" is nested more than 500 levels deep',
    ],
  ])('%j: %s', (body, reason, message) => {
    const refusal = (() => {
      try {
        return parse(body);
      } catch (error) {
        return error;
      }
    })();
    expect(refusal).toBeInstanceOf(IdentifyRefusal);
    expect(refusal).toMatchObject({ status: 400, reason, message });
  });
});
