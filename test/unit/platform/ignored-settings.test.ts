// Settings that nothing reads: what is said about .env, and about the environment.
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { SETTING_NAMES } from '../../../src/platform/config.js';
import { findIgnoredSettings, findSkippedLines } from '../../../src/platform/ignored-settings.js';

const find = (file: string | undefined, environment: Record<string, string> = {}): string[] =>
  findIgnoredSettings({ known: SETTING_NAMES, environment, file });

test.each([
  ['QUERY_TIMOUT_MS=5000', '.env: QUERY_TIMOUT_MS is no setting and is ignored; nearest is QUERY_TIMEOUT_MS'],
  ['query_timeout_ms=5000', '.env: query_timeout_ms is no setting and is ignored; nearest is QUERY_TIMEOUT_MS'],
  ['POTR=81', '.env: POTR is no setting and is ignored; nearest is PORT'],
  ['INGEST_LANES=2', '.env: INGEST_LANES is no setting and is ignored; it is now INGEST_PARTITIONS'],
  ['MAXIMUM_SPEED=2', '.env: MAXIMUM_SPEED is no setting and is ignored'],
  ['MAIL_FROM=me#you', '.env: the value of MAIL_FROM ends before #: quote it if the rest belongs to it'],
  ['export PORT=81#82', '.env: the value of PORT ends before #: quote it if the rest belongs to it'],
])('of %j in .env', (file, sentence) => {
  expect(find(`PORT=80\n${file}\n`)).toEqual([sentence]);
});

// Lines that are no settings, with the name that Node.js 20 ignores as well; later versions of 22
// and 24 skip the line alone.
test.each([
  ['QUERY_TIMEOUT_MS: 5000\n# more\nLOG_LEVEL=warn', 'QUERY_TIMEOUT_MS has no = behind it', 'LOG_LEVEL'],
  ['QUERY_TIMEOUT_MS\n\nLOG_LEVEL=warn', 'QUERY_TIMEOUT_MS has no = behind it', 'LOG_LEVEL'],
  ['- A\nLOG_LEVEL=warn', 'a line has no =', 'LOG_LEVEL'],
  ['QUERY_TIMEOUT_MS: a secret', 'QUERY_TIMEOUT_MS has no = behind it', undefined],
  ['export LOG_LEVEL\n# the last line', 'LOG_LEVEL has no = behind it', undefined],
  ['LOG_LEVEL warn\n# MAIL_FROM=me', 'LOG_LEVEL has no = behind it', undefined],
  [' =5\nLOG_LEVEL=warn', 'a line has no name before its =', undefined],
])('of the line without a setting in %j', (file, subject, next) => {
  expect(findSkippedLines(`PORT=80\n${file}\n`)).toEqual([`${subject} and is ignored`]);
  const isJoined = next !== undefined && parseEnv(file)[next] === undefined;
  const also = isJoined ? `, so that ${next} below it is ignored as well` : ' and is ignored';
  expect(find(`PORT=80\n${file}\n`)).toEqual([`.env: ${subject}${also}`]);
});

test('of a line that begins with =, behind which Node.js 20 reads nothing', () => {
  const file = 'PORT=80\n=5\nLOG_LEVEL=warn\n';
  expect(findSkippedLines(file)).toEqual(['a line has no name before its = and is ignored']);
  const isRead = parseEnv(file).LOG_LEVEL !== undefined;
  const sentence = isRead
    ? 'a line has no name before its = and is ignored'
    : 'everything behind the line that begins with = is ignored';
  expect(find(file)).toEqual([`.env: ${sentence}`]);
});

test.each(['A="b\nc d\n"', "A='b\n= c\n'\nB=c", '# a comment', 'A=b\r\n\r\nB=c'])('skips no line of %j', (file) => {
  expect(findSkippedLines(file)).toEqual([]);
});

test.each([
  'NODE_OPTIONS=--trace-gc',
  'POSTGRES_PASSWORD=x',
  'TZ=UTC',
  'https_proxy=http://proxy',
  'MAIL_FROM="me#you"',
  'MAIL_FROM=me # you',
  'MAIL_FROM=#you',
  '# MAIL_FORM=me#you',
  'MAIL_FROM="me\nPORT=80#81\n"',
])('nothing of %j in .env', (file) => {
  expect(find(file)).toEqual([]);
});

test('of the environment, only names that are nearly a setting which is not set', () => {
  expect(find(undefined, { QUERY_TIMOUT_MS: '5', INGEST_LANES: '2' })).toEqual([
    'QUERY_TIMOUT_MS is no setting and is ignored; nearest is QUERY_TIMEOUT_MS',
    'INGEST_LANES is no setting and is ignored; it is now INGEST_PARTITIONS',
  ]);
  const ofOthers = { HOME: '/root', HOSTNAME: 'a', PORTS: '1', MAXIMUM_SPEED: '2', REDIS_PORT: '6379', SMTP_HOST: 'a' };
  expect(find(undefined, ofOthers)).toEqual([]);
  expect(find(undefined, { DATABASE_URI: 'postgres://a', DATABASE_URL: 'postgres://a' })).toEqual([]);
});

test('what npm start has read from .env is said once', () => {
  expect(find('QUERY_TIMOUT_MS=5', { QUERY_TIMOUT_MS: '5' })).toHaveLength(1);
});
