// Command line of `npm run import`.
import { expect, test } from 'vitest';
import { parseArguments } from '../../../src/imports/arguments.js';

const NONE = {
  ...{ kind: 'import', source: expect.objectContaining({ name: 'access-log' }) },
  ...{ url: undefined, key: undefined, site: undefined, project: undefined, timeZone: undefined },
  ...{ isDryRun: false, overwritesProfiles: false, identifiesPerSecond: 180 },
};
const PROJECT = '019aa000-0000-7000-8000-000000000000';

const GOOD: readonly (readonly [args: string, expected: object])[] = [
  ['access-log a.log', { ...NONE, paths: ['a.log'] }],
  ['access-log -', { ...NONE, paths: ['-'] }],
  ['access-log a b c*.gz', { ...NONE, paths: ['a', 'b', 'c*.gz'] }],
  ['access-log a.log --site https://example.com/', { ...NONE, paths: ['a.log'], site: 'https://example.com' }],
  ['access-log a --site https://example.com/shop/', { ...NONE, paths: ['a'], site: 'https://example.com/shop' }],
  ['access-log a.log --url http://h:1 --key sk_1', { ...NONE, paths: ['a.log'], url: 'http://h:1', key: 'sk_1' }],
  [
    'mixpanel a --dry-run --source-timezone Europe/Berlin',
    { source: expect.objectContaining({ name: 'mixpanel' }), isDryRun: true, timeZone: 'Europe/Berlin' },
  ],
  [
    'access-log a --overwrite-profiles --identifies-per-second 50',
    { overwritesProfiles: true, identifiesPerSecond: 50 },
  ],
  [`access-log a --project ${PROJECT}`, { project: PROJECT }],
  ['rudderstack a', { source: expect.objectContaining({ name: 'segment' }) }],
  ['--help', { kind: 'help' }],
  ['access-log a.log -h', { kind: 'help' }],
];

test.each(GOOD)('parseArguments() accepts %s', (args, expected) => {
  expect(parseArguments(args.split(' '))).toMatchObject(expected);
});

const BAD: readonly (readonly [args: string, message: string])[] = [
  ['', 'what to import is missing'],
  ['csv a.csv', 'cannot import "csv"'],
  ['constructor a.csv', 'cannot import "constructor"'],
  ['plausible export.zip', 'an export of Plausible has daily sums, not events'],
  ['access-log', 'the file is missing'],
  ['access-log a --source-timezone Mars', '--source-timezone is not a time zone'],
  ['access-log a --project shop', '--project is not the id of a project'],
  [`access-log a --project ${PROJECT} --key sk_1`, '--project is for the service that npm start runs'],
  ['access-log a --identifies-per-second 0', '--identifies-per-second is not a whole number'],
  ['access-log a --site example.com', '--site is not a web address'],
  ['access-log a --site https://example.com/?x=1', '--site takes no query'],
  ['access-log a --url ftp://h', '--url is not a web address'],
  ['access-log a --speed 3', '--speed'],
];

test.each(BAD)('parseArguments() refuses "%s"', (args, message) => {
  expect(() => parseArguments(args.split(' ').filter((arg) => arg !== ''))).toThrow(message);
});
