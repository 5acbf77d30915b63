// How the browser script sends events, in a real browser, against the real processes or, for
// specific responses, a scripted server.

import { describe, expect, test } from 'vitest';
import { buildBrowserScript } from '../../clients/browser/build.mjs';
import {
  call,
  context,
  documentWith,
  openPageForEachTest,
  page,
  posted,
  processes,
  project,
  site,
  store,
  stored,
} from '../support/browser-page.js';
import { eventually } from '../support/eventually.js';

openPageForEachTest();

describe('the browser script sends', () => {
  test('ten events at once, fewer after two seconds, and the rest when the page closes', async () => {
    await page.goto(`${site.url}/silent`);
    for (let n = 0; n < 10; n += 1) await call('track', 'ten');
    await eventually(async () => expect(await store.count(project.id)).toBe(10));
    await call('track', 'two-seconds');
    await eventually(async () => expect(await store.count(project.id)).toBe(11));
    await page.evaluate(`
      for (let n = 0; n < 7; n += 1) service.track('last', { n, text: 'ü'.repeat(3000) });
      location.href = 'about:blank';
    `);
    await eventually(async () => expect(await store.count(project.id, "event_type = 'last'")).toBe(7));
  });

  test('the last events even if the page closes while all connections are busy', async () => {
    await page.goto(`${site.url}/scripted`);
    // A browser has six connections per host; these occupy all of them.
    site.answers.push(...Array(6).fill({ status: 0 }));
    await page.evaluate("for (let n = 0; n < 6; n += 1) fetch('/busy', { method: 'POST' }).catch(() => 0); 1");
    await posted(6);
    await call('track', 'last');
    await page.close();
    expect((await posted(7))[6]?.body.events).toMatchObject([{ event_type: 'last' }]);
  });

  test.each([
    ['a beacon', '', 'no-cors'],
    ['a request in browsers without sendBeacon', 'navigator.sendBeacon = undefined', 'cors'],
    ['a request where the browser takes no more beacons', 'navigator.sendBeacon = () => false', 'cors'],
  ])('the last events by %s', async (_, spoil, mode) => {
    await page.addInitScript({ content: spoil });
    await page.goto(`${site.url}/scripted`);
    await call('track', 'last');
    await call('identify', 'ada');
    await page.close();
    const requests = await posted(2);
    expect(requests.map(({ headers }) => headers['sec-fetch-mode'])).toEqual([mode, mode]);
    expect(requests.map(({ headers }) => headers['content-type'])).toEqual(Array(2).fill('text/plain;charset=UTF-8'));
    expect(requests.map(({ path }) => path).sort()).toEqual(['/identify', '/track']);
  });

  test('no more bytes than browsers allow a closing page', async () => {
    await page.goto(`${site.url}/scripted`);
    await noteErrors();
    for (const length of [25_000, 12_000, 12_000]) {
      await page.evaluate(`service.track('long', { text: '語'.repeat(${length}) })`);
    }
    await page.evaluate('service.flush()');
    expect(await errors()).toEqual([]);
    expect(site.requests.map(({ body }) => body.events.length)).toEqual([1, 1, 1]);
    for (let n = 0; n < 2; n += 1) await page.evaluate("service.track('left', { text: '語'.repeat(9000) })");
    await page.close();
    expect((await posted(4))[3]?.body.events).toHaveLength(2);
  });

  test('everything that waits when a page is hidden, also above that limit', async () => {
    await page.goto(`${site.url}/scripted`);
    await noteErrors();
    await hide();
    await page.evaluate(`
      for (let n = 0; n < 400; n += 1) service.track('many', { n, text: 'x'.repeat(1000) });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    `);
    await eventually(() => expect(site.requests.flatMap(({ body }) => body.events)).toHaveLength(400), 30_000);
    expect(await errors()).toEqual([]);
  });

  test('no beacons when a page is visible again, because they are not repeated', async () => {
    await page.goto(`${site.url}/scripted`);
    site.answers.push({ status: 503 });
    await call('track', 'waiting');
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    const requests = await posted(2);
    expect(requests.map(({ headers }) => headers['sec-fetch-mode'])).toEqual(['cors', 'cors']);
  });

  test('again when the service does not respond', async () => {
    const seconds =
      'const timeout = AbortSignal.timeout; AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms / 100);';
    await page.addInitScript({ content: seconds });
    await page.goto(`${site.url}/scripted`);
    site.answers.push({ status: 0 });
    await call('track', 'a');
    await call('flush');
    const requests = await posted(2);
    expect(new Set(requests.map(({ text }) => text)).size).toBe(1);
  });

  test('again when a page comes instead of the response, but not when the page has an error', async () => {
    await page.goto(`${site.url}/scripted`);
    await noteErrors();
    const body = '<!doctype html><title>Sign in</title>';
    site.answers.push({ status: 200, body }, { status: 200 }, { status: 404, body });
    await call('track', 'a');
    await call('flush');
    const requests = await posted(2);
    expect(new Set(requests.map(({ text }) => text)).size).toBe(1);
    expect(await errors()).toEqual([]);
    await call('track', 'b');
    await call('flush');
    expect([site.requests.length, await errors()]).toEqual([3, [404]]);
  });

  test('through a proxy of the site under other paths', async () => {
    const { script } = await buildBrowserScript();
    site.pages.set('/a7/s.js', script);
    const attributes = 'data-host="/a7" data-track="/v" data-identify="/w"';
    site.pages.set('/proxied', `<script src="/a7/s.js" data-key="${project.publicKey}" ${attributes}></script>`);
    await page.goto(`${site.url}/proxied`);
    await call('identify', 'ada');
    await call('flush');
    expect((await posted(2)).map(({ path, query }) => [path, query.get('key')])).toEqual([
      ['/a7/v', project.publicKey],
      ['/a7/w', project.publicKey],
    ]);
  });

  test('waiting events when the network is back', async () => {
    await page.goto(`${site.url}/silent`);
    await context.setOffline(true);
    for (let n = 0; n < 25; n += 1) await call('track', 'offline');
    await page.waitForTimeout(500);
    expect(await store.count(project.id)).toBe(0);
    await context.setOffline(false);
    await eventually(async () => expect(await store.count(project.id)).toBe(25));
  });

  test('what waits when a page is hidden without a network, once it is back', async () => {
    await page.goto(`${site.url}/scripted`);
    await context.setOffline(true);
    await call('track', 'offline');
    await hide();
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    await context.setOffline(false);
    expect((await posted(1))[0]?.body.events).toMatchObject([{ event_type: 'offline' }]);
  });

  test('the same bytes again after 1, 2 and 4 seconds, and then reports them as lost', async () => {
    await openScriptedWithPausedClock();
    await call('track', 'a');
    site.answers.push(
      { status: 503 },
      { status: 500 },
      { status: 429, headers: { 'Retry-After': '3' } },
      { status: 502 },
    );
    await noteErrors();
    await page.evaluate('void service.flush()');
    for (const [sent, seconds] of [
      [1, 1],
      [2, 2],
      [3, 4],
    ] as const) {
      await posted(sent);
      await page.waitForTimeout(100);
      await page.clock.runFor(seconds * 1000 - 500);
      await page.waitForTimeout(100);
      expect(site.requests).toHaveLength(sent);
      // The pause begins when the page has read the response, which may be later than here.
      await eventually(async () => {
        await page.clock.runFor(100);
        if (site.requests.length === sent) throw new Error(`not repeated after ${seconds} seconds`);
      });
    }
    const requests = await posted(4);
    expect(new Set(requests.map(({ text }) => text)).size).toBe(1);
    await eventually(async () => expect(await errors()).toEqual([502]));
    await call('track', 'b');
    await page.clock.runFor(2100);
    expect((await posted(5))[4]?.body.events).toMatchObject([{ event_type: 'b' }]);
  });

  test('again after Retry-After, a minute at most, and not after a refusal', async () => {
    await openScriptedWithPausedClock();
    await noteErrors();
    site.answers.push({ status: 429, headers: { 'Retry-After': '600' } }, { status: 403 });
    await call('track', 'a');
    await page.evaluate('void service.flush()');
    await posted(1);
    await page.waitForTimeout(100);
    await page.clock.runFor(59_000);
    await page.waitForTimeout(100);
    expect(site.requests).toHaveLength(1);
    await page.clock.runFor(1100);
    await posted(2);
    await eventually(async () => expect(await errors()).toEqual([403]));
    await page.clock.runFor(60_000);
    expect(site.requests).toHaveLength(2);
  });

  test('at most 10,000 waiting events, and reports further ones as lost', async () => {
    await page.goto(`${site.url}/silent`);
    await noteErrors();
    await context.setOffline(true);
    await page.evaluate("for (let n = 0; n < 10_003; n += 1) service.track('many', { n })");
    expect(await errors()).toEqual(['queue full', 'queue full', 'queue full']);
    await context.setOffline(false);
    await eventually(async () => expect(await store.count(project.id)).toBe(10_000), 60_000);
  });

  async function openScriptedWithPausedClock(): Promise<void> {
    await page.clock.install({ time: '2026-11-20T10:00:00Z' });
    await page.goto(`${site.url}/scripted`);
    await page.clock.pauseAt('2026-11-20T11:00:00Z');
  }
  const hide = () => page.evaluate("Object.defineProperty(document, 'hidden', { value: true }); 1");
  const noteErrors = () =>
    page.evaluate(
      "window.noted = []; service.onError = (problem) => { noted.push(problem); throw new Error('again'); }; 1",
    );
  const errors = () => page.evaluate('noted');
});

describe('calls of the browser script', () => {
  test('made before it has loaded run in order', async () => {
    const stub =
      "<script>(window.service = window.service || []).push(['track', 'early', { n: 1 }]); const kept = service;</script>";
    site.pages.set('/stubbed', documentWith('', stub));
    await page.goto(`${site.url}/stubbed`);
    await page.evaluate("kept.push(['track', 'late'])");
    await call('flush');
    const events = await stored(3);
    expect(events.map(({ event_type }) => event_type)).toEqual(expect.arrayContaining(['early', 'page_view', 'late']));
  });

  test('never throw for arguments of any type', async () => {
    await page.goto(`${site.url}/silent`);
    await page.evaluate(`
      const circle = {};
      circle.circle = circle;
      service.track('circle', circle);
      service.track();
      service.identify(Symbol('x'));
      service.choice('x');
      service.push();
      service.push(['nonsense']);
    `);
  });

  test('record no exposure without a variant', async () => {
    await page.goto(`${site.url}/scripted`);
    expect(await call('choice', 'x', [])).toBeUndefined();
    expect(await call('choice', 'x', ['a'], { weights: [0] })).toBeUndefined();
    await call('track', 'done');
    await call('flush');
    expect((await posted(1))[0]?.body.events).toMatchObject([{ event_type: 'done' }]);
  });

  test('record an exposure whose properties could not be serialized by the next choice', async () => {
    await page.goto(`${site.url}/scripted`);
    await page.evaluate(`
      const circle = {};
      circle.circle = circle;
      service.choice('x', ['a'], { version: circle });
    `);
    expect(await call('choice', 'x', ['a'])).toBe('a');
    await call('flush');
    expect((await posted(1))[0]?.body.events).toMatchObject([{ event_type: 'service.exposure' }]);
  });

  test('choose the same variant on every page and record it once per session', async () => {
    await page.clock.install();
    await page.goto(`${site.url}/silent`);
    const variants = ['control', 'blue', 'green'];
    const chosen = await call('choice', 'color', variants, { weights: [1, 2, 1], version: 3 });
    expect(await call('choice', 'color', variants, { weights: [1, 2, 1], version: 3 })).toBe(chosen);
    await page.reload();
    expect(await call('choice', 'color', variants, { weights: [1, 2, 1], version: 3 })).toBe(chosen);
    await call('flush');
    await stored(1);
    await page.clock.fastForward('31:00');
    expect(await call('choice', 'color', variants, { weights: [1, 2, 1], version: 3 })).toBe(chosen);
    await call('flush');
    const [first, second] = await stored(2);
    expect(first?.ep_str).toMatchObject({
      choice_key: 'color',
      variant_key: chosen,
      environment: 'production',
      randomization_unit: 'device_id',
      assignment_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(second).toMatchObject({ event_type: 'service.exposure', device_id: first?.device_id });
    expect(second?.session_id).not.toBe(first?.session_id);
  });
});

test('GET /public/service.js is compressed, cacheable, and has a source map', async () => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${processes.url}/public/${path}`, { headers });
  const script = await get('service.js', { 'Accept-Encoding': 'gzip' });
  const text = await script.text();
  expect(script.headers.get('content-encoding')).toBe('gzip');
  expect(script.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  expect(script.headers.get('cache-control')).toContain('max-age=3600');
  const mapName = script.headers.get('sourcemap') ?? '';
  expect(await (await get(mapName)).json()).toMatchObject({ version: 3 });
  const hashed = await get(mapName.replace('.map', ''));
  expect(hashed.headers.get('cache-control')).toContain('immutable');
  expect(await hashed.text()).toBe(text);
  const etag = script.headers.get('etag') ?? '';
  expect(
    (await get('service.js', { 'If-None-Match': etag, 'Accept-Encoding': 'gzip', 'Cache-Control': 'max-age=0' }))
      .status,
  ).toBe(304);
});
