// Query texts and their parse trees, error recovery included. The trees document the grammar.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileTests } from '@lezer/generator/test';
import { describe, expect, test } from 'vitest';
import { parser } from '../../grammar/parser.js';
import { packageRoot } from '../../src/platform/paths.js';
import { growthOf } from '../support/growth.js';

const FOLDER = join(packageRoot, 'test', 'grammar');
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));

describe.each(files)('%s', (name) => {
  const cases = fileTests(readFileSync(join(FOLDER, name), 'utf8'), name);
  // Throws with the difference when the tree is another one.
  test.each(cases.map((one) => [one.name, one] as const))('%s', (_, one) => one.run(parser));
});

describe('speed', () => {
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
  ])('the time to parse %s grows as their length', (_, textOf) => {
    const texts = new Map([SMALL, LARGE].map((size) => [size, textOf(size)]));
    const parse = (size: number) => parser.parse(texts.get(size) ?? '');
    expect(growthOf(parse, { small: SMALL, large: LARGE })).toBeLessThan(12);
  });
});
