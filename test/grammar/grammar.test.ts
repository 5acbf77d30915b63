// Query texts and their parse trees, error recovery included. The trees document the grammar.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileTests } from '@lezer/generator/test';
import { describe, test } from 'vitest';
import { parser } from '../../grammar/parser.js';
import { packageRoot } from '../../src/platform/paths.js';

const FOLDER = join(packageRoot, 'test', 'grammar');
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));

describe.each(files)('%s', (name) => {
  const cases = fileTests(readFileSync(join(FOLDER, name), 'utf8'), name);
  // Throws with the difference when the tree is another one.
  test.each(cases.map((one) => [one.name, one] as const))('%s', (_, one) => one.run(parser));
});
