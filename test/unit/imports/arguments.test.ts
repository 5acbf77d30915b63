// Command line of `npm run import`.
import { expect, test } from 'vitest';
import { parseArguments } from '../../../src/imports/arguments.js';

const NONE = { kind: 'import', url: undefined, key: undefined, site: undefined };

const GOOD: readonly (readonly [args: string, expected: object])[] = [
  ['access-log a.log', { ...NONE, file: 'a.log' }],
  ['access-log -', { ...NONE, file: '-' }],
  ['access-log a.log --site https://example.com/', { ...NONE, file: 'a.log', site: 'https://example.com' }],
  ['access-log a.log --site https://example.com/shop/', { ...NONE, file: 'a.log', site: 'https://example.com/shop' }],
  ['access-log a.log --url http://h:1 --key sk_1', { ...NONE, file: 'a.log', url: 'http://h:1', key: 'sk_1' }],
  ['--help', { kind: 'help' }],
  ['access-log a.log -h', { kind: 'help' }],
];

test.each(GOOD)('parseArguments() accepts %s', (args, expected) => {
  expect(parseArguments(args.split(' '))).toEqual(expected);
});

const BAD: readonly (readonly [args: string, message: string])[] = [
  ['', 'what to import is missing'],
  ['csv a.csv', 'cannot import "csv"'],
  ['access-log', 'the file is missing'],
  ['access-log a b', 'one file at a time'],
  ['access-log a --site example.com', '--site is not a web address'],
  ['access-log a --site https://example.com/?x=1', '--site takes no query'],
  ['access-log a --url ftp://h', '--url is not a web address'],
  ['access-log a --speed 3', '--speed'],
];

test.each(BAD)('parseArguments() refuses "%s"', (args, message) => {
  expect(() => parseArguments(args.split(' ').filter((arg) => arg !== ''))).toThrow(message);
});
