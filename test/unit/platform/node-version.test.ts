// Versions of Node.js: those that were tried are silent, others get a sentence.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeNodeVersion, findSupportEnd, TRIED } from '../../../src/platform/node-version.js';
import { packageRoot } from '../../../src/platform/paths.js';

test.each(['20.19.0', '20.20.2', '22.12.0', '22.23.3', '24.21.0', '26.10.0', '26.12.1'])('%s was tried', (version) => {
  expect(describeNodeVersion(version)).toBeUndefined();
});

test.each([
  ['18.20.0', true],
  ['20.18.9', true],
  ['21.0.0', false],
  ['22.11.0', false],
  ['26.9.0', false],
  ['27.0.0', false],
])('%s was not tried', (version, isOld) => {
  expect(describeNodeVersion(version)).toEqual({
    isOld,
    sentence: `Node.js ${version} was not tried with this service; 20.19, 22.12, 24.0, 26.10 and later ones of these were, and 22 is recommended`,
  });
});

test.each([
  ['20.20.2', '2026-04-30', undefined],
  ['20.20.2', '2026-05-01', '2026-04-30'],
  ['22.23.3', '2026-11-24', undefined],
  ['24.21.0', '2028-05-01', '2028-04-30'],
  ['21.0.0', '2028-05-01', undefined],
])('%s on %s: security updates ended %s', (version, day, end) => {
  expect(findSupportEnd(version, new Date(`${day}T12:00:00Z`))).toBe(end);
});

test('package.json names the versions that were tried', () => {
  const { engines } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  expect(engines.node).toBe(TRIED.map(({ major, minor }) => `^${major}.${minor}.0`).join(' || '));
});
