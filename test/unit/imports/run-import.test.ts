// Import pipeline with a stub of the service: repeated imports, edge cases of lines, bounded
// concurrency, failures.
import { expect, test } from 'vitest';
import { BATCH_LIMITS } from '../../../src/imports/batches.js';
import { type ImportOptions, runImport } from '../../../src/imports/run-import.js';
import type { ImportedEvent } from '../../../src/imports/source.js';
import { findSource } from '../../../src/imports/sources/table.js';
import { findFailure, toReport } from '../../../src/imports/summary.js';
import type { SendBatch } from '../../../src/imports/track-client.js';
import { generateAccessLog } from '../../support/access-log-generator.js';
import { inputOf } from '../../support/imports.js';

const LINE = '203.0.113.9 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "curl"';
const NOW_MS = Date.UTC(2026, 0, 31);
const ARGUMENTS = { paths: ['a.log'], source: { name: 'access-log', about: 'logs' } };

/** Imports text of a source; without a client for /track as a dry run. */
function importText(text: string, options: Partial<ImportOptions> & { source?: string; track?: SendBatch } = {}) {
  const { source = 'access-log', track, ...rest } = options;
  const open = findSource(source)?.open({ site: undefined, timeZone: undefined });
  if (open === undefined) throw new Error(`no source ${source}`);
  const clients = track && { track, identifyBatch: async () => ({ accepted: 1 }) };
  return runImport([inputOf(text)], { open, clients, library: 'service-import/1.0.0', nowMs: NOW_MS, ...rest });
}

/** Stub of the service that keeps events by insert_id, as the service would count them. */
function createStore() {
  const events = new Map<string, Record<string, unknown>>();
  const batches: number[] = [];
  const track = async (body: string) => {
    const batch = JSON.parse(body) as { events: { insert_id: string }[] };
    for (const event of batch.events) events.set(event.insert_id, event);
    batches.push(batch.events.length);
    return { accepted: batch.events.length };
  };
  return { events, batches, track };
}

test('every valid line becomes one event, and a second import with other batches adds none', async () => {
  const log = generateAccessLog({ seed: 1, lines: 3000, firstDay: '2015-05-17', days: 4 });
  const store = createStore();
  const first = await importText(log.text, { track: store.track });
  expect(first).toMatchObject({
    read: log.validLines + log.malformedLines,
    events: log.validLines,
    skippedCount: log.malformedLines,
  });
  expect(store.events.size).toBe(log.validLines);

  const batchLimits = { eventsMax: 77, bytesMax: 1e6 };
  await importText(log.text, { batchLimits, track: store.track });
  expect(store.events.size).toBe(log.validLines);
});

test('events that were there before the import do not count as stored', async () => {
  const store = createStore();
  await importText(LINE, { track: store.track });
  const open = findSource('access-log')?.open({ site: undefined, timeZone: undefined }) as ImportOptions['open'];
  const clients = {
    track: store.track,
    identifyBatch: store.track,
    count: async () => store.events.size,
    trackAndWait: async () => ({ accepted: 1, counted: true }),
  };
  const later = inputOf(LINE.replace('10:05:03', '10:05:04'));
  expect(await runImport([later], { open, clients, library: 'l', nowMs: NOW_MS })).toMatchObject({ stored: 1 });
  expect(store.events.size).toBe(2);
});

test('a record without an id in two files that overlap is one event, and one that a file has twice is two', async () => {
  const record = (event: string) => `${JSON.stringify({ event, properties: { time: 1e9 } })}\n`;
  const january = inputOf(record('a') + record('b'));
  const february = inputOf(record('b') + record('b') + record('c'));
  const importFiles = async (files: readonly ReturnType<typeof inputOf>[]) => {
    const { events, track } = createStore();
    const open = findSource('mixpanel')?.open({ site: undefined, timeZone: undefined }) as ImportOptions['open'];
    await runImport(files, { open, clients: { track, identifyBatch: track }, library: 'l', nowMs: NOW_MS });
    return [...events.keys()].sort();
  };
  const together = await importFiles([january, february]);
  expect(together).toHaveLength(4);
  const apart = await Promise.all([january, february].map((file) => importFiles([file])));
  expect([...new Set(apart.flat())].sort()).toEqual(together);
});

test('a dry run prints the summary of the real one', async () => {
  const log = generateAccessLog({ seed: 2, lines: 500, firstDay: '2015-05-17', days: 4 });
  const real = await importText(log.text, { track: createStore().track });
  const dry = await importText(log.text);
  const linesOf = (summary: typeof real, isDryRun: boolean) => toReport(summary, { isDryRun }).split('\n').slice(0, -2);
  expect(linesOf(dry, true)).toEqual(linesOf(real, false));
  expect(linesOf(dry, true).join('\n')).toContain('not a line of the common or combined log format: text:');
});

const EDGES: readonly (readonly [rule: string, text: string, events: number, skipped: readonly string[]])[] = [
  ['identical lines are separate events', `${LINE}\n${LINE}\n`, 2, []],
  ['blank lines are ignored', `\n${LINE}\n  \n`, 1, []],
  ['a truncated line with a line break is an event', `${LINE.slice(0, -1)}\n`, 1, []],
  ['a truncated last line without a line break is no event', LINE.slice(0, -1), 0, ['the last line is not complete']],
  ['a complete last line without a line break is an event', LINE, 1, []],
  ['a line with a time before 2000 is no event', `${LINE.replace('2015', '1999')}\n`, 0, ['the time is before 2000']],
  [
    'a line with a time two days ahead is no event',
    `${LINE.replace('17/May/2015', '02/Feb/2026')}\n`,
    0,
    ['the time is more than 24 h ahead'],
  ],
  ['a line 23 hours ahead is an event', `${LINE.replace('17/May/2015:10', '31/Jan/2026:23')}\n`, 1, []],
  [
    'a line above the size limit is no event',
    `${LINE} ${'x'.repeat(70_000)}\n`,
    0,
    ['not a line of the common or combined log format'],
  ],
];

test.each(EDGES)('%s', async (_rule, text, events, skipped) => {
  const store = createStore();
  const summary = await importText(text, { track: store.track });
  expect([store.events.size, [...summary.skipped.keys()]]).toEqual([events, skipped]);
});

test('values that a record does not have are empty, so that those of the import are not used', async () => {
  const store = createStore();
  await importText(LINE.replace('203.0.113.9', 'host').replace('curl', '-'), { track: store.track });
  const [event] = store.events.values();
  expect(event).toMatchObject({ ip: '', user_agent: '', library: 'service-import/1.0.0' });
});

test('an event is sent with every field of its record', async () => {
  const event: Omit<ImportedEvent, 'timeMs'> = {
    ...{ event_type: 'e', insert_id: 'i', user_id: 'u', device_id: 'd', session_id: 's' },
    ...{ event_properties: { a: 1 }, user_properties: { b: 2 }, ip: '203.0.113.9', user_agent: 'curl' },
    ...{ agent: { browser: 'Firefox' }, geo: { country: 'DE' } },
    origin: 'client',
  };
  async function* open() {
    yield { line: 1, mapped: [{ kind: 'event', event: { ...event, timeMs: NOW_MS } }] as const };
  }
  const store = createStore();
  await importText('', { open, track: store.track });
  const sent = { ...event, time: new Date(NOW_MS).toISOString(), library: 'service-import/1.0.0' };
  expect([...store.events.values()]).toEqual([sent]);
});

test('user properties above the limit are left out of the event, which is kept', async () => {
  const store = createStore();
  const recordOf = (uuid: string, count: number) => {
    const user_properties = Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, n]));
    return JSON.stringify({ event_type: 'e', event_time: '2023-01-01 00:00:00', uuid, user_properties });
  };
  const text = `${recordOf('within', 128)}\n${recordOf('above', 129)}`;
  const summary = await importText(text, { source: 'amplitude', track: store.track });
  const counts = [...store.events.values()].map((event) => Object.keys(event.user_properties ?? {}).length);
  expect(counts).toEqual([128, 0]);
  expect([...summary.skipped.keys()]).toEqual(['user properties of an event left out: more than 128']);
});

test('an event with a value that the service refuses is named by its line', async () => {
  const record = { event: 'e', properties: { time: 1e9, ['x'.repeat(257)]: 1 } };
  const summary = await importText(`\n${JSON.stringify(record)}`, { source: 'mixpanel', track: createStore().track });
  expect([...summary.skipped]).toEqual([['invalid here: property_key_length', { count: 1, samples: ['text:2'] }]]);
});

test('a record that is nested too deep to be mapped is named by its line, and the next one is read', async () => {
  const record = (value: string) => `{"event":"e","properties":{"time":1000000000,"a":${value}}}\n`;
  const text = record(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) + record('1');
  const summary = await importText(text, { source: 'mixpanel' });
  expect(summary).toMatchObject({ read: 2, events: 1 });
  expect([...summary.skipped]).toEqual([
    ['cannot be mapped (Maximum call stack size exceeded)', { count: 1, samples: ['text:1'] }],
  ]);
});

test('a link or profile that is too far ahead is named by its line, and the earlier one holds', async () => {
  const call = (day: string, userId: string, traits: object) =>
    JSON.stringify({ type: 'identify', anonymousId: 'd', userId, timestamp: `${day}T00:00:00Z`, traits });
  const text = [
    call('2026-01-01', 'u', { plan: 'pro' }),
    call('2026-02-02', 'v', {}),
    call('2026-02-02', 'u', { plan: 'x' }),
  ];
  const calls: unknown[] = [];
  const identifyBatch = async (body: string) => {
    calls.push(...(JSON.parse(body) as { calls: unknown[] }).calls);
    return { accepted: 1 };
  };
  const clients = { track: createStore().track, identifyBatch };
  const summary = await importText(text.join('\n'), { source: 'segment', clients });
  const time = Date.UTC(2026, 0, 1);
  expect(calls).toEqual([
    { user_id: 'u', device_id: 'd', time },
    { user_id: 'u', time, user_properties: { plan: 'pro' } },
  ]);
  expect([...summary.skipped]).toEqual([
    ['profile: the time is more than 24 h ahead', { count: 2, samples: ['text:2', 'text:3'] }],
    ['link: the time is more than 24 h ahead', { count: 2, samples: ['text:2', 'text:3'] }],
  ]);
});

test('a property that the service would refuse is named, and the person is sent and counted once', async () => {
  const call = (day: string, traits: object) =>
    JSON.stringify({ type: 'identify', anonymousId: 'd', userId: 'u', timestamp: `2026-01-${day}T00:00:00Z`, traits });
  const calls: unknown[] = [];
  const identifyBatch = async (body: string) => {
    calls.push(...(JSON.parse(body) as { calls: unknown[] }).calls);
    return { accepted: 1 };
  };
  const text = [call('01', { plan: 'pro' }), call('02', { team: 'x', ['y'.repeat(257)]: 1 })].join('\n');
  const clients = { track: createStore().track, identifyBatch };
  const summary = await importText(text, { source: 'segment', clients });
  expect(calls).toEqual([
    { user_id: 'u', device_id: 'd', time: Date.UTC(2026, 0, 2) },
    { user_id: 'u', time: Date.UTC(2026, 0, 1), user_properties: { plan: 'pro' } },
    { user_id: 'u', time: Date.UTC(2026, 0, 2), user_properties: { team: 'x' } },
  ]);
  expect(summary).toMatchObject({ links: 1, profiles: 1 });
  expect([...summary.skipped]).toEqual([
    [expect.stringMatching(/^profile refused: /), { count: 1, samples: ['user u'] }],
  ]);
});

test('an id that is a number too large to be exact is skipped, in links and profiles', async () => {
  const large = 2 ** 53;
  async function* open() {
    const mapped = [
      { kind: 'link', device: 'd', user: large, timeMs: 0 },
      { kind: 'link', device: large, user: 'u', timeMs: 0 },
      { kind: 'profile', user: large, timeMs: 0, properties: { plan: 'pro' } },
    ] as const;
    yield { line: 1, mapped };
  }
  const summary = await importText('', { open });
  expect(summary).toMatchObject({ links: 0, profiles: 0 });
  const problem = 'an id is a number too large to be read exactly';
  expect([...summary.skipped].map(([reason, { count }]) => [reason, count])).toEqual([
    [`link: ${problem}`, 2],
    [`profile: ${problem}`, 1],
  ]);
});

test('campaign parameters of the address become properties', async () => {
  const store = createStore();
  const line = LINE.replace('GET / ', 'GET /?utm_source=a%20b&x=1&gclid=7&utm_medium= ');
  await importText(line, { track: store.track });
  const [event] = store.events.values();
  expect(event?.event_properties).toMatchObject({ utm_source: 'a b', gclid: '7' });
  expect(event?.event_properties).not.toHaveProperty('utm_medium');
});

test('events that the service does not accept are counted, apart from those that it drops by rule', async () => {
  const track = async () => ({ accepted: 0, dropped: 1 });
  const summary = await importText(`${LINE}\n${LINE}\n`, { track });
  expect(summary).toMatchObject({ events: 2, dropped: 1, refused: 1 });
});

test('events of others do not count as stored for those that were dropped', async () => {
  let counted = 0;
  const clients = {
    track: async () => {
      counted = 5;
      return { accepted: 1, dropped: 1 };
    },
    identifyBatch: createStore().track,
    count: async () => counted,
    trackAndWait: async () => ({ accepted: 1, counted: true }),
  };
  expect(await importText(`${LINE}\n${LINE}\n`, { clients })).toMatchObject({ accepted: 1, stored: 1 });
});

test('concurrent requests are limited, and reading waits for them', async () => {
  let underWay = 0;
  let most = 0;
  const track = async (): Promise<{ accepted: number }> => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    return { accepted: 1 };
  };
  const batchLimits = { eventsMax: 1, bytesMax: 1e6 };
  const summary = await importText(`${LINE}\n`.repeat(20), { track, batchLimits, requestsMax: 3 });
  expect([most, summary.events]).toEqual([3, 20]);
});

test('a failed request fails the import', async () => {
  const track = async () => Promise.reject(new Error('the service is unavailable'));
  await expect(importText(`${LINE}\n`, { track })).rejects.toThrow('the service is unavailable');
  const clients = { track: createStore().track, identifyBatch: track };
  const call = '{"type":"identify","anonymousId":"d","userId":"u","timestamp":"2026-01-01T00:00:00Z"}';
  await expect(importText(call, { source: 'segment', clients })).rejects.toThrow('the service is unavailable');
});

test('an interrupt ends the import, and a second run completes it', async () => {
  const store = createStore();
  const interrupt = new AbortController();
  const batchLimits = { eventsMax: 1, bytesMax: 1e6 };
  const text = Array.from({ length: 50 }, (_, n) => `${LINE.replace('GET /', `GET /${n}`)}\n`).join('');
  const track: SendBatch = async (body) => {
    if (store.events.size === 10) interrupt.abort();
    return store.track(body);
  };
  await expect(importText(text, { track, batchLimits, signal: interrupt.signal })).rejects.toThrow('aborted');
  expect(store.events.size).toBeLessThan(50);
  await importText(text, { track: store.track });
  expect(store.events.size).toBe(50);
});

test('a file that is damaged in the middle is named, and the next is read', async () => {
  const damaged = {
    name: 'damaged.log',
    open: async function* () {
      yield Buffer.from(`${LINE}\n`);
      throw new Error('unexpected end of file');
    },
  };
  const store = createStore();
  const open = findSource('access-log')?.open({ site: undefined, timeZone: undefined });
  const clients = { track: store.track, identifyBatch: store.track };
  const options = { open: open as ImportOptions['open'], clients, library: 'l', nowMs: NOW_MS };
  const summary = await runImport([damaged, inputOf(`${LINE.replace('GET /', 'GET /b')}\n`)], options);
  expect(store.events.size).toBe(2);
  expect([...summary.skipped]).toEqual([
    ['the file cannot be read to its end (unexpected end of file)', { count: 1, samples: ['damaged.log'] }],
  ]);
  expect(findFailure(summary, ARGUMENTS)).toMatch(/^1 file was not read to the end: .* import again/);
});

test('an import that was of no use says what its source reads', async () => {
  expect(findFailure(await importText(`${LINE}\n`), ARGUMENTS)).toBeUndefined();
  expect(findFailure(await importText(''), ARGUMENTS)).toBe('a.log has no records; access-log reads logs');
  expect(findFailure(await importText('x\n'), ARGUMENTS)).toBe(
    'nothing in a.log can be imported as access-log, which reads logs',
  );
});

test.each(['a failure of the service', 'an interruption'])(
  '%s closes the file that is read, and the source',
  async (end) => {
    const stop = new AbortController();
    let [isClosed, isSourceClosed] = [false, false];
    async function* open() {
      const event = {
        event_type: 'a',
        timeMs: NOW_MS,
        insert_id: 'i',
        event_properties: {},
        origin: 'client',
      } as const;
      try {
        for (let line = 1; ; line += 1) {
          if (line === 3 && end === 'an interruption') stop.abort();
          yield { line, mapped: [{ kind: 'event', event }] as const };
        }
      } finally {
        isClosed = true;
      }
    }
    const track = () => Promise.reject(new Error('refused'));
    const batchLimits = end === 'an interruption' ? BATCH_LIMITS : { eventsMax: 1, bytesMax: 1e6 };
    open.close = async () => {
      isSourceClosed = true;
    };
    const imported = importText('', { open, track, batchLimits, signal: stop.signal });
    await expect(imported).rejects.toThrow();
    expect([isClosed, isSourceClosed]).toEqual([true, true]);
  },
);
