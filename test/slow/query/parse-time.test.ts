// Growth of the parser's time with the length of a query.
import { expect, test } from 'vitest';
import { parser } from '../../../grammar/parser.js';
import { growthOf } from '../../support/growth.js';

const SMALL = 512;
const LARGE = 32 * SMALL;
const fill = (head: string, part: string) => (size: number) =>
  head + part.repeat(Math.floor((size - head.length) / part.length));

// Linear growth is 1, quadratic growth 32.
test.each<[string, (size: number) => string]>([
  ['conditions', fill('signup | where a = 1', ' or event_properties.plan = "x"')],
  ['stages', fill('signup', ' | where a = 1')],
  ['list values', fill('signup | where a in (1', ', "abc"')],
  ['a comment', fill('signup # ', 'x')],
  ['a string', (size) => `signup | where a = "${'x'.repeat(size - 30)}"`],
  ['funnel steps', fill('funnel a', ' -> step')],
])('the time to parse %s grows linearly with their length', (_, textOf) => {
  const texts = new Map([SMALL, LARGE].map((size) => [size, textOf(size)]));
  const parse = (size: number) => parser.parse(texts.get(size) ?? '');
  expect(growthOf(parse, { small: SMALL, large: LARGE })).toBeLessThan(12);
});
