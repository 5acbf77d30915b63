// The official SDKs of other products send to the service with one changed host: what a query lists
// equals what was called, and retries double nothing.

import RudderAnalytics from '@rudderstack/rudder-sdk-node';
import { Analytics } from '@segment/analytics-node';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { eventually } from '../support/eventually.js';
import { askRows } from '../support/identify.js';
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
