// POST /query over HTTP on the real engine: credentials, formats, errors, paging, and isolation of
// projects.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Shards } from '../../src/platform/clickhouse/shards.js';
import type { RunningServer } from '../../src/platform/http/server.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { ThreadPool } from '../../src/platform/threads/thread-pool.js';
import { EVENT_ROWS, MAPPING_ROWS, OTHER_PROJECT } from '../golden/dataset.js';
import { metricsOf, startQueryServer } from '../support/query-server.js';
import { openShards } from '../support/shards.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
const threads = new ThreadPool({ threadsMax: 2 });
let shards: Shards;
let redis: Redis;
let server: RunningServer;

beforeAll(async () => {
  databases = await createTestDatabases();
  shards = openShards(databases.config);
  redis = createRedis(databases.config);
  await shards.first.clickhouse.insert({ table: 'events', values: [...EVENT_ROWS], format: 'JSONEachRow' });
  await shards.first.clickhouse.insert({ table: 'device_map', values: [...MAPPING_ROWS], format: 'JSONEachRow' });
  const limits = { QUERY_CONCURRENCY: 2, QUERY_QUEUE_PER_PROJECT_MAX: 10 };
  server = await startQueryServer({ databases, shards, redis, threads }, limits);
});

afterAll(async () => {
  await server.close(1_000);
  await threads.close();
  await shards.close();
  redis.disconnect();
  await databases.close();
});

/** An empty key is not sent. */
const post = (body: unknown, key = 'sk_one', port = server.port): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== '' && { 'x-api-key': key }) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

async function ask(body: object, key = 'sk_one') {
  const response = await post({ format: 'json', ...body }, key);
  expect(response.status).toBe(200);
  return (await response.json()) as { rows: Record<string, unknown>[]; total: number } & Record<string, unknown>;
}

describe('credentials of POST /query', () => {
  test.each([
    ['no key', '', 401],
    ['an unknown key', 'sk_three', 401],
    ['a public key', 'pk_one', 403],
    ['a token without the scope', 'aat_track', 403],
    ['a token with the scope', 'aat_query', 200],
    ['a secret key', 'sk_one', 200],
  ])('with %s', async (_, key, status) => {
    const response = await post({ q: 'signup | count' }, key);
    expect(response.status).toBe(status);
    if (status !== 200) expect(await response.json()).toEqual({ error: expect.any(String) });
  });
});

test.each([
  ['sk_tokyo', {}, 'Asia/Tokyo', '2026-11-19T15:00:00Z'],
  ['sk_tokyo', { timezone: 'UTC' }, 'UTC', '2026-11-20T00:00:00Z'],
])('today of %s with %j is in %s', async (key, body, timezone, from) => {
  const answer = await ask({ q: 'purchase | today | count', ...body }, key);
  expect(answer).toMatchObject({ timezone, period: `${from}/2026-11-20T09:30:00Z` });
});

test('a filter of rows compares a computed number as it is shown', async () => {
  const counted = await ask({ q: 'purchase | last 30d | count' });
  const count = Number(counted.rows[0]?.count);
  const exact = count * (0.1 + 0.2);
  const formula = 'formula count(purchase) * (0.1 + 0.2) as part | last 30d';
  const shown = (await ask({ q: formula })).rows[0]?.part;
  expect(shown).not.toBe(exact);
  expect((await ask({ q: `${formula} | where part = ${shown}` })).rows).toMatchObject([{ part: shown }]);
  expect((await ask({ q: `${formula} | where part > ${shown}` })).rows).toEqual([]);
});

describe('formats of POST /query', () => {
  test('json has columns, rows, totals and metadata', async () => {
    const response = await post({ q: 'purchase | count by day | last 3d', format: 'json' });
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toEqual({
      columns: ['day', 'count'],
      rows: [
        { day: '2026-11-17', count: 2, value: 2, metric: 'count' },
        { day: '2026-11-18', count: 2, value: 2, metric: 'count' },
        { day: '2026-11-19', count: 0, value: 0, metric: 'count' },
        { day: '2026-11-20', count: 0, value: 0, metric: 'count' },
      ],
      total: 4,
      elapsed_ms: expect.any(Number),
      rows_scanned: expect.any(Number),
      period: '2026-11-17T09:30:00Z/2026-11-20T09:30:00Z',
      timezone: 'UTC',
      mode: 'aggregate',
      metadata: { partial: [{ day: '2026-11-17' }, { day: '2026-11-20' }] },
    });
  });

  test('llm is the default', async () => {
    const response = await post({ q: 'signup |\n count by event_properties."Button Name"' });
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect(await response.text()).toBe(
      [
        '## signup | count by event_properties."Button Name"',
        '',
        '| event_properties."Button Name" | count |',
        '| ------------------------------ | ----: |',
        '| Go \\| now                      |     1 |',
        '| (none)                         |     1 |',
        '',
        'Period: 2026-11-13T09:30:00Z to 2026-11-20T09:30:00Z. Time zone: UTC. Rows: 2 of 2.',
        '',
      ].join('\n'),
    );
  });

  test('csv has a header row', async () => {
    const response = await post({ q: 'odd | count by event_properties.formula', format: 'csv' });
    expect(response.headers.get('content-type')).toContain('text/csv');
    expect(await response.text()).toBe("event_properties.formula,count\r\n,2\r\n'=1+1,1\r\n");
  });
});

describe('errors of POST /query', () => {
  test.each<[string, unknown, string]>([
    ['invalid JSON', '{"q": ', 'JSON'],
    ['an array', '[]', 'object'],
    ['no query', {}, 'q is required'],
    ['an empty query', { q: ' \n' }, 'q is empty'],
    ['a query that is not a text', { q: 5 }, 'q is required'],
    ['a query longer than 16 KiB', { q: `* # ${'x'.repeat(16 * 1024)}` }, 'q is longer than 16384 bytes'],
    ['a query of 200 KiB', { q: 'x'.repeat(200 * 1024) }, 'q is no longer than 16384'],
    ['an unknown format', { q: '*', format: 'xml' }, 'format is one of'],
    ['a limit of 0', { q: '*', limit: 0 }, 'limit is at least 1'],
    ['a limit above 10,000', { q: '*', limit: 10_001 }, 'limit is at most 10000'],
    ['a limit that is text', { q: '*', limit: '5' }, 'limit is a whole number'],
    ['a negative offset', { q: '*', offset: -1 }, 'offset is at least 0'],
    ['an unknown time zone', { q: '*', timezone: 'Mars/Olympus' }, 'timezone is not a known'],
    ['a time zone that is an offset', { q: '*', timezone: '+02:00' }, 'timezone is not a known'],
    ['a query that does not compile', { q: 'signup | count by _contry' }, 'unknown field "_contry"'],
    ['an invalid regular expression', { q: 'signup | where user_id ~ "("' }, 'regular expression'],
  ])('a body with %s is 400', async (_, body, message) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: expect.stringContaining(message) });
  });

  test('a body above the limit is 413', async () => {
    const response = await post({ q: 'x'.repeat(5 * 1024 * 1024) });
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ error: 'the request body is larger than 5242880 bytes' });
  });

  test('every problem of a query has its position and a hint', async () => {
    const response = await post({ q: 'signup\n| where _brwser = 1\n| count by _contry', format: 'json' });
    expect(await response.json()).toMatchObject({
      error: expect.stringContaining('2 problems'),
      details: [
        { message: 'unknown field "_brwser"', line: 2, column: 9, length: 7, hint: 'nearest is "_browser"' },
        { message: 'unknown field "_contry"', line: 3, column: 12, length: 7, hint: 'nearest is "_country"' },
      ],
    });
  });
});

describe('sources in POST /query', () => {
  test.each([
    ['funnel signup -> purchase', 'funnel'],
    ['retention signup', 'retention'],
    ['paths from signup', 'paths'],
    ['sessions', 'sessions'],
    ['lifecycle signup', 'lifecycle'],
    ['stickiness signup', 'stickiness'],
    ['user "ann"', 'user'],
    ['users', 'users'],
    ['formula count(a) / count(b)', 'formula'],
    ['fields', 'fields'],
    ['inspect *', 'inspect'],
    ['choice c | results purchase', 'choice'],
  ])('%s is answered in every format', async (q, mode) => {
    const [json, csv, llm] = await Promise.all(['json', 'csv', 'llm'].map((format) => post({ q, format })));
    expect([json?.status, csv?.status, llm?.status]).toEqual([200, 200, 200]);
    expect(await json?.json()).toMatchObject({ mode });
    expect(await llm?.text()).toContain(`## ${q}`);
  });

  test.each([
    ['funnel signup -> pay', { funnel_steps: ['signup', 'pay'], window_seconds: 3600 }],
    ['funnel signup -> pay | by day', { funnel_steps: ['signup', 'pay'], incomplete_from: '2026-11-20' }],
    ['funnel signup -> pay | window 7d', { window_seconds: 604_800 }],
    ['paths to pay', { window_seconds: 3600 }],
    ['retention nothing', { granularity: 'week', incomplete: [] }],
    ['retention nothing by day | window 30d', { window_seconds: 2_592_000 }],
    ['a | count | compare previous', { compare: { previous: { from: expect.any(String) } } }],
  ])('%s has metadata', async (q, metadata) => {
    expect(await (await post({ q, format: 'json' })).json()).toMatchObject({ metadata });
  });
});

const YOUNG =
  'the range of compare begins before the first event of this project: it is compared with a part of it, or nothing';

test.each([
  ['last 7d | compare previous', undefined],
  ['from 2024-02-01 to 2024-02-06 | compare from 2024-02-01 to 2024-03-01', undefined],
  ['from 2024-02-01 to 2024-02-06 | compare from 2024-01-28 to 2024-02-02', [YOUNG]],
  ['from 2024-02-01 to 2024-02-03 | by day | compare previous', [YOUNG]],
])('* | %s says whether the project is younger than the earlier range', async (stages, warnings) => {
  const { metadata } = await ask({ q: `* | ${stages}` });
  expect((metadata as { warnings?: unknown }).warnings).toEqual(warnings);
});

describe('an answer of zeros says which properties its events do not have', () => {
  const missing = (event: string, key: string, known = `inspect "${event}" lists its properties`) =>
    `no "${event}" of this range has "event_properties.${key}"; ${known}`;
  const noPrice = missing('signup', 'price', 'events with it: "purchase"');

  test.each([
    ['signup | last 7d | sum event_properties.price', [noPrice]],
    ['signup | last 7d | avg event_properties.price by day', [noPrice]],
    ['signup | last 7d | where event_properties.price > 1 | count by day', [noPrice]],
    ['signup | last 7d | where event_properties.price > 1 | list', [noPrice]],
    ['signup | last 7d | where event_properties.price > 1 and user_id = "ann" | unique', [noPrice]],
    [
      'odd | last 7d | sum event_properties.formula',
      ['"event_properties.formula" of "odd" is never a number in this range; inspect "odd" lists its properties'],
    ],
    ['funnel signup -> purchase[event_properties.tier = "a"] | last 7d', [missing('purchase', 'tier')]],
    ['funnel signup[event_properties.price > 1] -> purchase | last 7d', [noPrice]],
    ['funnel signup -> purchase[event_properties.price > 1000] | last 7d', undefined],
    ['formula sum(signup, event_properties.price) / count(signup) | last 7d', [noPrice]],
    ['formula count(signup[event_properties.price > 1]) as a | last 7d | by day', [noPrice]],
    ['formula count(signup[event_properties.price > 1]) as a, count(signup) as b | last 7d', undefined],
    // The property exists, and no value matches.
    ['purchase | last 7d | where event_properties.price > 1000 | count', undefined],
    // It is missing, and the answer is no zero.
    ['signup | last 7d | count by event_properties.price', undefined],
    // The range has no such event at all.
    ['signup | from 2025-01-01 to 2025-02-01 | sum event_properties.price', undefined],
    ['signup | from 2024-02-01 to 2024-02-10 | sum event_properties.plan', [missing('signup', 'plan')]],
    // Conditions of other events have properties of those.
    ['signup | last 7d | where count(purchase[event_properties.price > 1000]) > 0 | count', undefined],
    ['* | last 7d | where event_properties.nothing = 1 | count', undefined],
  ])('%s', async (q, warnings) => {
    for (const _ of ['answered', 'kept']) {
      const { metadata } = await ask({ q });
      expect((metadata as { warnings?: unknown }).warnings).toEqual(warnings);
    }
  });
});

describe('pages of POST /query', () => {
  test('of a list are consecutive and have the same total', async () => {
    const pages = await Promise.all(
      [0, 2, 4, 6].map((offset) => ask({ q: 'purchase | list insert_id', limit: 2, offset })),
    );
    expect(pages.map((page) => page.rows.map((row) => row.insert_id))).toEqual([
      ['b5', 'b4'],
      ['b3', 'a5'],
      ['a4'],
      [],
    ]);
    expect(pages.map((page) => page.total)).toEqual([5, 5, 5, 5]);
    expect(pages.map((page) => page.metadata)).toEqual(pages.map(() => ({ truncated: true })));
  });

  test('of an aggregate have the number of groups as total', async () => {
    const page = await ask({ q: '* | count by event_type', limit: 1, offset: 1 });
    expect(page).toMatchObject({ total: 4, rows: [{ event_type: 'purchase', count: 5, value: 5, metric: 'count' }] });
  });
});

describe('isolation of projects in POST /query', () => {
  test.each([
    'signup | count',
    '* | unique',
    '* | count by distinct_id',
    '* | list insert_id, distinct_id',
    '* | where distinct_id = "mallory" | count',
    '* | where event_properties.plan = "secret" or not event_properties.plan = "secret" | list insert_id',
    '* | count by day',
  ])('an answer has no data of another project: %s', async (q) => {
    const mine = await ask({ q, limit: 1000 });
    expect(JSON.stringify(mine.rows)).not.toMatch(/mallory|secret|x1/);
    const theirs = await ask({ q, limit: 1000 }, 'sk_two');
    expect(JSON.stringify(theirs.rows)).not.toMatch(/ann|bob|eve|d-anon|a1/);
  });

  test('device mappings of another project are not applied', async () => {
    const answered = await ask({ q: 'page_view | where device_id = "d-anon" | count by distinct_id' });
    expect(answered.rows).toMatchObject([{ distinct_id: 'd-anon', count: 2 }]);
  });

  test('a device mapping is applied as soon as it is written or changed', async () => {
    const persons = async () =>
      (await ask({ q: 'page_view | count by distinct_id' }, 'sk_two')).rows.map((row) => row.distinct_id);
    const row = {
      project_id: OTHER_PROJECT,
      event_type: 'page_view',
      time: '2026-11-20 08:00:00.000',
      insert_id: 'z1',
      device_id: 'd-new',
    };
    await shards.first.clickhouse.insert({ table: 'events', values: [row], format: 'JSONEachRow' });
    expect(await persons()).toEqual(['d-new']);
    for (const [user, time] of Object.entries({ first: '10', second: '20', late: '15' })) {
      const mapping = { project_id: OTHER_PROJECT, device_id: 'd-new', user_id: user };
      const values = [{ ...mapping, updated_at: `2026-11-20 08:00:${time}` }];
      await shards.first.clickhouse.insert({ table: 'device_map', values, format: 'JSONEachRow' });
      expect(await persons()).toEqual([user === 'late' ? 'second' : user]);
    }
  });
});

describe('the longest queries in POST /query', () => {
  const fill = (head: string, part: (index: number) => string, tail: string): string => {
    let text = head;
    for (let index = 0; text.length < 16_300 - tail.length; index++) text += part(index);
    return text + tail;
  };

  test.each([
    ['a list of values', fill('* | where _path in ("/"', (index) => `, "/${index}"`, ') | count')],
    ['a list of persons', fill('* | where distinct_id in ("ann"', (index) => `, "${index}"`, ') | count')],
    ['a chain of or', fill('* | where _path = "/"', (index) => ` or _path = "/${index}"`, ' | count')],
    ['many where stages', fill('*', (index) => ` | where _path != "/${index}"`, ' | count')],
    ['a deep nest', `* | where ${'(_path = "/" or '.repeat(60)}_path = "/docs"${')'.repeat(60)} | count`],
    [
      'a long text',
      fill('* | where _path = "', () => '€', '" | count')
        .slice(0, 5_000)
        .concat('" | count'),
    ],
  ])('%s is answered', async (_, q) => {
    const response = await post({ q, format: 'json' });
    expect(await response.json()).toMatchObject({ mode: 'aggregate' });
  });

  test.each([
    [
      'a chain of properties',
      fill('* | where event_properties.k0 = 1', (index) => ` and event_properties.k${index} != ${index}`, ' | count'),
      'different fields; the limit is 32',
    ],
    [
      'many groups',
      `* | count by ${Array.from({ length: 400 }, (_, index) => `event_properties.k${index}`).join(', ')}`,
      'by has 400 fields; the limit is 16',
    ],
  ])('%s is refused with the number and the limit', async (_, q, message) => {
    const response = await post({ q, format: 'json' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: expect.stringContaining(message) });
  });

  test('an offset beyond the last row gives an empty page', async () => {
    expect(await ask({ q: '* | count by event_type', offset: Number.MAX_SAFE_INTEGER })).toMatchObject({
      rows: [],
      total: 4,
    });
  });
});

test('metrics count queries by mode and outcome', async () => {
  await ask({ q: 'signup | count' });
  expect((await post({ q: 'signup | cuont' })).status).toBe(400);
  const metrics = await metricsOf(server);
  expect(metrics).toMatch(/query_duration_seconds_count\{mode="aggregate",outcome="answered"\} \d+/);
  expect(metrics).toMatch(/query_duration_seconds_count\{mode="none",outcome="bad_request"\} \d+/);
  expect(metrics).toContain('query_running 0');
});
