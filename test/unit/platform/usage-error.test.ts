// Options of a command that npm takes for its own, because `--` is missing; and whole numbers.
import { expect, test } from 'vitest';
import { OPTIONS } from '../../../src/imports/arguments.js';
import { refuseOptionsOfNpm, requireWholeNumber, UsageError } from '../../../src/platform/usage-error.js';

test.each([
  ['npm run import ga4 FILE --dry-run', { npm_config_dry_run: 'true' }, '--dry-run'],
  [
    'npm run import ga4 FILE --source-timezone=Asia/Tokyo',
    { npm_config_source_timezone: 'Asia/Tokyo' },
    '--source-timezone',
  ],
  ['npm run import ga4 FILE --project ID', { npm_config_project: 'true' }, '--project'],
])('%s is refused', (_command, taken, option) => {
  const env = { npm_lifecycle_event: 'import', ...taken };
  expect(() => refuseOptionsOfNpm(OPTIONS, env)).toThrow(UsageError);
  expect(() => refuseOptionsOfNpm(OPTIONS, env)).toThrow(
    `write -- before the arguments, as in npm run import -- … ${option}`,
  );
});

test('what npm always sets, and its own configuration, is no option of the command', () => {
  const env = {
    npm_config_yes: '',
    npm_config_dry_run: '',
    npm_config_key: 'pem',
    npm_config_registry: 'https://r.example',
  };
  expect(() => refuseOptionsOfNpm(OPTIONS, env)).not.toThrow();
});

test('a whole number begins with its least one, and ends where numbers are no longer exact', () => {
  expect(requireWholeNumber('--people', '1', 1)).toBe(1);
  for (const text of ['0', '1.5', '', '1e3', '9007199254740993']) {
    expect(() => requireWholeNumber('--people', text, 1)).toThrow(
      `--people is a whole number of at least 1, not "${text}"`,
    );
  }
});
