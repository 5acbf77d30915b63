// Mapping of an access-log line to a page_view event: url, ids and absent fields.
import { describe, expect, test } from 'vitest';
import { tryParseAccessLogLine } from '../../../../src/imports/sources/access-log/line.js';
import { createMapper } from '../../../../src/imports/sources/access-log/map.js';
import { accessLog } from '../../../../src/imports/sources/access-log/read.js';
import { eventsOf, inputOf, mapAll } from '../../../support/imports.js';

const HEAD = '203.0.113.9 - - [17/May/2015:10:05:03 +0000]';
const LINE = `${HEAD} "GET /a?b=c HTTP/1.1" 200 20 "http://example.com/" "Mozilla/5.0 (X11)"`;

function toEvent(text: string, site?: string) {
  const line = tryParseAccessLogLine(text);
  if (line === undefined) throw new Error(`does not parse: ${text}`);
  const [event] = eventsOf(createMapper({ site })({ text, line }, inputOf(text)));
  if (event === undefined) throw new Error(`no event: ${text}`);
  return event;
}

test('a log line becomes a page view with its time, IP address and user agent', () => {
  expect(toEvent(LINE, 'https://example.com')).toEqual({
    event_type: 'page_view',
    timeMs: Date.UTC(2015, 4, 17, 10, 5, 3),
    insert_id: expect.stringMatching(/^[\w-]{22}$/),
    device_id: expect.stringMatching(/^[\w-]{22}$/),
    event_properties: {
      url: 'https://example.com/a?b=c',
      referrer: 'http://example.com/',
      status: 200,
      method: 'GET',
      bytes: 20,
    },
    ip: '203.0.113.9',
    user_agent: 'Mozilla/5.0 (X11)',
    origin: 'server',
  });
});

const URLS: readonly (readonly [target: string, site: string | undefined, url: string | undefined])[] = [
  ['/a', undefined, '/a'],
  ['/a', 'https://example.com', 'https://example.com/a'],
  ['//admin', 'https://example.com', 'https://example.com//admin'],
  ['//admin', undefined, '//admin'],
  ['http://other.org/a', 'https://example.com', 'http://other.org/a'],
  ['*', 'https://example.com', undefined],
  ['host:443', undefined, undefined],
];

test.each(URLS)('the url of target %s with site %s is %s', (target, site, url) => {
  const event = toEvent(`${HEAD} "GET ${target} HTTP/1.1" 200 1`, site);
  expect(event.event_properties.url).toBe(url);
});

test.each([
  [undefined, 'http://example.com/a'],
  ['https://other.org', 'https://other.org/a'],
])('the url of a line with its host is, with site %s, %s', (site, url) => {
  expect(toEvent(`example.com:80 ${HEAD} "GET /a HTTP/1.1" 200 1`, site).event_properties.url).toBe(url);
});

test('an invalid request line is kept as the property request, without url and method', () => {
  const event = toEvent(`${HEAD} "\\x16\\x03\\x01" 400 - "-" "-"`);
  expect(event.event_properties).toEqual({ status: 400, request: '\\x16\\x03\\x01' });
});

test('a host name is no address, and "-" is no user agent', () => {
  const event = toEvent(`host.example - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-"`);
  expect([event.ip, event.user_agent]).toEqual([undefined, undefined]);
});

test('a url above the limit is cut between two characters', () => {
  const url = String(toEvent(`${HEAD} "GET /${'я'.repeat(5000)} HTTP/1.1" 200 1`).event_properties.url);
  expect(Buffer.byteLength(url)).toBe(8191);
  expect(url.endsWith('я')).toBe(true);
});

describe('ids of imported events', () => {
  const id = (text: string) => toEvent(text).insert_id;
  const device = (text: string) => toEvent(text).device_id;

  test('insert_id depends on the line and its number among equal lines, and not on the site', async () => {
    const log = inputOf(`${LINE}\n${LINE}\n${LINE} \n`);
    const ids = async (site?: string) =>
      eventsOf(await mapAll(accessLog, log, { site })).map((event) => event.insert_id);
    const found = await ids();
    expect(new Set(found).size).toBe(3);
    expect(found[1]).toBe(`${found[0]}.1`);
    expect(id(LINE)).toBe(found[0]);
    expect(await ids('https://example.com')).toEqual(found);
  });

  test('device_id depends on the IP address and the user agent', () => {
    expect(device(LINE)).toBe(device(LINE.replace('/a?b=c', '/other')));
    expect(device(LINE)).not.toBe(device(LINE.replace('203.0.113.9', '203.0.113.8')));
    expect(device(LINE)).not.toBe(device(LINE.replace('X11', 'X12')));
  });

  test('device_id is absent without an IP address', () => {
    expect(device(LINE.replace('203.0.113.9', '-'))).toBeUndefined();
  });
});
