// The official SDKs of other products send to the service with one changed host: what a query lists
// equals what was called, and retries double nothing.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { createInstance, Identify, Revenue } from '@amplitude/analytics-node';
import RudderAnalytics from '@rudderstack/rudder-sdk-node';
import { Analytics } from '@segment/analytics-node';
import type { Page } from 'playwright-core';
import { PostHog } from 'posthog-node';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { eventually } from '../support/eventually.js';
import { askRows } from '../support/identify.js';
import { type SdkPages, startSdkPages } from '../support/sdk-pages.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject } from '../support/track.js';
import { type Fault, startUnreliableProxy, type UnreliableProxy } from '../support/unreliable-proxy.js';

let databases: TestDatabases;
let processes: ProcessGroup;
let proxy: UnreliableProxy;
let project: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases();
  processes = await startProcesses(databases.env, ['worker', 'query', 'web']);
  proxy = await startUnreliableProxy(processes.url);
});

afterAll(async () => {
  await proxy?.close();
  await processes?.stop();
  await databases?.close();
});

beforeEach(async () => {
  project = await createTestProject(databases);
});

const list = (q: string) => askRows(processes.url, project.secretKey, q);

/** Waits until the project has as many events, and lists them by type. */
async function listed(count: number): Promise<Readonly<Record<string, unknown>>[]> {
  return eventually(async () => {
    const rows = await list('* | list event_type, user_id, device_id, insert_id, event_properties | last 1000d');
    expect(rows).toHaveLength(count);
    return rows.toSorted((a, b) => (String(a.event_type) < String(b.event_type) ? -1 : 1));
  });
}

const FAULTS: readonly Fault[] = [429, 503, 'cut'];

test('@rudderstack/rudder-sdk-node: every call, and what failed is repeated once', async () => {
  const analytics = new RudderAnalytics(project.publicKey, { dataPlaneUrl: proxy.url, flushAt: 100 });
  const finish = () => new Promise<void>((resolve, reject) => void analytics.flush((e) => (e ? reject(e) : resolve())));
  analytics.identify({ userId: 'ada', anonymousId: 'd1', traits: { plan: 'pro' } });
  analytics.track({ userId: 'ada', event: 'Signed Up', properties: { price: 9.5 } });
  analytics.page({ anonymousId: 'd1', name: 'Start', properties: { url: 'https://x.test/a' } });
  analytics.screen({ userId: 'ada', name: 'Home' });
  analytics.group({ userId: 'ada', groupId: 'acme', traits: { size: 12 } });
  analytics.alias({ userId: 'ada', previousId: 'old-device' });
  await finish();
  for (const fault of FAULTS) {
    proxy.faults.push(fault);
    analytics.track({ userId: 'ada', event: `after ${fault}` });
    await finish();
  }
  expect(await listed(6)).toMatchObject([
    { event_type: 'Signed Up', user_id: 'ada', event_properties: { price: 9.5 } },
    ...['after 429', 'after 503', 'after cut'].map((type) => ({ event_type: type, user_id: 'ada' })),
    { event_type: 'page_view', device_id: 'd1', event_properties: { name: 'Start', url: 'https://x.test/a' } },
    { event_type: 'screen_view', user_id: 'ada', event_properties: { name: 'Home' } },
  ]);
});

describe('@segment/analytics-node', () => {
  const connect = (host = proxy.url) =>
    new Analytics({ writeKey: project.publicKey, host, maxRetries: 5, flushAt: 100 });

  test('every call', async () => {
    const analytics = connect();
    analytics.identify({ userId: 'ada', anonymousId: 'd1', traits: { plan: 'pro', seats: 3 } });
    analytics.track({ userId: 'ada', event: 'Signed Up', properties: { price: 9.5, trial: true, nothing: null } });
    analytics.page({ anonymousId: 'd1', category: 'Docs', name: 'Start', properties: { url: 'https://x.test/a?b=1' } });
    analytics.screen({ userId: 'ada', name: 'Home', properties: { tab: 'one' } });
    analytics.group({ userId: 'ada', groupId: 'acme', traits: { size: 12 } });
    analytics.alias({ userId: 'ada', previousId: 'old-device' });
    analytics.track({ anonymousId: 'old-device', event: 'Before', timestamp: new Date(Date.now() - 3_600_000) });
    await analytics.closeAndFlush();
    expect(await listed(4)).toMatchObject([
      { event_type: 'Before', device_id: 'old-device' },
      { event_type: 'Signed Up', user_id: 'ada', event_properties: { price: 9.5, trial: true, nothing: null } },
      { event_type: 'page_view', device_id: 'd1', event_properties: { name: 'Start', category: 'Docs' } },
      { event_type: 'screen_view', user_id: 'ada', event_properties: { name: 'Home', tab: 'one' } },
    ]);
    await eventually(async () => {
      expect(await list('* | unique distinct_id | last 30d')).toMatchObject([{ value: 1 }]);
      expect(await list('users | where user.plan = "pro" and user.group_id = "acme" | list')).toHaveLength(1);
    });
  });

  test('repeats what failed, and doubles nothing', async () => {
    const analytics = connect();
    for (const fault of FAULTS) {
      proxy.faults.push(fault);
      analytics.track({ userId: 'ada', event: `after ${fault}` });
      await analytics.flush();
    }
    for (let n = 0; n < 40; n += 1) analytics.track({ userId: 'ada', event: 'at exit' });
    await analytics.closeAndFlush();
    const rows = await listed(43);
    expect(new Set(rows.map(({ insert_id: id }) => id)).size).toBe(43);
  });
});

test('posthog-node: every call, and what failed is repeated once', async () => {
  const posthog = new PostHog(project.publicKey, { host: proxy.url, fetchRetryDelay: 50, disableGeoip: false });
  posthog.identify({ distinctId: 'ada', properties: { plan: 'pro', $set_once: { first: 'mail' } } });
  posthog.capture({ distinctId: 'ada', event: 'Signed Up', properties: { price: 9.5, trial: true } });
  posthog.capture({ distinctId: 'ada', event: '$pageview', properties: { $current_url: 'https://x.test/a' } });
  posthog.alias({ distinctId: 'ada', alias: 'old-device' });
  posthog.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { size: 12 } });
  await posthog.captureImmediate({ distinctId: 'ada', event: 'Paid', properties: { price: 2 } });
  await posthog.identifyImmediate({ distinctId: 'ada', properties: { size: 'l' } });
  await posthog.aliasImmediate({ distinctId: 'ada', alias: 'older-device' });
  posthog.captureException(new Error('no such page'), 'ada');
  expect(await posthog.getAllFlags('ada')).toEqual({});
  await posthog.disable();
  posthog.capture({ distinctId: 'ada', event: 'while disabled' });
  await posthog.flush();
  await posthog.enable();
  await posthog.flush();
  for (const fault of FAULTS) {
    proxy.faults.push(fault);
    posthog.capture({ distinctId: 'ada', event: `after ${fault}` });
    await posthog.flush().catch(() => posthog.flush());
  }
  for (let n = 0; n < 10; n += 1) posthog.capture({ distinctId: 'ada', event: 'at exit' });
  await posthog.shutdown();
  expect((await listed(17)).filter(({ event_type: type }) => type !== 'at exit')).toMatchObject([
    { event_type: '$exception', user_id: 'ada' },
    { event_type: 'Paid', user_id: 'ada', event_properties: { price: 2 } },
    { event_type: 'Signed Up', user_id: 'ada', event_properties: { price: 9.5, trial: true } },
    ...['after 429', 'after 503', 'after cut'].map((type) => ({ event_type: type, user_id: 'ada' })),
    { event_type: 'page_view', user_id: 'ada', event_properties: { url: 'https://x.test/a' } },
  ]);
  await eventually(async () =>
    expect(
      await list('users | where user.plan = "pro" and user.first = "mail" and user.size = "l" | list'),
    ).toHaveLength(1),
  );
});

test('@amplitude/analytics-node: every call, and what was refused is repeated once', async () => {
  const amplitude = createInstance();
  const options = { serverUrl: `${proxy.url}/2/httpapi`, flushIntervalMillis: 10, flushMaxRetries: 5 };
  await amplitude.init(project.publicKey, { ...options, logLevel: 0 }).promise;
  amplitude.identify(new Identify().set('plan', 'pro').setOnce('first', 'mail').add('visits', 1), { user_id: 'ada' });
  amplitude.track('Signed Up', { price: 9.5, trial: true }, { user_id: 'ada', device_id: 'd1' });
  amplitude.revenue(new Revenue().setProductId('p').setPrice(3).setQuantity(2), { user_id: 'ada' });
  const skipped = new Identify()
    .append('tags', 'a')
    .prepend('tags', 'b')
    .preInsert('tags', 'c')
    .postInsert('tags', 'd');
  amplitude.identify(skipped.remove('tags', 'a'), { user_id: 'ada' });
  amplitude.identify(new Identify().set('trial', 'yes'), { user_id: 'eve' });
  await amplitude.flush().promise;
  amplitude.identify(new Identify().unset('trial').set('plan', 'free'), { user_id: 'eve' });
  amplitude.logEvent('Logged', { n: 1 }, { user_id: 'ada' });
  amplitude.setOptOut(true);
  amplitude.track('while opted out', undefined, { user_id: 'ada' });
  amplitude.setOptOut(false);
  amplitude.setGroup('company', 'acme', { user_id: 'ada' });
  amplitude.groupIdentify('company', 'acme', new Identify().set('size', 12), { user_id: 'ada' });
  await amplitude.flush().promise;
  const sent = [];
  for (const fault of FAULTS) {
    proxy.faults.push(fault);
    sent.push(await amplitude.track(`after ${fault}`, undefined, { user_id: 'ada' }).promise);
  }
  for (let n = 0; n < 10; n += 1) sent.push(amplitude.track('at exit', undefined, { user_id: 'ada' }).promise);
  await amplitude.flush().promise;
  // The SDK reports a broken connection, and does not repeat.
  expect((await Promise.all(sent)).map(({ code }) => code)).toEqual([200, 200, 0, ...Array(10).fill(200)]);
  expect((await listed(16)).filter(({ event_type: type }) => type !== 'at exit')).toMatchObject([
    { event_type: 'Logged', user_id: 'ada', event_properties: { n: 1 } },
    { event_type: 'Signed Up', user_id: 'ada', device_id: 'd1', event_properties: { price: 9.5, trial: true } },
    ...['after 429', 'after 503', 'after cut'].map((type) => ({ event_type: type, user_id: 'ada' })),
    { event_type: 'revenue_amount', user_id: 'ada', event_properties: { $price: 3, $quantity: 2, $productId: 'p' } },
  ]);
  await eventually(async () => {
    expect(await list('users | where user.plan = "pro" and user.visits = 1 | list')).toHaveLength(1);
    expect(await list('users | where user.plan = "free" and user.trial not exists | list')).toHaveLength(1);
  });
});

test('a project that refuses other SDKs answers 403', async () => {
  const postgres = createPostgres(databases.config);
  await postgres('projects').where({ id: project.id }).update({ other_sdks: false });
  await postgres.destroy();
  const [key, headers] = [project.publicKey, { 'Content-Type': 'text/plain' }];
  for (const [path, body] of [
    ['/v1/t', { writeKey: key, event: 'a', anonymousId: 'd' }],
    ['/e/', [{ event: 'a', distinct_id: 'd', properties: { token: key } }]],
    ['/2/httpapi', { api_key: key, events: [{ event_type: 'a', device_id: 'd' }] }],
  ] as const) {
    const answer = await fetch(processes.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
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
  const script = command.replace('https://analytics.example.com', processes.url).replace('pk_…', project.publicKey);
  const { stdout } = await promisify(execFile)('bash', ['-c', script]);
  expect(stdout).toContain(answer);
  expect(page).toContain(answer);
  expect(await listed(1)).toMatchObject([
    { event_type: 'Signed Up', user_id: 'ada', event_properties: { plan: 'pro' } },
  ]);
});

test('bodies are read by their bytes, within the limit of /track', async () => {
  const url = `${processes.url}/e/`;
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
  await eventually(async () => expect(await list('a | count | last 30d')).toMatchObject([{ value: 1501 }]));
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
      proxy.faults.push(fault);
      await page.evaluate(scriptFor(JSON.stringify(`after ${fault}`)));
      await eventually(() => expect(proxy.faults).toEqual([]));
    }
  }

  const idsOf = (rows: readonly Readonly<Record<string, unknown>>[]) => new Set(rows.map(({ insert_id: id }) => id));

  test('@segment/analytics-next: every call', async () => {
    const page = await pages.openWith('@segment/analytics-next');
    const settings = JSON.stringify({ writeKey: project.publicKey, cdnURL: proxy.url });
    await page.evaluate(`(async () => {
      const analytics = sdk.AnalyticsBrowser.load(${settings});
      await analytics.page('Docs', 'Start');
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
      await analytics.reset();
      await analytics.setAnonymousId('device-2');
      await analytics.track('Signed Out');
    })()`);
    expect(await listed(6)).toMatchObject([
      { event_type: 'Form Sent', user_id: 'ada', event_properties: { n: 1 } },
      { event_type: 'Link Clicked', user_id: 'ada', event_properties: { n: 2 } },
      { event_type: 'Signed Out', device_id: 'device-2', event_properties: { title: 'Shop' } },
      { event_type: 'Signed Up', user_id: 'ada', event_properties: { price: 9.5, title: 'Shop' } },
      { event_type: 'page_view', event_properties: { name: 'Start', category: 'Docs', url: pages.url } },
      { event_type: 'screen_view', event_properties: { name: 'Home' } },
    ]);
    await eventually(async () =>
      expect(await list('* | where device_id != "device-2" | unique distinct_id | last 30d')).toMatchObject([
        { value: 1 },
      ]),
    );
  });

  test('@segment/analytics-next: what failed is repeated once, and leaving the page loses nothing', async () => {
    const name = '@segment/analytics-next';
    const page = await pages.openWith(name);
    const settings = JSON.stringify({ writeKey: project.publicKey, cdnURL: proxy.url });
    const connect = () =>
      page.evaluate(`(async () => {
        globalThis.analytics = sdk.AnalyticsBrowser.load(${settings});
        await analytics.ready();
      })()`);
    await connect();
    await withFaults(page, FAULTS, (type) => `void analytics.track(${type})`);
    await listed(3);
    // The SDK keeps what was not answered for the next visit.
    proxy.faults.push(503, 'cut', 503, 'cut', 503);
    await page.evaluate(`for (let n = 0; n < 5; n += 1) void analytics.track('at exit', { n })`);
    await eventually(() => expect(proxy.faults).toEqual([]));
    await pages.visitWith(page, name);
    await connect();
    await page.evaluate(`void analytics.track('later')`);
    expect(idsOf(await listed(9)).size).toBe(9);
  });

  test('posthog-js: what failed is repeated once, and closing the page loses nothing', async () => {
    const page = await pages.openWith('posthog-js');
    const settings = JSON.stringify({
      ...{ api_host: proxy.url, autocapture: false, capture_pageview: false, opt_out_useragent_filter: true },
      ...{ advanced_disable_feature_flags: true, request_queue_config: { flush_interval_ms: 250 } },
    });
    await page.evaluate(`(async () => {
      globalThis.posthog = sdk.default;
      await new Promise((loaded) => posthog.init('${project.publicKey}', { ...${settings}, loaded }));
    })()`);
    // It repeats nothing after 429, which the service therefore does not answer.
    await withFaults(page, [503, 'cut'], (type) => `void posthog.capture(${type})`);
    await listed(2);
    await page.evaluate(`for (let n = 0; n < 5; n += 1) posthog.capture('at exit', { n })`);
    await page.close({ runBeforeUnload: true });
    expect(idsOf(await listed(7)).size).toBe(7);
  });

  test('posthog-js: every call', async () => {
    const page = await pages.openWith('posthog-js');
    const settings = JSON.stringify({ api_host: proxy.url, autocapture: false, opt_out_useragent_filter: true });
    await page.evaluate(`(async () => {
      const posthog = sdk.default;
      await new Promise((loaded) => posthog.init('${project.publicKey}', { ...${settings}, loaded }));
      posthog.capture('Looked', { n: 1 });
      posthog.identify('ada', { plan: 'pro' }, { first: 'mail' });
      posthog.capture('Signed Up', { price: 9.5 });
      posthog.setPersonProperties({ size: 'l' });
      posthog.group('company', 'acme', { size: 12 });
      posthog.alias('eve');
      posthog.register({ shop: 'one' });
      posthog.register_once({ shop: 'two', aisle: 7 });
      posthog.capture('Registered');
      posthog.unregister('shop');
      posthog.capture('Unregistered');
      posthog.captureException(new Error('no such page'));
      posthog.opt_out_capturing();
      posthog.capture('while opted out');
      posthog.opt_in_capturing({ captureEventName: false });
      if (posthog.isFeatureEnabled('any')) throw new Error('there are no flags');
      posthog.reset();
      posthog.capture('Signed Out');
    })()`);
    const rows = await eventually(async () => {
      const found = await list('* | where event_type != "$web_vitals" | list | last 30d');
      expect(found.map(({ event_type: type }) => type).toSorted()).toEqual([
        ...['$exception', 'Looked', 'Registered', 'Signed Out', 'Signed Up', 'Unregistered', 'page_view'],
      ]);
      return found;
    });
    const row = (name: string) => rows.find(({ event_type: type }) => type === name);
    expect(row('Signed Up')).toMatchObject({ user_id: 'ada' });
    expect(row('Registered')).toMatchObject({ event_properties: { shop: 'one', aisle: 7 } });
    expect(row('Unregistered')?.event_properties).not.toHaveProperty('shop');
    expect(row('Signed Out')).toMatchObject({ user_id: null });
    await eventually(async () => {
      const before = '* | where event_type != "Signed Out" | unique distinct_id | last 30d';
      expect(await list(before)).toMatchObject([{ value: 1 }]);
      expect(await list('users | where user.plan = "pro" and user.size = "l" | list')).toHaveLength(1);
    });
  });
});
