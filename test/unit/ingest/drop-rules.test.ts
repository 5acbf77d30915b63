// Drop rules: what a rule of the definitions drops of a request, and which texts are refused.
import { describe, expect, test } from 'vitest';
import { parseDefinitions } from '../../../src/definitions/parse-definitions.js';
import { acceptRequest, type TrackCredential } from '../../../src/ingest/accept.js';
import { parseTrackBody } from '../../../src/ingest/body.js';
import { compiledRules, isDecidedInLoop } from '../../../src/ingest/drop/compiled-rules.js';
import { createNetworkTest, tryParseNetwork } from '../../../src/ingest/drop/networks.js';
import { decodeEnvelopes, encodeEnvelopes } from '../../../src/ingest/envelope.js';
import { replayEvents } from '../../../src/ingest/insert/replay-events.js';
import { PublicError } from '../../../src/platform/errors.js';
import { newUuidV7, toProjectId } from '../../../src/platform/ids.js';
import { EMPTY_PROJECT } from '../../support/definitions.js';

const NOW = Date.UTC(2026, 10, 20, 9, 30);
const LIMITS = { propertiesMax: 10, userPropertiesMax: 10, keyLengthMax: 256, valueBytesMax: 5000 };
const CONTEXT = { ...EMPTY_PROJECT, nowMs: NOW, timezone: 'UTC', privateAddresses: [] };
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const CHROME = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/120.0.0.0 Safari/537.36';

const parseRules = (yaml: string) => parseDefinitions(`version: 1\n${yaml}`, CONTEXT);
const dropWhen = (...conditions: string[]): string =>
  `drop:\n${conditions.map((when) => `  - when: ${JSON.stringify(when)}\n`).join('')}`;

/** Rules that are compiled for a project of their own. */
function compile(yaml: string) {
  const { rules } = parseRules(yaml);
  if (rules === undefined) throw new Error('the document has no rules');
  return compiledRules(newUuidV7(), { version: 1, ...rules });
}

interface Sent {
  readonly kind?: TrackCredential['kind'];
  readonly ipPolicy?: TrackCredential['ipPolicy'];
  readonly address?: string;
  readonly userAgent?: string;
  readonly origin?: string;
}

/** The types of the events that are let in, and how many are dropped. */
function send(yaml: string, events: readonly unknown[], sent: Sent = {}) {
  const { kind = 'public', ipPolicy = 'anonymize', address = '203.0.113.77', userAgent = CHROME, origin } = sent;
  const bytes = Buffer.from(JSON.stringify({ events, origin }));
  const { envelope, dropped, rejected } = acceptRequest(
    {
      ...{ bytes, body: parseTrackBody(bytes), address, proxyHeaders: {}, id: 'request', now: NOW },
      headers: { 'user-agent': userAgent },
      credential: { kind, projectId: toProjectId(newUuidV7()), ipPolicy },
    },
    { limits: LIMITS, findGeography: () => ({ country: 'DE', latitude: 52.5 }), rules: compile(yaml) },
  );
  const types: string[] = [];
  for (const decoded of decodeEnvelopes(encodeEnvelopes([envelope]))) {
    replayEvents(decoded, ({ eventType }) => types.push(eventType));
  }
  expect(envelope.header.n).toBe(types.length);
  return { types, dropped: [...dropped.values()].reduce((sum, count) => sum + count, 0), rejected: rejected.length };
}

describe('a rule drops', () => {
  const event = (event_type: string, more: object = {}) => ({ event_type, ...more });

  test('events of a type, and keeps the ids and places of the others', () => {
    const events = [event('a'), event('debug'), {}, event('b', { insert_id: 'b1' }), event('debug')];
    expect(send('drop: [{ event: debug }]', events)).toEqual({ types: ['a', 'b'], dropped: 2, rejected: 1 });
  });

  test('by properties, whose types count as in queries', () => {
    const yaml = dropWhen('event_properties.internal = true');
    const values = [true, 'true', 1, false, null, 'yes', 0];
    const events = values.map((internal, index) => event(`e${index}`, { event_properties: { internal } }));
    expect(send(yaml, [...events, event('none')]).types).toEqual(['e3', 'e4', 'e5', 'e6', 'none']);
  });

  test.each<[string, string, boolean]>([
    ['ip in "203.0.113.0/24"', '203.0.113.77', true],
    ['ip not in "203.0.113.0/24"', '203.0.113.77', false],
    ['ip in ("10.0.0.0/8", "203.0.113.77")', '203.0.113.77', true],
    ['ip = "203.0.113.76/30"', '203.0.113.80', false],
    ['ip in ["2001:db8::/33"]', '2001:db8:7fff::1', true],
    ['ip in ["2001:db8::/33"]', '2001:db8:8000::1', false],
    ['ip in "203.0.113.0/24"', '::ffff:203.0.113.9', true],
    ['ip exists', 'unknown', false],
  ])('by the whole address, whatever is stored of it: %s of %s', (when, address, isDropped) => {
    expect(send(dropWhen(when), [event('a')], { address, ipPolicy: 'drop' }).dropped).toBe(isDropped ? 1 : 0);
  });

  test('by what an import says of the client, and only with a secret key', () => {
    const yaml = dropWhen('ip in "198.51.100.0/24" or _ua ~ "Acme.*Probe"');
    const events = [
      event('a', { ip: '198.51.100.9' }),
      event('b', { user_agent: 'Acme 2 Probe' }),
      event('c', { ip: null, time: '2019-01-01' }),
    ];
    expect(send(yaml, events, { kind: 'secret', address: '198.51.100.1' }).types).toEqual(['c']);
    expect(send(yaml, events, { kind: 'public' }).types).toEqual(['a', 'b', 'c']);
    expect(send(yaml, events, { kind: 'public', address: '198.51.100.1' }).types).toEqual([]);
  });

  test('by the parts of a client that an import names', () => {
    const konqueror = event('a', { agent: { browser: 'Konqueror', os: 'Linux' } });
    const bot = event('b', { agent: { device_type: 'bot' } });
    expect(send(dropWhen('_browser = "Konqueror"'), [konqueror, bot], { kind: 'secret' }).types).toEqual(['b']);
    expect(send('bots: drop', [konqueror, bot], { kind: 'secret' }).types).toEqual(['a']);
    expect(send(dropWhen('_browser = "Konqueror"'), [konqueror], { kind: 'public' }).types).toEqual(['a']);
  });

  test('bots when the project wants it, not the events of its own servers', () => {
    const yaml = 'bots: drop';
    expect(send(yaml, [event('a')], { userAgent: GOOGLEBOT }).dropped).toBe(1);
    expect(send(yaml, [event('a')]).dropped).toBe(0);
    expect(send(yaml, [event('a')], { userAgent: 'python-requests/2.31' }).dropped).toBe(1);
    expect(send(yaml, [event('a')], { userAgent: 'python-requests/2.31', kind: 'secret' }).dropped).toBe(0);
    expect(send(yaml, [event('a')], { userAgent: 'python-requests/2.31', kind: 'token' }).dropped).toBe(0);
    expect(send(yaml, [event('a')], { userAgent: 'node', origin: 'server' }).dropped).toBe(0);
    const ofBot = event('a', { user_agent: GOOGLEBOT });
    expect(send(yaml, [ofBot, event('b')], { userAgent: 'node', kind: 'secret' }).types).toEqual(['b']);
    expect(parseRules('bots: keep').rules).toBeUndefined();
  });

  test('a dot of an expression matches line breaks, and only the first 2,048 characters are matched', () => {
    const ofText = (text: string) =>
      send(dropWhen('event_properties.t ~ "a.z"'), [event('a', { event_properties: { t: text } })]);
    expect(ofText('a\nz').dropped).toBe(1);
    expect(ofText(`${'-'.repeat(2045)}a-z`).dropped).toBe(1);
    expect(ofText(`${'-'.repeat(2046)}a-z`).dropped).toBe(0);
  });
});

/** `line path: message; hint` of each problem. */
function problemsOf(yaml: string): string[] {
  try {
    parseRules(yaml);
    return [];
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    const details = error.details as { line: number; column: number; path: string; message: string; hint: string }[];
    return details.map(({ line, column, path, message, hint }) => `${line}:${column} ${path}: ${message}; ${hint}`);
  }
}

describe('refused with its place', () => {
  test.each<[string, string]>([
    [dropWhen('user.plan = "free"'), '3:12 drop[0].when: user.plan is not known when an event arrives'],
    [dropWhen('a = 1', 'cohort.power = true'), '4:12 drop[1].when: cohort.power is not known when an event arrives'],
    [dropWhen('session.duration > 3'), 'session.duration is not known when an event arrives'],
    [dropWhen('distinct_id = "x"'), 'distinct_id is not known when an event arrives; write user_id or device_id'],
    [dropWhen('count(order last 3d) > 2'), 'count(…) is not known when an event arrives'],
    [dropWhen('_path = "/" and _contry = "DE"'), '3:30 drop[0].when: unknown field "_contry"; nearest is "_country"'],
    [dropWhen('_path = "/" | count'), 'a rule has no stages'],
    [dropWhen('_path ='), '3:'],
    [dropWhen('_ua ~ "(a"'), 'the regular expression has a ( without its )'],
    [dropWhen('ip ~ "^203"'), '~ does not fit ip; ip takes =, !=, in and exists'],
    [dropWhen('_path = "/" or ip in "203.0.113.0/33"'), '3:35 drop[0].when: "203.0.113.0/33" is neither an address'],
    ['drop: [{ about: x }]', '2:8 drop[0]: a rule has either when or event'],
    ['drop: [{ event: a, when: b = 1 }]', 'a rule has either when or event'],
    ['drop: [{ event: a }, { event: a }]', '2:22 drop[1]: the rule is there twice; remove one'],
    ['drop: [{ evnt: a }]', 'unknown key "evnt"; nearest is "event"'],
    [`drop: [${'{ event: a },'.repeat(51)}]`, 'it has at most 50 items'],
    [dropWhen('_ua ~ "[a-z]{300}"'), 'the rules have 4500 states in their regular expressions; the limit is 500'],
    [
      dropWhen(
        ...Array.from({ length: 11 }, (_, i) =>
          Array.from({ length: 10 }, (_, j) => `p${i}_${j} = 1`)
            .join(' or ')
            .replaceAll(/p(\d+_\d+)/g, 'event_properties.p$1'),
        ),
      ),
      'the rules have 110 conditions; the limit is 100',
    ],
    ['bots: sometimes', '"sometimes" is not valid here; it is one of keep, drop'],
  ])('%s', (yaml, expected) => {
    const problems = problemsOf(yaml);
    expect(problems.join('\n')).toContain(expected);
  });
});

test('rules have a key that is that of their text, and a line', () => {
  const [one, two] =
    parseRules('drop:\n  - { event: debug }\n  - { when: \'_os = "iOS"\', about: ours }\n').content.drop ?? [];
  const [again] = parseRules('# moved\n\ndrop:\n  - { when: \'_os = "iOS"\' }\n').content.drop ?? [];
  expect([one?.line, two?.line, again?.line]).toEqual([3, 4, 5]);
  expect(again?.key).toBe(two?.key);
  expect(one?.key).not.toBe(two?.key);
});

test('networks: only whole addresses with a length that fits', () => {
  for (const text of ['203.0.113', '1', '203.0.113.0/', '203.0.113.0/33', '203.0.113.0/24/1', '::1/129', 'x', '']) {
    expect(tryParseNetwork(text), text).toBeUndefined();
  }
  const isIn = createNetworkTest(['0.0.0.0/0']);
  expect([isIn('203.0.113.9'), isIn('2001:db8::1')]).toEqual([true, false]);
});

test('bodies for which expressions take long are decided in a thread', () => {
  const body = { bytes: 20_000, userAgentLength: 120, mayOverrideClient: false };
  const onAgent = compile(dropWhen('_ua ~ "HeadlessChrome|PhantomJS"')).cost;
  expect(isDecidedInLoop(onAgent, body)).toBe(true);
  expect(isDecidedInLoop(onAgent, { ...body, mayOverrideClient: true })).toBe(false);
  expect(isDecidedInLoop(compile(dropWhen('event_properties.text ~ "HeadlessChrome"')).cost, body)).toBe(false);
  const plain = compile(dropWhen('_path starts with "/admin"')).cost;
  expect(isDecidedInLoop(plain, { ...body, mayOverrideClient: true })).toBe(true);
  const bots = compile('bots: drop').cost;
  expect([isDecidedInLoop(bots, body), isDecidedInLoop(bots, { ...body, mayOverrideClient: true })]).toEqual([
    true,
    false,
  ]);
});
