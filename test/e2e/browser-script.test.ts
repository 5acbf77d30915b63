// The browser script in a real browser, against the real processes: page views, stored state, and
// consent. The site has another origin than the service.

import { describe, expect, test } from 'vitest';
import { launchChromium } from '../support/browser.js';
import {
  call,
  documentWith,
  openPage,
  openPageForEachTest,
  page,
  posted,
  project,
  site,
  storageOf,
  store,
  stored,
  switchTo,
} from '../support/browser-page.js';
import { examplesOf } from '../support/documentation.js';
import { eventually } from '../support/eventually.js';

openPageForEachTest(launchChromium);

describe('page views of the browser script', () => {
  test('contain the page, its referrer and its campaign', async () => {
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

  test('are sent once for each address of the history API', async () => {
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

  test('are sent once where the tag of the script runs twice', async () => {
    site.pages.set('/twice', documentWith(`data-host="${site.url}"`, documentWith(`data-host="${site.url}"`)));
    await page.addInitScript({ content: 'window.sent = []; navigator.sendBeacon = (_, body) => sent.push(body);' });
    await page.goto(`${site.url}/twice`);
    await page.evaluate("history.pushState({}, '', '/twice/more')");
    await page.waitForTimeout(50);
    await page.evaluate("dispatchEvent(new Event('pagehide'))");
    const bodies = await page.evaluate<string[]>('sent');
    const urls = bodies.flatMap((body) => JSON.parse(body).events).map(({ event_properties: { url } }) => url);
    expect(urls).toEqual([`${site.url}/twice`, `${site.url}/twice/more`]);
  });

  test('are sent for a page restored from the back-forward cache', async () => {
    await page.goto(`${site.url}/shop`);
    await page.evaluate('window.isSame = true; 1');
    await page.goto('about:blank');
    await page.goBack({ waitUntil: 'commit' });
    expect(await page.evaluate('window.isSame')).toBe(true);
    await call('flush');
    expect(await stored(2)).toHaveLength(2);
  });

  test('are not sent for a prerendered page before it is visited', async () => {
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
  ])('follow the setting %s="false"', async (attribute, views) => {
    site.pages.set('/less', documentWith(`${attribute}="false"`));
    await page.goto(`${site.url}/less`);
    await page.evaluate("history.pushState({}, '', '/less/more')");
    await page.waitForTimeout(50);
    await call('track', 'done');
    await call('flush');
    expect((await stored(views + 1)).filter(({ event_type }) => event_type === 'page_view')).toHaveLength(views);
  });

  test('are not sent again when the address changes before the page has loaded', async () => {
    const change = "<script>history.replaceState({}, '', '/replaced')</script>";
    site.pages.set('/replacing', documentWith('data-spa="false"') + change);
    await page.goto(`${site.url}/replacing?utm_source=news`);
    await call('track', 'done');
    await call('flush');
    expect((await stored(2)).map(({ event_type }) => event_type)).toEqual(['page_view', 'done']);
  });

  test('are stored also when the address is longer than a value may be', async () => {
    await page.goto(`${site.url}/shop#/${'x'.repeat(9000)}`);
    await call('flush');
    await call('track', 'done');
    await call('flush');
    expect((await stored(2)).map(({ event_type }) => event_type)).toEqual(['page_view', 'done']);
  });
});

describe('state of the browser script', () => {
  test('keeps the device across reloads and tabs, and the session in its tab for 30 minutes', async () => {
    await page.clock.install({ time: Date.now() - 3_600_000 });
    await page.goto(`${site.url}/silent`);
    await call('track', 'first');
    await page.clock.fastForward('29:00');
    await page.reload();
    await call('track', 'second');
    await page.clock.fastForward('30:01');
    await call('track', 'third');
    await call('flush');
    switchTo(await openPage());
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

  test('begins a session when the clock of the device is set back', async () => {
    const now = Date.now();
    await page.clock.install({ time: now });
    await page.goto(`${site.url}/silent`);
    await call('track', 'ahead');
    await page.clock.setSystemTime(now - 7_200_000);
    await call('track', 'right');
    await page.clock.fastForward('29:00');
    await call('track', 'later');
    await call('flush');
    const [right, later, ahead] = await stored(3);
    expect(right?.session_id).not.toBe(ahead?.session_id);
    expect(later?.session_id).toBe(right?.session_id);
  });

  test('keeps the user in every tab until reset() makes a new device', async () => {
    await page.goto(`${site.url}/scripted?utm_source=news`);
    const other = await openPage();
    await other.goto(`${site.url}/scripted`);
    await call('identify', 'ada', { plan: 'pro' }, { $add: { logins: 1 } });
    switchTo(other);
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
    for (const { session_id } of events) expect(session_id).toMatch(/^[\w-]{22,}$/);
  });

  test('ignores identify() without a user and sends the attribution once', async () => {
    await page.goto(`${site.url}/scripted?utm_source=news`);
    for (const noUser of ['', null, undefined, 'null', Number.NaN, {}, false, true]) await call('identify', noUser);
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
  ])('is held by the page only when storage is %s', async (_, spoil) => {
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

describe('consent in the browser script', () => {
  test('stores and sends nothing before consent is given or after it is withdrawn', async () => {
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

  test("the documented links leave out one's own visits, and count them again", async () => {
    const [links = ''] = examplesOf('tracking.md', 'html').filter((example) => example.includes('optOut'));
    site.pages.set('/team', documentWith(`data-host="${site.url}"`, links));
    await page.goto(`${site.url}/team`);
    await call('flush');
    await page.click('text=do not count my visits');
    // A link of this kind runs after the click has ended.
    await eventually(async () => expect(await storageOf()).toEqual({ service_consent: 'false' }));
    await page.goto(`${site.url}/scripted`);
    await call('track', 'own');
    await call('flush');
    expect(await storageOf()).toEqual({ service_consent: 'false' });
    await page.goto(`${site.url}/team`);
    await page.click('text=count them again');
    await eventually(async () => expect(await storageOf()).toMatchObject({ service_consent: 'true' }));
    await call('track', 'back');
    await call('flush');
    const types = site.requests.flatMap(({ body }) => body.events).map(({ event_type }) => event_type);
    expect(types).toEqual(['page_view', 'page_view', 'back']);
  });
});
