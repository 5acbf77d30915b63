// Exports that are sent to another project, and export clients that read slowly, exceed the limit
// or disconnect.
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import {
  ask,
  databases,
  EXPORTS_MAX,
  exportOf,
  fill,
  lastOutcome,
  MEBIBYTE,
  mapDevice,
  openSlowly,
  processes,
  project,
  queue,
  readLines,
  redis,
  startExports,
  store,
  take,
  untilStored,
} from '../support/exports.js';
import { redisBytesOf } from '../support/redis-memory.js';
import { createTestProject, track } from '../support/track.js';

startExports();

describe('an export that is sent to another project', () => {
  test('gives the same answers there', async () => {
    const from = await createTestProject(databases, { ipPolicy: 'full' });
    const to = await createTestProject(databases, { ipPolicy: 'full' });
    const visits = [
      [
        '198.51.100.7',
        'DE',
        'Berlin',
        'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/120.0.0.0 Safari/537.36',
      ],
      [
        '203.0.113.9',
        'FR',
        'Paris',
        'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Mobile/15E148 Safari/604.1',
      ],
      ['192.0.2.1', '', '', 'Googlebot/2.1'],
    ] as const;
    for (const [index, [address, country, city, agent]] of visits.entries()) {
      const events = Array.from({ length: 40 }, (_, n) => ({
        event_type: n % 4 === 0 ? 'purchase' : 'page_view',
        ...(n % 5 === 0 ? { device_id: `device ${index}` } : { user_id: 'ada', device_id: `device ${index}` }),
        session_id: `session ${index} ${Math.floor(n / 10)}`,
        time: new Date(Date.now() - (index * 1000 + n) * 60_000).toISOString(),
        library: 'service-js/1',
        ...(n % 3 === 0 && { clientOriginated: true }),
        event_properties: {
          ...{
            url: `https://shop.example/item/${n % 7}?utm=1`,
            referrer: 'https://search.example/',
            title: `Item ${n % 7}`,
          },
          ...{
            price: n / 8,
            count: String(n % 4),
            flag: n % 2 === 0,
            nothing: null,
            list: [n % 3],
            utm_source: 'mail',
          },
        },
        user_properties: { plan: n % 2 === 0 ? 'gold' : 5 },
      }));
      await track(
        processes.url,
        from.publicKey,
        { events },
        {
          ...{ 'X-Forwarded-For': address, 'User-Agent': agent },
          ...(country !== '' && { 'X-Country': country, 'X-City': city }),
        },
      );
      for (const { id } of [from, to]) await mapDevice(id, `device ${index}`, 'ada');
    }
    await untilStored(from.id, 120);
    const events = await exportOf('ada', from.secretKey);
    expect(events).toHaveLength(120);
    // Sent from another country with another user agent.
    const answer = await track(
      processes.url,
      to.secretKey,
      { events },
      { 'X-Country': 'US', 'User-Agent': 'importer/1' },
    );
    expect(answer.body).toEqual({ accepted: 120 });
    await untilStored(to.id, 120);

    for (const q of QUESTIONS) {
      const [before, after] = await Promise.all([from, to].map(({ secretKey }) => answerOf(q, secretKey)));
      expect(before?.rows.length, q).toBeGreaterThan(0);
      expect(after, q).toEqual(before);
    }
    expect(await exportOf('ada', to.secretKey)).toEqual(events);
  });

  const QUESTIONS = [
    ...[
      '_country',
      '_city',
      '_continent',
      '_browser',
      '_os',
      '_device_type',
      '_platform',
      '_ip',
      '_ua',
      '_path',
      '_hostname',
    ],
    ...['_title', '_referrer_domain', '_library', '_ingest_origin', 'event_properties.count', 'event_properties.flag'],
    ...[
      'event_properties.list',
      'user_properties.plan',
      'session.landing_path',
      'session.utm_source',
      'session.country',
    ],
    ...['session.duration', 'user_last_session.city', 'distinct_id', 'device_id'],
  ].map((field) => `* | last 30d | count by ${field}`);
  QUESTIONS.push(
    '* | last 30d | unique distinct_id',
    '* | last 30d | sum event_properties.price',
    '* | last 30d | sum event_properties.count',
    '* | where event_properties.nothing not exists and event_properties.flag = true | last 30d | count',
    'purchase | last 30d | count by hour',
    'sessions | last 30d',
    'funnel page_view -> purchase | last 30d',
    'fields | last 30d',
    '* | last 30d | list | limit 1000',
  );

  async function answerOf(q: string, key: string): Promise<{ rows: unknown[]; total: number }> {
    const response = await fetch(`${processes.url}/query`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
      body: JSON.stringify({ q, format: 'json', limit: 1000 }),
    });
    const body = (await response.json()) as { rows: unknown[]; total: number; error?: string };
    expect(body.error).toBeUndefined();
    return { rows: body.rows, total: body.total };
  }
});

describe('an export client', () => {
  // An id that is never sent to /track, so that Redis and the logs could only know it from exports.
  const slow = `slow ${randomUUID()}`;
  const EVENTS = 60_000;

  /** Output of workers that have been replaced. */
  const logged: string[] = [];

  beforeAll(() => fill(slow, EVENTS), 120_000);

  const residentBytes = (name: string): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${processes.get(name).pid}/status`, 'utf8'))?.[1]) * 1024;

  /** Number of export queries that ClickHouse runs. */
  async function runningPages(): Promise<number> {
    const query =
      "SELECT count() AS n FROM system.processes WHERE query LIKE '%insert_id, event_type%LIMIT%' AND query NOT LIKE '%system.processes%'";
    const [row] = await (await store.client.query({ query, format: 'JSONEachRow' })).json<{ n: string }>();
    return Number(row?.n);
  }

  const untilQueueIsEmpty = (): Promise<void> =>
    eventually(async () => {
      const counts = await queue.getJobCounts();
      expect(Object.values(counts).every((jobs) => jobs === 0)).toBe(true);
    });

  const residents = () => ({ web: residentBytes('web'), worker: residentBytes('worker') });

  test('that reads slowly stops web, worker and ClickHouse, and no process buffers the rest', async () => {
    const before = { ...residents(), redis: await redisBytesOf(redis) };
    const response = await openSlowly(slow);
    await delay(3000);
    const held = { ...residents(), redis: await redisBytesOf(redis) };
    expect(await readLines(response)).toBe(EVENTS);
    expect(await lastOutcome()).toBe('completed');
    // The rest is 120 MB. Garbage that is not yet collected is counted here, too.
    expect(held.redis - before.redis).toBeLessThan(8 * MEBIBYTE);
    expect(held.web - before.web).toBeLessThan(60 * MEBIBYTE);
    expect(held.worker - before.worker).toBeLessThan(60 * MEBIBYTE);
  }, 240_000);

  test('leaves nothing in memory once it has read everything', async () => {
    // The level of garbage depends on the machine; memory that is kept grows with each export.
    let before = residents();
    await eventually(async () => {
      expect(await readLines(await openSlowly(slow))).toBe(EVENTS);
      const after = residents();
      const grown = { web: after.web - before.web, worker: after.worker - before.worker };
      before = after;
      expect(grown.web).toBeLessThan(20 * MEBIBYTE);
      expect(grown.worker).toBeLessThan(20 * MEBIBYTE);
    });
  }, 240_000);

  test('gets 429 with Retry-After above the limit of open exports', async () => {
    const responses = await Promise.all(Array.from({ length: EXPORTS_MAX }, () => openSlowly(slow)));
    const refused = await ask(slow);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('60');
    for (const response of responses) response.destroy();
    await eventually(async () => expect((await ask('nobody')).status).toBe(200));
  }, 120_000);

  test('that disconnects cancels its query and its job', async () => {
    const response = await openSlowly(slow);
    // Up to the third page, which does not fit into the buffers on the way, so its query still
    // runs.
    await take(response, 18 * MEBIBYTE);
    await eventually(async () => expect(await runningPages()).toBeGreaterThan(0));
    response.destroy();
    await eventually(async () => expect(await runningPages()).toBe(0));
    await eventually(async () => expect(await lastOutcome()).toBe('cancelled'));
    await untilQueueIsEmpty();
  }, 120_000);

  test('gets a broken connection when the worker is killed, 503 without a worker, and an answer from the next one', async () => {
    // At a second attempt it is killed already.
    if (!processes.get('worker').isRunning) await processes.start('worker');
    const response = await openSlowly(slow);
    const worker = processes.get('worker');
    await worker.kill();
    logged.push(...worker.output);
    await expect(readLines(response)).rejects.toThrow('aborted');
    await eventually(async () => expect(await lastOutcome()).toBe('failed'));
    await eventually(() => expect(processes.get('web').output.join()).toContain('an export failed'));

    const refused = await ask(slow);
    expect(refused.status).toBe(503);
    expect(await refused.json()).toEqual({ error: 'the export is not available right now; try again' });
    expect(await lastOutcome()).toBe('failed');

    await processes.start('worker');
    expect(await readLines((await openSlowly(slow)).resume())).toBe(EVENTS);
  }, 240_000);

  test('gets a broken connection when the person is erased before their last event is read', async () => {
    const erased = `erased ${randomUUID()}`;
    await fill(erased, EVENTS / 3);
    const response = await openSlowly(erased);
    await take(response, 100_000);
    const person = `${processes.url}/api/gdpr/users/${encodeURIComponent(erased)}`;
    const answer = await fetch(person, { method: 'DELETE', headers: { 'X-API-Key': project.secretKey } });
    expect(answer.status).toBe(200);
    await expect(readLines(response)).rejects.toThrow('aborted');
    await eventually(async () => expect(await lastOutcome()).toBe('failed'));
  }, 240_000);

  test("leaves the person's id neither in Redis, its files nor the logs", async () => {
    const [, directory = ''] = (await redis.config('GET', 'dir')) as string[];
    const folder = join(directory, 'appendonlydir');
    for (const file of readdirSync(folder)) expect(readFileSync(join(folder, file)).includes(slow), file).toBe(false);
    const running = ['web', 'query', 'worker'].flatMap((name) => processes.get(name).output);
    const text = [...logged, ...running].join('\n');
    expect(text).not.toContain(slow);
    expect(text).not.toContain(encodeURIComponent(slow));
  });
});
