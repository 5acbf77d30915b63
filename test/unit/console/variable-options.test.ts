// Options of a choice as lines of a form.
import { expect, test } from 'vitest';
import { formatOptions, parseOptions } from '../../../console/src/dashboards/variable-options.js';

test('lines are the options, which keep what a line does not show', () => {
  const options = [{ value: 'pro', label: 'Professional', fragment: 'where a = 1' }, { value: 'a=b' }];
  expect(formatOptions(options)).toBe('pro = Professional\na=b');
  expect(parseOptions(formatOptions(options), options)).toEqual(options);
  expect(parseOptions('  a=b  \n\npro\nnew = N', options)).toEqual([
    { value: 'a=b' },
    { value: 'pro', fragment: 'where a = 1' },
    { value: 'new', label: 'N' },
  ]);
});
