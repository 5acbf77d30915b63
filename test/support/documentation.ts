// Reads the examples of the documentation.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/platform/paths.js';

/** The code blocks of a page of docs/ in this language. */
export function examplesOf(page: string, language: string): string[] {
  const text = readFileSync(join(packageRoot, 'docs', page), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, example = '']) => example,
  );
}
