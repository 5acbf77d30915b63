// Production dependencies: allowed licences, an up-to-date list of them, and an audit that
// distinguishes a finding from an unavailable registry.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';
import { describeLicences, findVulnerable, listImported, listRefused, listShipped } from '../../../tools/licences.mjs';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const shipped = listShipped(JSON.parse(read('package-lock.json')), listImported());

test('every production dependency has an allowed licence', () => expect(listRefused(shipped)).toEqual([]));

test('docs/LICENCES.md is up to date (npm run licences)', () => {
  expect(read('docs/LICENCES.md')).toBe(describeLicences(shipped));
  const { dependencies, optionalDependencies } = JSON.parse(read('package.json'));
  const bundled = ['react-dom', 'scheduler', '@codemirror/view', 'style-mod', 'd3-shape', 'd3-path'];
  for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...bundled]) {
    expect(read('docs/LICENCES.md')).toContain(`| ${name} |`);
  }
});

test.each([
  ['a licence that is not allowed', { license: 'AGPL-3.0' }],
  ['no licence', {}],
  ['a licence in a file', { license: 'SEE LICENSE IN LICENSE' }],
])('listRefused() reports %s, except in development dependencies', (_, fields) => {
  const lock = (more: object) => ({
    packages: { '': {}, 'node_modules/a/node_modules/@b/c': { version: '1', ...more } },
  });
  expect(listRefused(listShipped(lock(fields)))).toMatchObject([{ name: '@b/c', version: '1' }]);
  expect(listRefused(listShipped(lock({ ...fields, dev: true })))).toEqual([]);
});

test.each<[what: string, report: unknown, found: string[] | undefined]>([
  ['a refusal', { message: '405 Method Not Allowed', statusCode: 405 }, undefined],
  ['silence', undefined, undefined],
  ['nothing', { vulnerabilities: {} }, []],
  ['low and moderate findings', { vulnerabilities: { a: { name: 'a', severity: 'moderate', range: '<1' } } }, []],
  ['a high finding', { vulnerabilities: { a: { name: 'a', severity: 'high', range: '<1' } } }, ['a <1: high']],
  [
    'a critical finding',
    { vulnerabilities: { a: { name: 'a', severity: 'critical', range: '*' } } },
    ['a *: critical'],
  ],
])('findVulnerable() reads a report: %s', (_, report, found) => expect(findVulnerable(report)).toEqual(found));

test('findVulnerable() reports shipped packages only', () => {
  const report = { vulnerabilities: { a: { name: 'a', severity: 'high', range: '<1' } } };
  expect(findVulnerable(report, new Set(['a']))).toEqual(['a <1: high']);
  expect(findVulnerable(report, new Set(['b']))).toEqual([]);
});

test('listShipped() includes development dependencies that the console imports', () => {
  const lock = {
    packages: {
      '': {},
      'node_modules/a': { version: '1', dev: true, license: 'MIT', dependencies: { b: '1' } },
      'node_modules/b': { version: '1', dev: true, license: 'AGPL-3.0' },
      'node_modules/c': { version: '1', dev: true, license: 'MPL-2.0' },
    },
  };
  expect(listRefused(listShipped(lock, ['a']))).toMatchObject([{ name: 'b' }]);
});
