// docs/SECURITY.md claims nothing that no test holds: each test that it names is there, by file and title.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const named = [...read('docs/SECURITY.md').matchAll(/`(test\/[\w./-]+)`: ([^|;]+?)\s*(?=[|;])/g)].map(
  ([, file = '', title = '']) => [file, title] as const,
);

test('there are some', () => expect(named.length).toBeGreaterThan(25));

test.each(named)('%s: %s', (file, title) => {
  expect(read(file)).toContain(title);
});
