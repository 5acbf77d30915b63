// Reads the examples of docs/query-language.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/platform/paths.js';

export function readDocumentedQueries(): string[] {
  const text = readFileSync(join(packageRoot, 'docs', 'query-language.md'), 'utf8');
  return [...text.matchAll(/^```query\n([\s\S]*?)^```/gm)].map((match) => (match[1] ?? '').trim());
}
