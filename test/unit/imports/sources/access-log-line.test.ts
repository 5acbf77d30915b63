// Parser of access-log lines: formats, invalid lines, and linear time.
import { expect, test } from 'vitest';
import { type AccessLogLine, tryParseAccessLogLine } from '../../../../src/imports/sources/access-log/line.js';
import { growthOf } from '../../../support/growth.js';

const HEAD = '203.0.113.9 - - [17/May/2015:10:05:03 +0000]';
const TIME = Date.UTC(2015, 4, 17, 10, 5, 3);

const GOOD: readonly (readonly [rule: string, line: string, expected: Partial<AccessLogLine>])[] = [
  [
    'the combined format',
    `${HEAD} "GET /a?b=c HTTP/1.1" 200 203023 "http://example.com/" "Mozilla/5.0 (X11)"`,
    {
      address: '203.0.113.9',
      timeMs: TIME,
      request: { kind: 'http', method: 'GET', target: '/a?b=c' },
      status: 200,
      bytes: 203023,
      referrer: 'http://example.com/',
      userAgent: 'Mozilla/5.0 (X11)',
      isComplete: true,
    },
  ],
  ['the common format', `${HEAD} "GET / HTTP/1.1" 200 5`, { bytes: 5, referrer: undefined, userAgent: undefined }],
  ['dashes are absent', `- - - [17/May/2015:10:05:03 +0000] "-" 408 - "-" "-"`, absent()],
  ['IPv6', `2001:db8::1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1`, { address: '2001:db8::1' }],
  [
    'the host in front, as Apache logs several hosts',
    `example.com:443 ${HEAD} "GET /a HTTP/1.1" 200 1 "-" "curl"`,
    { site: 'https://example.com', address: '203.0.113.9', request: http('/a'), userAgent: 'curl' },
  ],
  [
    'a host with a port of its own, and IPv6',
    `www.example.com:8080 ::1 - bob [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1`,
    { site: 'http://www.example.com:8080', address: '::1' },
  ],
  [
    'an IPv6 address is no host',
    `2001:db8::1 cafe bob [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1`,
    { site: undefined, address: '2001:db8::1' },
  ],
  ['a user name with spaces', `1.2.3.4 - A B [17/May/2015:10:05:03 +0000] "GET / HTTP/2.0" 200 1`, { timeMs: TIME }],
  ['an offset east', `a - - [17/May/2015:12:05:03 +0200] "GET / HTTP/1.1" 200 1`, { timeMs: TIME }],
  ['an offset west', `a - - [17/May/2015:00:35:03 -0930] "GET / HTTP/1.1" 200 1`, { timeMs: TIME }],
  [
    'escaped quotes',
    `${HEAD} "GET /x HTTP/1.1" 200 1 "a\\"b" "say \\"hi\\\\"`,
    { referrer: 'a"b', userAgent: 'say "hi\\' },
  ],
  ['bytes of UTF-8', `${HEAD} "GET /\\xd0\\xbf HTTP/1.1" 200 1`, { request: http('/п') }],
  ['no protocol', `${HEAD} "GET /old" 200 1`, { request: http('/old') }],
  ['spaces in the target', `${HEAD} "GET /a b c HTTP/1.1" 200 1`, { request: http('/a b c') }],
  [
    'TLS bytes',
    `${HEAD} "\\x16\\x03\\x01" 400 226 "-" "-"`,
    { request: { kind: 'malformed', text: '\\x16\\x03\\x01' } },
  ],
  ['further fields', `${HEAD} "GET / HTTP/1.1" 200 1 "-" "curl" 0.005 "x"`, { userAgent: 'curl', isComplete: true }],
  ['a cut user agent', `${HEAD} "GET / HTTP/1.1" 200 1 "-" "Mozilla/5`, { userAgent: 'Mozilla/5', isComplete: false }],
  ['a cut escape', `${HEAD} "GET / HTTP/1.1" 200 1 "-" "Moz\\`, { userAgent: 'Moz', isComplete: false }],
  ['a leap second', `a - - [31/Dec/2016:23:59:60 +0000] "GET / HTTP/1.1" 200 1`, { timeMs: Date.UTC(2017, 0, 1) }],
];

test.each(GOOD)('tryParseAccessLogLine() parses a line: %s', (_rule, line, expected) => {
  expect(tryParseAccessLogLine(line)).toMatchObject(expected);
});

const BAD: readonly (readonly [rule: string, line: string])[] = [
  ['nothing', ''],
  ['prose', 'not a log line'],
  ['no time', '1.2.3.4 - - "GET / HTTP/1.1" 200 1'],
  ['a day that does not exist', 'a - - [31/Apr/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1'],
  ['a month that does not exist', 'a - - [01/Foo/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1'],
  ['an hour that does not exist', 'a - - [01/May/2015:24:05:03 +0000] "GET / HTTP/1.1" 200 1'],
  ['a minute that does not exist', 'a - - [01/May/2015:10:60:03 +0000] "GET / HTTP/1.1" 200 1'],
  ['a request that is cut', `${HEAD} "GET /`],
  ['no status', `${HEAD} "GET / HTTP/1.1"`],
  ['a status that is not a number', `${HEAD} "GET / HTTP/1.1" OK 1`],
];

test.each(BAD)('tryParseAccessLogLine() rejects %s', (_rule, line) => {
  expect(tryParseAccessLogLine(line)).toBeUndefined();
});

// Linear growth is 1, quadratic growth 32.
test.each<[string, (size: number) => string]>([
  ['brackets', (size) => `a - ${'['.repeat(size)}`],
  ['escaped quotes', (size) => `${HEAD} "${'\\"'.repeat(size)}`],
  ['spaces', (size) => `${HEAD} "GET ${' '.repeat(size)}`],
])('the time to parse a line of %s grows linearly with its length', (_, lineOf) => {
  const growth = growthOf((size) => tryParseAccessLogLine(lineOf(size)), { small: 2_000, large: 64_000 });
  expect(growth).toBeLessThan(12);
});

function http(target: string): AccessLogLine['request'] {
  return { kind: 'http', method: 'GET', target };
}

function absent(): Partial<AccessLogLine> {
  return { address: undefined, request: undefined, bytes: undefined, referrer: undefined, userAgent: undefined };
}
