// Query texts and their parse trees, error recovery included. The trees document the grammar.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileTests } from '@lezer/generator/test';
import { describe, expect, test } from 'vitest';
import { parser } from '../../grammar/parser.js';
import { packageRoot } from '../../src/platform/paths.js';

const FOLDER = join(packageRoot, 'test', 'grammar');
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));

describe.each(files)('%s', (name) => {
  const cases = fileTests(readFileSync(join(FOLDER, name), 'utf8'), name);
  // Throws with the difference when the tree is another one.
  test.each(cases.map((one) => [one.name, one] as const))('%s', (_, one) => one.run(parser));
});

/** Milliseconds of the fastest of a few runs: what is asked is the parser's speed, not the machine's load. */
function timeParse(text: string): number {
  const times = Array.from({ length: 20 }, () => {
    const startedAt = performance.now();
    parser.parse(text);
    return performance.now() - startedAt;
  });
  return Math.min(...times);
}

describe('speed', () => {
  const SIZE = 16 * 1024;
  const fill = (head: string, part: string): string =>
    head + part.repeat(Math.floor((SIZE - head.length) / part.length));

  test.each([
    ['conditions', fill('signup | where a = 1', ' or event_properties.plan = "x"')],
    ['stages', fill('signup', ' | where a = 1')],
    ['list values', fill('signup | where a in (1', ', "abc"')],
    ['a comment', fill('signup # ', 'x')],
    ['a string', `signup | where a = "${'x'.repeat(SIZE - 30)}"`],
    ['funnel steps', fill('funnel a', ' -> step')],
  ])('16 KiB of %s parse in 20 ms', (_, text) => {
    expect(timeParse(text)).toBeLessThan(20);
  });
});
