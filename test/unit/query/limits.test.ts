// Limits of query forms: at a limit the query compiles, and beyond it the error names the thing,
// its number and the limit.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';
import { FORM_LIMITS, type FormLimitName } from '../../../src/query/limits.js';
import { problemsOf } from './compiling.js';

/** A query with `count` of the limited elements. */
const FORM_OF: Readonly<Record<Exclude<FormLimitName, 'patternStates'>, (count: number) => string>> = {
  nesting: (count) => `* | where ${'('.repeat(count)}_path = 1${')'.repeat(count)}`,
  stages: (count) =>
    `funnel a -> b${words(count)
      .map((_, index) => (index % 2 === 0 ? ' | where _path = 1' : ' | exclude x'))
      .join('')}`,
  groups: (count) => `* | count by ${keys(count).join(', ')}`,
  conditions: (count) => `* | where ${Array(count).fill('_path contains "a"').join(' or ')}`,
  conditionFields: (count) => `* | where ${keys(count).join(' = 1 or not ')} = 1`,
  times: (count) =>
    `* | where time in (${words(count)
      .map((_, index) => `20${10 + (index % 90)}-01-01`)
      .join(', ')})`,
  patterns: (count) => `* | where ${Array(count).fill('_path ~ "a"').join(' and ')}`,
  listFields: (count) => `* | list ${keys(count).join(', ')}`,
  sortKeys: (count) => `* | list | sort ${keys(count).join(', ')}`,
  steps: (count) => `funnel ${words(count).join(' -> ')}`,
  events: (count) => `(${words(count).join(', ')}) | count`,
  excluded: (count) => `funnel a -> b exclude ${words(count).join(', ')}`,
  calls: (count) =>
    `formula ${words(count)
      .map((word) => `count(${word})`)
      .join(' + ')}`,
  callKeys: (count) =>
    `* | where ${keys(count)
      .map((key) => `count(a per ${key}) > 1`)
      .join(' and ')}`,
};

function words(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `w${index}`);
}

function keys(count: number): string[] {
  return words(count).map((word) => `event_properties.${word}`);
}

describe.each(Object.entries(FORM_OF))('limit of %s', (name, formOf) => {
  const { max, hint } = FORM_LIMITS[name as FormLimitName];

  test('compiles at the limit', () => {
    expect(problemsOf(formOf(max))).toEqual([]);
  });

  test('beyond it is one problem with the number and the limit', () => {
    const [problem, ...others] = problemsOf(formOf(max + 1));
    expect(others).toEqual([]);
    expect(problem?.message).toContain(`${max}`);
    if (name !== 'nesting' && name !== 'times') expect(problem?.message).toContain(`${max + 1}`);
    expect(problem?.hint).toBe(hint);
    expect(problem?.column).toBeGreaterThan(10);
  });
});

test('groups of several stages are counted together', () => {
  const half = FORM_LIMITS.groups.max / 2;
  const text = `* | count by ${keys(half).join(', ')} | by ${words(half + 1)
    .map((word) => `user.${word}`)
    .join(', ')}`;
  expect(problemsOf(text)).toMatchObject([{ message: `by has ${2 * half + 1} fields; the limit is ${2 * half}` }]);
});

test('docs/query-language.md contains the limits', () => {
  const documented = readFileSync(join(packageRoot, 'docs', 'query-language.md'), 'utf8');
  for (const { max, what } of Object.values(FORM_LIMITS)) {
    expect(documented).toContain(`| ${what} | ${max.toLocaleString('en-US')} |`);
  }
});
