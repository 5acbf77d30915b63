// Property operations of identify calls ($set, $set_once, $add, $unset), one row per rule, and the
// e-mail address of a profile.
import { describe, expect, test } from 'vitest';
import { emailOf, type PropertyOps, type PropertyValue } from '../../../src/identity/property-ops.js';
import { TimedProperties } from '../../../src/identity/timed-properties.js';

function apply(before: Record<string, PropertyValue>, ops: PropertyOps): Record<string, PropertyValue> {
  const timed = new TimedProperties(before, {}, 0);
  timed.apply(1, ops);
  return timed.properties;
}

type Row = [
  rule: string,
  before: Record<string, PropertyValue>,
  ops: PropertyOps,
  after: Record<string, PropertyValue>,
];

describe('TimedProperties.apply()', () => {
  test.each<Row>([
    ['no operations change nothing', { a: 1 }, {}, { a: 1 }],
    ['$set overwrites its keys only', { a: 1, b: 2 }, { set: { a: 'x', c: true } }, { a: 'x', b: 2, c: true }],
    ['$set of null removes', { a: 1, b: 2 }, { set: { a: null, c: null } }, { b: 2 }],
    ['$set of an empty text sets it', { a: 1 }, { set: { a: '' } }, { a: '' }],
    [
      '$set_once keeps existing values, also false, 0 and the empty text',
      { a: false, b: 0, c: '' },
      { setOnce: { a: 1, b: 1, c: 1, d: 1 } },
      { a: false, b: 0, c: '', d: 1 },
    ],
    ['$add adds', { a: 1.5 }, { add: { a: 2 } }, { a: 3.5 }],
    ['$add subtracts', { a: 1 }, { add: { a: -2 } }, { a: -1 }],
    ['$add creates', {}, { add: { a: 2 } }, { a: 2 }],
    ['$add reads a number in text', { a: '40', b: '1e2' }, { add: { a: 2, b: 1 } }, { a: 42, b: 101 }],
    [
      '$add starts at 0 on text that is not a number',
      { a: 'x', b: '', c: ' 5', d: 'NaN', e: '1e999' },
      { add: { a: 1, b: 1, c: 1, d: 1, e: 1 } },
      { a: 1, b: 1, c: 1, d: 1, e: 1 },
    ],
    ['$add starts at 0 on a boolean', { a: true, b: false }, { add: { a: 1, b: 1 } }, { a: 1, b: 1 }],
    [
      '$add stays within the doubles',
      { a: Number.MAX_VALUE, b: -Number.MAX_VALUE },
      { add: { a: Number.MAX_VALUE, b: -Number.MAX_VALUE } },
      { a: Number.MAX_VALUE, b: -Number.MAX_VALUE },
    ],
    ['$unset removes', { a: 1, b: 2 }, { unset: ['a', 'c'] }, { b: 2 }],
    ['$set is applied before $set_once', {}, { set: { a: 1 }, setOnce: { a: 2 } }, { a: 1 }],
    ['a null in $set makes room for $set_once', { a: 1 }, { set: { a: null }, setOnce: { a: 2 } }, { a: 2 }],
    ['$set_once is applied before $add', {}, { setOnce: { a: 10 }, add: { a: 1 } }, { a: 11 }],
    ['$unset is applied last', {}, { set: { a: 1 }, setOnce: { b: 1 }, add: { c: 1 }, unset: ['a', 'b', 'c'] }, {}],
    [
      'a value that changes its type replaces',
      { a: 1, b: 'x', c: true },
      { set: { a: 'x', b: true, c: 1 } },
      { a: 'x', b: true, c: 1 },
    ],
    [
      'keys like those of prototypes are keys',
      {},
      { set: JSON.parse('{"__proto__":"x"}'), setOnce: { constructor: 1 }, add: { toString: 1 } },
      JSON.parse('{"__proto__":"x","constructor":1,"toString":1}'),
    ],
  ])('%s', (_, before, ops, after) => {
    expect(Object.entries(apply(before, ops)).sort()).toEqual(Object.entries(after).sort());
  });
});

describe('emailOf', () => {
  test.each([
    [{ email: 'Ann@Shop.Example' }, 'Ann@Shop.Example', 'shop.example'],
    [{ email: '"a@b"@c.example' }, '"a@b"@c.example', 'c.example'],
    [{ email: 'Ann@BÜCHER.example' }, 'Ann@BÜCHER.example', 'bücher.example'],
    [{ email: 'a@\u212aIOSK.example' }, 'a@\u212aIOSK.example', '\u212aiosk.example'],
    [{ email: 'no address' }, 'no address', undefined],
    [{ email: 'ends@' }, 'ends@', undefined],
    [{ email: '' }, undefined, undefined],
    [{ email: 5 }, undefined, undefined],
    [{ email: true }, undefined, undefined],
    [{}, undefined, undefined],
  ])('%j', (properties, email, emailDomain) => {
    expect(emailOf(properties as Record<string, PropertyValue>)).toEqual({ email, emailDomain });
  });
});
