// Samples of rejected events: truncation, and removal of keys and addresses.
import { describe, expect, test } from 'vitest';
import { isNamedIn, toSample } from '../../../src/ingest/rejected/sample.js';

const KEY = 'x'.repeat(32);

test.each<[what: string, event: unknown, sample: string]>([
  [
    'an event, unchanged',
    { event_type: '', n: 1, yes: true, no: null },
    '{"event_type":"","n":1,"yes":true,"no":null}',
  ],
  ['a value that is not an event', 7, '7'],
  ['lists and objects', { a: [1, [], {}, { b: 'c' }] }, '{"a":[1,[],{},{"b":"c"}]}'],
  [
    'an event with keys such as __proto__',
    JSON.parse('{"__proto__":{"constructor":1}}'),
    '{"__proto__":{"constructor":1}}',
  ],
  [
    'an event with IP addresses, which are removed',
    { ip: '203.0.113.7', p: { ip: '203.0.113.7', a: 1 } },
    '{"p":{"a":1}}',
  ],
  ['an event with only an IP address', { ip: '203.0.113.7' }, '{}'],
  [
    'an event with API keys, which are removed',
    { url: `/?key=pk_${KEY}`, [`sk_${KEY}`]: `aat_${KEY}` },
    '{"url":"/?key=pk_…","sk_…":"aat_…"}',
  ],
])('toSample() of %s', (_, event, sample) => expect(toSample(event)).toBe(sample));

describe('toSample() of a large event', () => {
  const deep = JSON.parse('['.repeat(5000) + ']'.repeat(5000));
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key-${index}`, index]));

  test.each<[what: string, event: unknown, begins: string]>([
    ['a long text', { a: 'x'.repeat(1_000_000), b: 1 }, '{"a":"xxx'],
    ['a long key', { ['ä'.repeat(1_000_000)]: 1 }, '{"äää'],
    ['many fields', wide, '{"key-0":0,"key-1":1,'],
    ['many items', Array.from({ length: 100_000 }, () => 'x'), '["x","x",'],
    ['deep nesting', deep, '[[[['],
  ])('truncates %s', (_, event, begins) => {
    const sample = toSample(event);
    expect(sample.startsWith(begins)).toBe(true);
    expect(Buffer.byteLength(sample)).toBeLessThan(5000);
    expect(sample).toContain('…');
  });

  test('reads no more than it shows', () => {
    let looked = 0;
    const items = new Proxy(
      Array.from({ length: 100_000 }, () => 'x'),
      {
        get: (target, name) => {
          if (typeof name === 'string') looked += 1;
          return Reflect.get(target, name);
        },
      },
    );
    toSample(items);
    expect(looked).toBeLessThan(2000);
  });
});

describe('isNamedIn() finds an id', () => {
  test.each<[what: string, event: unknown, id: string, isNamed: boolean]>([
    ['as a text', { user_id: 'alice' }, 'alice', true],
    ['as a number', { user_id: 42 }, '42', true],
    ['in another place', { event_properties: { by: ['alice'] } }, 'alice', true],
    ['with characters that JSON escapes', { user_id: 'a "b" \\ c\n' }, 'a "b" \\ c\n', true],
    ['as long as ids can be', { device_id: '😀'.repeat(512), user_id: 'é'.repeat(512) }, '😀'.repeat(512), true],
    ['not in a sample of another person', { user_id: 'bob' }, 'alice', false],
  ])('%s', (_, event, id, isNamed) => expect(isNamedIn(toSample(event), id)).toBe(isNamed));
});
