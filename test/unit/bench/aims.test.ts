// The aims in the table of README.md are those that the benchmarks compare with.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

/** Numbers of the last column, in the units of the table. */
function aimsOfReadme(): string[] {
  const [, table = ''] = read('README.md').split('| What | Day | Result | Aim |\n');
  const rows = table.split('\n\n')[0]?.split('\n').slice(1) ?? [];
  return rows.flatMap(
    (row) =>
      row
        .split('|')
        .at(-2)
        ?.match(/\d+(?:\.\d+)?/g) ?? [],
  );
}

test('each aim of README.md is one of a benchmark', () => {
  const benches = readdirSync(join(packageRoot, 'bench')).filter((name) => name.endsWith('.ts'));
  const sources = benches.map((name) => read(join('bench', name))).join('\n');
  const known = new Set(
    [...sources.matchAll(/at(?:Most|Least)\((\d+(?:\.\d+)?)\)|toMeasurements\('[^']*', \w+, (\d+)\)/g)].map(
      ([, aim, aimMs]) => aim ?? aimMs,
    ),
  );
  const aims = aimsOfReadme();
  expect(aims).toContain('0.65');
  expect(aims.filter((aim) => !known.has(aim))).toEqual([]);
});
