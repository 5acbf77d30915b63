// Reads the examples of the documentation.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/platform/paths.js';

/** The code blocks of a page of docs/ in this language. */
export const examplesOf = (page: string, language: string): string[] => blocksOf(join('docs', page), language);

/** The code blocks for a shell of a page, by its path in the repository. */
export const shellBlocksOf = (page: string): string[] => blocksOf(page, 'sh');

function blocksOf(path: string, language: string): string[] {
  const text = readFileSync(join(packageRoot, path), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, example = '']) => example,
  );
}
