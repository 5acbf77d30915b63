// The official SDKs of other products send to the service with one changed host: what a query lists
// equals what was called, and retries double nothing.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { createInstance, Identify, Revenue, type Types } from '@amplitude/analytics-node';
import RudderAnalytics from '@rudderstack/rudder-sdk-node';
import { Analytics, type Context } from '@segment/analytics-node';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { eventually } from '../support/eventually.js';
import { type SdkPages, startSdkPages } from '../support/sdk-pages.js';
import {
  FAULTS,
  membersOf,
  recordMembers,
  type SdkProject,
  type SdkService,
  startSdkService,
} from '../support/sdk-service.js';
import type { Fault } from '../support/unreliable-proxy.js';

let service: SdkService;
let project: SdkProject;

beforeAll(async () => {
  service = await startSdkService();
});

afterAll(() => service?.close());

beforeEach(async () => {
  project = await service.createProject();
});

test('@rudderstack/rudder-sdk-node: every call, and what failed is repeated once', async () => {
  const analytics = new RudderAnalytics(project.publicKey, { dataPlaneUrl: service.proxy.url, flushAt: 100 });
  const finish = () => new Promise<void>((resolve, reject) => void analytics.flush((e) => (e ? reject(e) : resolve())));
  analytics.identify({ userId: 'ada', anonymousId: 'd1', traits: { plan: 'pro' } });
  analytics.track({ userId: 'ada', event: 'Signed Up', properties: { price: 9.5 } });
  analytics.page({ anonymousId: 'd1', name: 'Start', properties: { url: 'https://x.test/a' } });
  analytics.screen({ userId: 'ada', name: 'Home' });
  analytics.group({ userId: 'ada', groupId: 'acme', traits: { size: 12 } });
  analytics.alias({ userId: 'ada', previousId: 'old-device' });
  await finish();
  for (const fault of FAULTS) {
    service.proxy.faults.push(fault);
    analytics.track({ userId: 'ada', event: `after ${fault}` });
    await finish();
  }
  expect(await project.listed(6)).toMatchObject([
    { event_type: 'Signed Up', user_id: 'ada', event_properties: { price: 9.5 } },
    ...['after 429', 'after 503', 'after cut'].map((type) => ({ event_type: type, user_id: 'ada' })),
    { event_type: 'page_view', device_id: 'd1', event_properties: { name: 'Start', url: 'https://x.test/a' } },
    { event_type: 'screen_view', user_id: 'ada', event_properties: { name: 'Home' } },
  ]);
});

describe('@segment/analytics-node', () => {
  const connect = (host = service.proxy.url) =>
    new Analytics({ writeKey: project.publicKey, host, maxRetries: 5, flushAt: 100 });

  test('every call', async () => {
    const { client: analytics, used } = recordMembers(connect());
    const heard: string[] = [];
    const hear = (_: unknown, { event }: { event?: string } = {}) => heard.push(event ?? '');
    analytics.on('track', () => heard.push('on'));
    analytics.once('track', () => heard.push('once'));
    analytics.on('call_after_close', hear);
    analytics.off('call_after_close', hear);
    await analytics.ready;
    const version = '1';
    const marked = (ctx: Context) => {
      ctx.updateEvent('properties.marked', true);
      return ctx;
    };
    const noop = async () => undefined;
    await analytics.register({
      ...{ name: 'marker', type: 'enrichment', version, isLoaded: () => true, load: noop, track: marked },
    });
    analytics.track({ userId: 'ada', event: 'Marked' });
    await analytics.flush();
    await analytics.deregister('marker');
    analytics.identify({ userId: 'ada', anonymousId: 'd1', traits: { plan: 'pro', seats: 3 } });
    analytics.track({ userId: 'ada', event: 'Signed Up', properties: { price: 9.5, trial: true, nothing: null } });
    analytics.page({ anonymousId: 'd1', category: 'Docs', name: 'Start', properties: { url: 'https://x.test/a?b=1' } });
    analytics.screen({ userId: 'ada', name: 'Home', properties: { tab: 'one' } });
    analytics.group({ userId: 'ada', groupId: 'acme', traits: { size: 12 } });
    analytics.alias({ userId: 'ada', previousId: 'old-device' });
    analytics.track({ anonymousId: 'old-device', event: 'Before', timestamp: new Date(Date.now() - 3_600_000) });
    await analytics.closeAndFlush();
    expect(heard).toEqual(['on', 'once', 'on', 'on']);
    expect(await project.listed(5)).toMatchObject([
      { event_type: 'Before', device_id: 'old-device' },
      { event_type: 'Marked', user_id: 'ada', event_properties: { marked: true } },
      { event_type: 'Signed Up', user_id: 'ada', event_properties: { price: 9.5, trial: true, nothing: null } },
      { event_type: 'page_view', device_id: 'd1', event_properties: { name: 'Start', category: 'Docs' } },
      { event_type: 'screen_view', user_id: 'ada', event_properties: { name: 'Home', tab: 'one' } },
    ]);
    await eventually(async () => {
      expect(await project.list('* | unique distinct_id | last 30d')).toMatchObject([{ value: 1 }]);
      expect(await project.list('users | where user.plan = "pro" and user.group_id = "acme" | list')).toHaveLength(1);
    });
    expect(membersOf(Analytics.prototype).filter((name) => !used.has(name) && name !== 'VERSION')).toEqual([]);
  });

  test('repeats what failed, and doubles nothing', async () => {
    const analytics = connect();
    for (const fault of FAULTS) {
      service.proxy.faults.push(fault);
      analytics.track({ userId: 'ada', event: `after ${fault}` });
      await analytics.flush();
    }
    for (let n = 0; n < 40; n += 1) analytics.track({ userId: 'ada', event: 'at exit' });
    await analytics.closeAndFlush();
    const rows = await project.listed(43);
    expect(new Set(rows.map(({ insert_id: id }) => id)).size).toBe(43);
  });
});

const REVENUE = {
  ...{ $price: 3, $quantity: 2, $productId: 'p', $revenue: 6, $revenueType: 'sale', $currency: 'EUR' },
  ...{ $receipt: 'r', $receiptSig: 's', n: 1 },
};

test('@amplitude/analytics-node: every call, and what was refused is repeated once', async () => {
  const { client: amplitude, used } = recordMembers(createInstance());
  const options = { serverUrl: `${service.proxy.url}/2/httpapi`, flushIntervalMillis: 10, flushMaxRetries: 5 };
  await amplitude.init(project.publicKey, { ...options, logLevel: 0 }).promise;
  amplitude.identify(new Identify().set('plan', 'pro').setOnce('first', 'mail').add('visits', 1), { user_id: 'ada' });
  amplitude.track('Signed Up', { price: 9.5, trial: true }, { user_id: 'ada', device_id: 'd1' });
  const revenue = new Revenue()
    .setProductId('p')
    .setPrice(3)
    .setQuantity(2)
    .setRevenue(6)
    .setRevenueType('sale')
    .setCurrency('EUR')
    .setReceipt('r')
    .setReceiptSig('s')
    .setEventProperties({ n: 1 });
  amplitude.revenue(revenue, { user_id: 'ada' });
  const skipped = new Identify()
    .append('tags', 'a')
    .prepend('tags', 'b')
    .preInsert('tags', 'c')
    .postInsert('tags', 'd');
  amplitude.identify(skipped.remove('tags', 'a'), { user_id: 'ada' });
  amplitude.identify(new Identify().clearAll(), { user_id: 'ada' });
  amplitude.identify(new Identify().set('trial', 'yes'), { user_id: 'eve' });
  await amplitude.flush().promise;
  amplitude.identify(new Identify().unset('trial').set('plan', 'free'), { user_id: 'eve' });
  const marker = { name: 'marker', type: 'enrichment' as const, setup: async () => undefined };
  const execute = async (event: Types.Event) => ({
    ...event,
    event_properties: { ...event.event_properties, marked: true },
  });
  await amplitude.add({ ...marker, execute }).promise;
  await amplitude.logEvent('Logged', { n: 1 }, { user_id: 'ada' }).promise;
  await amplitude.remove('marker').promise;
  amplitude.setOptOut(true);
  amplitude.track('while opted out', undefined, { user_id: 'ada' });
  amplitude.setOptOut(false);
  amplitude.setGroup('company', 'acme', { user_id: 'ada' });
  amplitude.groupIdentify('company', 'acme', new Identify().set('size', 12), { user_id: 'ada' });
  await amplitude.flush().promise;
  const sent = [];
  for (const fault of FAULTS) {
    service.proxy.faults.push(fault);
    sent.push(await amplitude.track(`after ${fault}`, undefined, { user_id: 'ada' }).promise);
  }
  for (let n = 0; n < 10; n += 1) sent.push(amplitude.track('at exit', undefined, { user_id: 'ada' }).promise);
  await amplitude.flush().promise;
  // The SDK reports a broken connection, and does not repeat.
  expect((await Promise.all(sent)).map(({ code }) => code)).toEqual([200, 200, 0, ...Array(10).fill(200)]);
  expect((await project.listed(16)).filter(({ event_type: type }) => type !== 'at exit')).toMatchObject([
    { event_type: 'Logged', user_id: 'ada', event_properties: { n: 1, marked: true } },
    { event_type: 'Signed Up', user_id: 'ada', device_id: 'd1', event_properties: { price: 9.5, trial: true } },
    ...['after 429', 'after 503', 'after cut'].map((type) => ({ event_type: type, user_id: 'ada' })),
    { event_type: 'revenue_amount', user_id: 'ada', event_properties: REVENUE },
  ]);
  await eventually(async () => {
    expect(await project.list('users | where user.plan = "pro" and user.visits = 1 | list')).toHaveLength(1);
    expect(await project.list('users | where user.plan = "free" and user.trial not exists | list')).toHaveLength(1);
  });
  expect(membersOf(amplitude).filter((name) => !used.has(name))).toEqual([]);
});

test('a project that refuses other SDKs answers 403', async () => {
  const postgres = createPostgres(service.databases.config);
  await postgres('projects').where({ id: project.id }).update({ other_sdks: false });
  await postgres.destroy();
  const [key, headers] = [project.publicKey, { 'Content-Type': 'text/plain' }];
  for (const [path, body] of [
    ['/v1/t', { writeKey: key, event: 'a', anonymousId: 'd' }],
    ['/e/', [{ event: 'a', distinct_id: 'd', properties: { token: key } }]],
    ['/2/httpapi', { api_key: key, events: [{ event_type: 'a', device_id: 'd' }] }],
  ] as const) {
    const answer = await fetch(service.processes.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect([path, answer.status]).toEqual([path, 403]);
  }
});

test.each([
  ['segment', '{"success":true}'],
  ['posthog', '{"status":"Ok"}'],
  ['amplitude', '{"code":200,"events_ingested":1'],
])('the command of docs/moving-in/%s.md stores an event', async (name, answer) => {
  const page = await readFile(`docs/moving-in/${name}.md`, 'utf8');
  const [, command = ''] = /```sh\n(curl [\s\S]*?)```/.exec(page) ?? [];
  const script = command
    .replace('https://analytics.example.com', service.processes.url)
    .replace('pk_…', project.publicKey);
  const { stdout } = await promisify(execFile)('bash', ['-c', script]);
  expect(stdout).toContain(answer);
  expect(page).toContain(answer);
  expect(await project.listed(1)).toMatchObject([
    { event_type: 'Signed Up', user_id: 'ada', event_properties: { plan: 'pro' } },
  ]);
});

test('bodies are read by their bytes, within the limit of /track', async () => {
  const url = `${service.processes.url}/e/`;
  const zipped = (text: string) => ({
    method: 'POST',
    headers: { 'Content-Type': 'text/plain' },
    body: gzipSync(text),
  });
  const event = { event: 'a', distinct_id: 'ada', properties: { token: project.publicKey, pad: '' } };
  expect((await fetch(url, zipped(JSON.stringify(event)))).status).toBe(200);
  const bomb = await fetch(url, zipped(JSON.stringify({ ...event, pad: 'x'.repeat(6 * 1024 * 1024) })));
  expect(bomb.status).toBe(413);
  // Large enough for a thread.
  const events = Array.from({ length: 1500 }, (_, n) => ({
    ...event,
    uuid: `u${n}`,
    properties: { ...event.properties, n, pad: 'x'.repeat(100) },
  }));
  expect((await fetch(url, zipped(JSON.stringify(events)))).status).toBe(200);
  await eventually(async () => expect(await project.list('a | count | last 30d')).toMatchObject([{ value: 1501 }]));
});

describe('in a browser', () => {
  let pages: SdkPages;

  beforeAll(async () => {
    pages = await startSdkPages();
  });

  afterAll(() => pages?.close());

  /** Runs a script for each fault, which the next request then meets. */
  async function withFaults(page: Page, faults: readonly Fault[], scriptFor: (type: string) => string): Promise<void> {
    for (const fault of faults) {
      service.proxy.faults.push(fault);
      await page.evaluate(scriptFor(JSON.stringify(`after ${fault}`)));
      await eventually(() => expect(service.proxy.faults).toEqual([]));
    }
  }

  const idsOf = (rows: readonly Readonly<Record<string, unknown>>[]) => new Set(rows.map(({ insert_id: id }) => id));

  test('@segment/analytics-next: every call', async () => {
    const page = await pages.openWith('@segment/analytics-next');
    const settings = JSON.stringify({ writeKey: project.publicKey, cdnURL: service.proxy.url });
    await page.evaluate(`(async () => {
      globalThis.recorded = (${recordMembers.toString()})(sdk.AnalyticsBrowser.load(${settings}));
      const { client: analytics } = recorded;
      const heard = [];
      const hear = (event) => heard.push(event);
      await analytics.ready();
      analytics.on('track', hear);
      analytics.once('page', () => heard.push('page'));
      analytics.off('page', hear);
      await analytics.debug(false);
      await analytics.addSourceMiddleware(({ payload, next }) => {
        payload.obj.properties = { ...payload.obj.properties, marked: true };
        next(payload);
      });
      const plugin = { name: 'none', type: 'utility', version: '1', isLoaded: () => true, load: async () => undefined };
      await analytics.register(plugin);
      await analytics.deregister('none');
      await analytics.addDestinationMiddleware('none', ({ payload, next }) => next(payload));
      await analytics.page('Docs', 'Start');
      await analytics.pageView('/docs/start');
      await analytics.identify('ada', { plan: 'pro' });
      await analytics.track('Signed Up', { price: 9.5 });
      await analytics.group('acme', { size: 12 });
      await analytics.alias('eve');
      await analytics.screen('Home');
      const form = document.body.appendChild(document.createElement('form'));
      form.target = '_blank';
      const link = document.body.appendChild(document.createElement('a'));
      link.href = '#below';
      await analytics.trackSubmit(form, 'Form Sent', { n: 1 });
      await analytics.trackLink(link, 'Link Clicked', { n: 2 });
      form.dispatchEvent(new Event('submit', { cancelable: true }));
      link.click();
      const second = document.body.appendChild(document.createElement('a'));
      second.href = '#further';
      await analytics.trackClick(second, 'Second Clicked');
      second.click();
      if ((await analytics.user()).id() !== 'ada') throw new Error('the user is not known');
      if (!heard.includes('Signed Up') || !heard.includes('page')) throw new Error(heard.join());
      await analytics.reset();
      await analytics.setAnonymousId('device-2');
      await analytics.track('Signed Out');
    })()`);
    const known = await page.evaluate<string[]>('Object.keys(recorded.client)');
    const used = new Set(await page.evaluate<string[]>('[...recorded.used]'));
    expect(known.filter((name) => !used.has(name) && !name.startsWith('_'))).toEqual(['VERSION', 'instance', 'ctx']);
    const rows = await project.listed(8);
    expect(rows).toMatchObject([
      { event_type: 'Form Sent', user_id: 'ada', event_properties: { n: 1 } },
      { event_type: 'Link Clicked', user_id: 'ada', event_properties: { n: 2 } },
      { event_type: 'Second Clicked', user_id: 'ada' },
      { event_type: 'Signed Out', device_id: 'device-2', event_properties: { title: 'Shop', marked: true } },
      { event_type: 'Signed Up', user_id: 'ada', event_properties: { price: 9.5, title: 'Shop' } },
      { event_type: 'page_view' },
      { event_type: 'page_view' },
      { event_type: 'screen_view', event_properties: { name: 'Home' } },
    ]);
    const start = { name: 'Start', category: 'Docs', url: pages.url };
    expect(rows).toContainEqual(expect.objectContaining({ event_properties: expect.objectContaining(start) }));
    await eventually(async () =>
      expect(await project.list('* | where device_id != "device-2" | unique distinct_id | last 30d')).toMatchObject([
        { value: 1 },
      ]),
    );
  });

  test('@segment/analytics-next: what failed is repeated once, and leaving the page loses nothing', async () => {
    const name = '@segment/analytics-next';
    const page = await pages.openWith(name);
    const settings = JSON.stringify({ writeKey: project.publicKey, cdnURL: service.proxy.url });
    const connect = () =>
      page.evaluate(`(async () => {
        globalThis.analytics = sdk.AnalyticsBrowser.load(${settings});
        await analytics.ready();
      })()`);
    await connect();
    await withFaults(page, FAULTS, (type) => `void analytics.track(${type})`);
    await project.listed(3);
    // The SDK keeps what was not answered for the next visit.
    service.proxy.faults.push(503, 'cut', 503, 'cut', 503);
    await page.evaluate(`for (let n = 0; n < 5; n += 1) void analytics.track('at exit', { n })`);
    await eventually(() => expect(service.proxy.faults).toEqual([]));
    await pages.visitWith(page, name);
    await connect();
    await page.evaluate(`void analytics.track('later')`);
    expect(idsOf(await project.listed(9)).size).toBe(9);
  });
});
