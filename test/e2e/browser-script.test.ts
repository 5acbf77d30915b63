// The browser script in a real browser, against the real processes or, for specific responses, a
// scripted server. The site has another origin than the service.
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildBrowserScript } from '../../clients/browser/build.mjs';
import type { NewProject } from '../../src/accounts/store.js';
import { eventually } from '../support/eventually.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, type EventStore, openEventStore } from '../support/track.js';

let databases: TestDatabases;
let processes: ProcessGroup;
let store: EventStore;
let project: NewProject;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let site: ScriptedServer;
/** Errors that the page reports; the script must not add any. */
let complaints: string[];

beforeAll(async () => {
  databases = await createTestDatabases();
  store = openEventStore(databases);
  processes = await startProcesses(databases.env, ['worker', 'web']);
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
});

afterAll(async () => {
  await browser?.close();
  await processes?.stop();
  await store?.client.close();
  await databases?.close();
});

beforeEach(async () => {
  project = await createTestProject(databases);
  site = await startScriptedServer();
  site.pages.set('/shop', documentWith(''));
  site.pages.set('/silent', documentWith('data-auto="false"'));
  site.pages.set('/scripted', documentWith(`data-auto="false" data-host="${site.url}"`));
  context = await browser.newContext();
  complaints = [];
  page = await openPage();
});

afterEach(async () => {
  await context.close();
  await site.close();
  expect(complaints).toEqual([]);
});

function documentWith(attributes: string, stub = ''): string {
  const script = `<script src="${processes.url}/public/service.js" data-key="${project.publicKey}" ${attributes}></script>`;
  return `<!doctype html><title>Shop</title><link rel="icon" href="data:,">${stub}${script}`;
}

async function openPage(): Promise<Page> {
  const opened = await context.newPage();
  opened.on('pageerror', (error) => complaints.push(error.message));
  return opened;
}

/** Calls a function of the script in the page. */
const call = (name: string, ...args: unknown[]): Promise<unknown> =>
  page.evaluate(`service.${name}(...${spell(args)})`);

const spell = (args: readonly unknown[]): string =>
  `[${args.map((arg) => (Number.isNaN(arg) ? 'NaN' : (JSON.stringify(arg) ?? 'undefined')))}]`;

interface StoredEvent {
  readonly event_type: string;
  readonly path: string;
  readonly device_id: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly ep_str: Readonly<Record<string, string>>;
}

/** The events of the project in the order of their times, once there are as many. */
async function stored(count: number): Promise<StoredEvent[]> {
  return eventually(async () => {
    const rows = await store.rows<StoredEvent & { time: string }>(
      project.id,
      'event_type, path, device_id, user_id, session_id, ep_str, time',
    );
    if (rows.length < count) throw new Error(`${rows.length} of ${count} events are stored`);
    return rows.sort((a, b) => (a.time < b.time ? -1 : 1));
  }, 30_000);
}

const posted = (count: number) =>
  eventually(() => {
    if (site.requests.length < count) throw new Error(`${site.requests.length} of ${count} requests came`);
    return site.requests;
  });

const storageOf = () => page.evaluate<Record<string, string>>('({ ...localStorage, ...sessionStorage })');

describe('page views', () => {
  test('say what a page is and where its visitor comes from', async () => {
    await page.goto(`${site.url}/shop/shoes?utm_source=news&utm_campaign=&gclid=g1&size=5`, {
      referer: 'https://search.example:8443/q',
    });
    await call('flush');
    await stored(1);
    const columns = `event_type, url, path, hostname, title, referrer, referrer_domain, utm_source, gclid, language,
      timezone, library, ingest_origin, ep_str['viewport'] AS viewport, mapContains(ep_str, 'utm_campaign') AS empty`;
    expect(await store.rows(project.id, columns)).toEqual([
      {
        event_type: 'page_view',
        url: `${site.url}/shop/shoes?utm_source=news&utm_campaign=&gclid=g1&size=5`,
        path: '/shop/shoes',
        hostname: '127.0.0.1',
        title: 'Shop',
        referrer: 'https://search.example:8443/q',
        referrer_domain: 'search.example',
        utm_source: 'news',
        gclid: 'g1',
        language: 'en-US',
        timezone: expect.stringMatching(/./),
        library: expect.stringMatching(/^service-js\/\d+\.\d+\.\d+$/),
        ingest_origin: 'client',
        viewport: '1280x720',
        empty: 0,
      },
    ]);
  });

  test('follow the address through the history, once for each', async () => {
    await page.goto(`${site.url}/shop`);
    for (const [change, address] of [
      ['pushState', '/shop/a'],
      ['replaceState', '/shop/a'],
      ['replaceState', '/shop/b'],
      ['pushState', '/shop/b#reviews'],
      ['pushState', '/shop/b#/route'],
    ] as const) {
      await page.evaluate(`history.${change}({}, '', '${address}')`);
      await page.waitForTimeout(50);
    }
    await page.evaluate('history.go(-2)');
    await page.waitForTimeout(50);
    await call('flush');
    const views = await stored(5);
    expect(views.map(({ ep_str }) => ep_str.previous_url?.slice(site.url.length))).toEqual([
      undefined,
      '/shop',
      '/shop/a',
      '/shop/b',
      '/shop/b#/route',
    ]);
  });

  test('of a page that comes back out of memory', async () => {
    await page.goto(`${site.url}/shop`);
    await page.evaluate('window.isSame = true; 1');
    await page.goto('about:blank');
    await page.goBack({ waitUntil: 'commit' });
    expect(await page.evaluate('window.isSame')).toBe(true);
    await call('flush');
    expect(await stored(2)).toHaveLength(2);
  });

  test('not of a page that is loaded ahead, until it is visited', async () => {
    // This browser does not prerender under automation, so the page simulates it.
    const ahead = "Object.defineProperty(document, 'prerendering', { get: () => !window.isVisited });";
    await page.addInitScript({ content: ahead });
    await page.goto(`${site.url}/shop`);
    await page.waitForLoadState();
    await call('track', 'ahead');
    await page.evaluate("isVisited = true; document.dispatchEvent(new Event('prerenderingchange'))");
    await call('flush');
    expect((await stored(2)).map(({ event_type }) => event_type)).toEqual(['ahead', 'page_view']);
  });

  test.each([
    ['data-spa', 1],
    ['data-auto', 0],
  ])('without %s', async (attribute, views) => {
    site.pages.set('/less', documentWith(`${attribute}="false"`));
    await page.goto(`${site.url}/less`);
    await page.evaluate("history.pushState({}, '', '/less/more')");
    await page.waitForTimeout(50);
    await call('track', 'done');
    await call('flush');
    expect((await stored(views + 1)).filter(({ event_type }) => event_type === 'page_view')).toHaveLength(views);
  });
});

describe('what is kept', () => {
  test('the device across reloads and tabs, the session in its tab for 30 minutes', async () => {
    await page.clock.install({ time: Date.now() - 3_600_000 });
    await page.goto(`${site.url}/silent`);
    await call('track', 'first');
    await page.clock.fastForward('29:00');
    await page.reload();
    await call('track', 'second');
    await page.clock.fastForward('30:01');
    await call('track', 'third');
    await call('flush');
    page = await openPage();
    await page.goto(`${site.url}/silent`);
    await call('track', 'tab');
    await call('flush');
    const events = await stored(4);
    const [first, second, third, tab] = events;
    expect(new Set(events.map(({ device_id }) => device_id)).size).toBe(1);
    expect(first?.device_id).toMatch(/^[\w-]{22,}$/);
    expect(second?.session_id).toBe(first?.session_id);
    expect(new Set([first, third, tab].map((event) => event?.session_id)).size).toBe(3);
  });

  test('the user, in every tab, until reset makes a new device', async () => {
    await page.goto(`${site.url}/scripted?utm_source=news`);
    const other = await openPage();
    await other.goto(`${site.url}/scripted`);
    await call('identify', 'ada', { plan: 'pro' }, { $add: { logins: 1 } });
    page = other;
    await call('track', 'known');
    await call('reset');
    await call('track', 'stranger');
    await call('flush');
    const requests = await posted(2);
    const identify = requests.find(({ path }) => path === '/identify')?.body;
    const events = requests.filter(({ path }) => path === '/track').flatMap(({ body }) => body.events);
    expect(identify).toEqual({
      user_id: 'ada',
      device_id: events[0].device_id,
      user_properties: { plan: 'pro' },
      user_property_ops: { $add: { logins: 1 }, $set_once: { initial_utm_source: 'news' } },
    });
    expect(events.map(({ event_type, user_id }) => [event_type, user_id])).toEqual([
      ['known', 'ada'],
      ['stranger', undefined],
    ]);
    expect(events[1].device_id).not.toBe(events[0].device_id);
    expect(events[1].session_id).not.toBe(events[0].session_id);
  });

  test('nothing of an identify without a user, and the attribution only once', async () => {
    await page.goto(`${site.url}/scripted?utm_source=news`);
    for (const noUser of ['', null, undefined, 'null', Number.NaN, {}]) await call('identify', noUser);
    expect((await storageOf()).service_uid).toBeUndefined();
    await call('identify', 'ada');
    await call('identify', 7);
    await call('flush');
    expect((await posted(2)).map(({ body }) => [body.user_id, body.user_property_ops])).toEqual([
      ['ada', { $set_once: { initial_utm_source: 'news' } }],
      ['7', { $set_once: {} }],
    ]);
  });

  test.each([
    ['forbidden', "Object.defineProperty(window, 'localStorage', { get() { throw new Error('forbidden'); } });"],
    ['full', "for (let n = 1 << 23; n > 0; n >>= 1) try { localStorage['x' + n] = 'x'.repeat(n); } catch {}"],
  ])('by the page alone when storage is %s', async (_, spoil) => {
    await page.addInitScript({ content: spoil });
    await page.goto(`${site.url}/silent`);
    await call('track', 'one');
    await call('track', 'two');
    await call('flush');
    const [one, two] = await stored(2);
    expect(one?.device_id).toMatch(/^[\w-]{22,}$/);
    expect(two).toMatchObject({ device_id: one?.device_id, session_id: one?.session_id });
  });
});

describe('consent', () => {
  test('asked for: nothing is stored or sent before it is given, and nothing after it is taken back', async () => {
    site.pages.set('/asking', documentWith(`data-consent="true" data-host="${site.url}"`));
    await page.goto(`${site.url}/asking?utm_source=news`);
    await call('track', 'early');
    await call('identify', 'ada');
    expect(await call('choice', 'color', ['red', 'blue'])).toBe('red');
    await call('flush');
    expect(await storageOf()).toEqual({});

    await call('optIn');
    await call('track', 'allowed');
    await call('flush');
    await call('choice', 'color', ['red', 'blue']);
    await call('track', 'late');
    await call('optOut');
    await call('track', 'later');
    expect(await storageOf()).toEqual({ service_consent: 'false' });
    await page.reload();
    await call('flush');
    expect(site.requests.flatMap(({ body }) => body.events).map(({ event_type }) => event_type)).toEqual([
      'page_view',
      'allowed',
    ]);
  });
});

describe('sending', () => {
  test('ten at once, fewer after two seconds, what is left when the page is closed', async () => {
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

  test('outlives the page, also when the browser has not come to it yet', async () => {
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
    ['a request where there are no beacons', 'navigator.sendBeacon = undefined', 'cors'],
    ['a request where the browser takes no more beacons', 'navigator.sendBeacon = () => false', 'cors'],
  ])('of what is left is by %s', async (_, spoil, mode) => {
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

  test('keeps to what browsers take from a page that is closed, in bytes', async () => {
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

  test('goes by other names through a proxy of the site', async () => {
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

  test('continues when the network is back', async () => {
    await page.goto(`${site.url}/silent`);
    await context.setOffline(true);
    for (let n = 0; n < 25; n += 1) await call('track', 'offline');
    await page.waitForTimeout(500);
    expect(await store.count(project.id)).toBe(0);
    await context.setOffline(false);
    await eventually(async () => expect(await store.count(project.id)).toBe(25));
  });

  test('is repeated after 1, 2 and 4 seconds with the same bytes, then reported as lost', async () => {
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

  test('waits as long as it is told to, a minute at most, and is not repeated when it is refused', async () => {
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

  test('holds 10,000 events and says what is lost beyond', async () => {
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
  const noteErrors = () =>
    page.evaluate(
      "window.noted = []; service.onError = (problem) => { noted.push(problem); throw new Error('again'); }; 1",
    );
  const errors = () => page.evaluate('noted');
});

describe('calls', () => {
  test('that were noted before the script came are made, in their order', async () => {
    const stub =
      "<script>(window.service = window.service || []).push(['track', 'early', { n: 1 }]); const kept = service;</script>";
    site.pages.set('/stubbed', documentWith('', stub));
    await page.goto(`${site.url}/stubbed`);
    await page.evaluate("kept.push(['track', 'late'])");
    await call('flush');
    const events = await stored(3);
    expect(events.map(({ event_type }) => event_type)).toEqual(expect.arrayContaining(['early', 'page_view', 'late']));
  });

  test('never throw, for arguments of any type', async () => {
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
    expect(await call('choice', 'x', [])).toBeUndefined();
  });

  test('a choice is the same on every page, and recorded once in a session', async () => {
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

test('the script is served compressed, cached by its name, and with its sources', async () => {
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
