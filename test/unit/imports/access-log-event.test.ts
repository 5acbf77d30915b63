// Mapping of an access-log line to a page_view event: url, ids and absent fields.
import { describe, expect, test } from 'vitest';
import { digestLine, type PageViewEvent, toPageView } from '../../../src/imports/access-log-event.js';
import { tryParseAccessLogLine } from '../../../src/imports/access-log-line.js';

const HEAD = '203.0.113.9 - - [17/May/2015:10:05:03 +0000]';
const LINE = `${HEAD} "GET /a?b=c HTTP/1.1" 200 20 "http://example.com/" "Mozilla/5.0 (X11)"`;

function toEvent(text: string, options: { site?: string; repetition?: number } = {}): PageViewEvent {
  const line = tryParseAccessLogLine(text);
  if (line === undefined) throw new Error(`does not parse: ${text}`);
  const identity = { digest: digestLine(text), repetition: options.repetition ?? 0 };
  return toPageView(line, identity, { site: options.site, library: 'service-import/1.0.0' });
}

test('a log line becomes a page view with its time, IP address and user agent', () => {
  expect(toEvent(LINE, { site: 'https://example.com' })).toEqual({
    event_type: 'page_view',
    time: '2015-05-17T10:05:03.000Z',
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
    library: 'service-import/1.0.0',
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
  const event = toEvent(`${HEAD} "GET ${target} HTTP/1.1" 200 1`, site === undefined ? {} : { site });
  expect(event.event_properties.url).toBe(url);
});

test('an invalid request line is kept as the property request, without url and method', () => {
  const event = toEvent(`${HEAD} "\\x16\\x03\\x01" 400 - "-" "-"`);
  expect(event.event_properties).toEqual({ status: 400, request: '\\x16\\x03\\x01' });
});

test('absent fields are sent as empty texts, so that those of the importing client are not used', () => {
  expect(toEvent(`host.example - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-"`)).toMatchObject({
    ip: '',
    user_agent: '',
  });
});

test('a url above the limit is cut between two characters', () => {
  const url = String(toEvent(`${HEAD} "GET /${'я'.repeat(5000)} HTTP/1.1" 200 1`).event_properties.url);
  expect(Buffer.byteLength(url)).toBe(8191);
  expect(url.endsWith('я')).toBe(true);
});

describe('ids of imported events', () => {
  const id = (text: string, repetition = 0) => toEvent(text, { repetition }).insert_id;
  const device = (text: string) => toEvent(text).device_id;

  test('insert_id depends on the line and its repetition', () => {
    expect(id(LINE)).toBe(id(LINE));
    expect(new Set([id(LINE), id(LINE, 1), id(LINE, 2), id(`${LINE} `)]).size).toBe(4);
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
