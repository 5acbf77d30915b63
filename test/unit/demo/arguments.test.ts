// Command line of `npm run demo`.
import { expect, test } from 'vitest';
import { HELP, parseDemoArguments } from '../../../src/demo/arguments.js';
import { PEOPLE_DEFAULT } from '../../../src/demo/generate.js';

test.each([
  [[], 'create'],
  [['--delete'], 'delete'],
  [['--refresh'], 'refresh'],
  [['-h'], 'help'],
])('parseDemoArguments(%j) is the command %s', (args, kind) => {
  expect(parseDemoArguments(args).kind).toBe(kind);
});

test('parseDemoArguments() reads all options', () => {
  const args = ['--people', '200', '--seed', 'a', '--url', 'http://localhost:1', '--organization', 'o'];
  expect(parseDemoArguments(args)).toEqual({
    kind: 'create',
    people: 200,
    seed: 'a',
    url: 'http://localhost:1',
    organization: 'o',
  });
});

test.each([
  [['--people', '0'], 'from 1 to 200000, not "0"'],
  [['--people', '1e3'], 'not "1e3"'],
  [['--people', '200001'], 'not "200001"'],
  [['--delete', '--refresh'], 'exclude each other'],
  [['--drop'], '--drop'],
  [['now'], 'now'],
])('parseDemoArguments() refuses %j', (args, message) => {
  expect(() => parseDemoArguments(args)).toThrow(message);
});

test('HELP contains the default number of people', () => {
  expect(HELP).toContain(`default ${PEOPLE_DEFAULT},`);
});
