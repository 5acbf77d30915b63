// The official SDKs of PostHog send to the service with one changed host: every public call is
// made, what a query lists equals what was called, and retries double nothing.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { PostHog } from 'posthog-node';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { eventually } from '../support/eventually.js';
import type { AnswerRow } from '../support/identify.js';
import { type SdkPages, startSdkPages } from '../support/sdk-pages.js';
import {
  FAULTS,
  publicMembers,
  recordMembers,
  type SdkProject,
  type SdkService,
  startSdkService,
} from '../support/sdk-service.js';

let service: SdkService;
let project: SdkProject;
let pages: SdkPages;

beforeAll(async () => {
  [service, pages] = await Promise.all([startSdkService(), startSdkPages()]);
});

afterAll(async () => {
  await pages?.close();
  await service?.close();
});

beforeEach(async () => {
  project = await service.createProject();
});

afterEach(() => vi.unstubAllEnvs());

const connect = (options: ConstructorParameters<typeof PostHog>[1] = {}) =>
  new PostHog(project.publicKey, { host: service.proxy.url, fetchRetryDelay: 50, disableGeoip: false, ...options });

async function skippedSince(before: Readonly<Record<string, number>>): Promise<Readonly<Record<string, number>>> {
  const now = await service.countSkipped('posthog');
  return Object.fromEntries(Object.entries(now).map(([reason, count]) => [reason, count - (before[reason] ?? 0)]));
}

const typesOf = (rows: readonly AnswerRow[]) => rows.map(({ event_type: type }) => type);

test('posthog-node: every public call', async () => {
  const skipped = await service.countSkipped('posthog');
  const { client: posthog, used } = recordMembers(connect({ traces: { serviceName: 'shop' } }));
  const [ada, errors] = [{ distinctId: 'ada' }, [] as unknown[]];
  posthog.on('error', (error) => errors.push(error));
  posthog.debug(false);
  await posthog.register({ shop: 'one' });
  posthog.capture({ ...ada, event: 'Signed Up', properties: { price: 9.5, trial: true } });
  await posthog.flush();
  await posthog.unregister('shop');
  posthog.capture({ ...ada, event: '$pageview', properties: { $current_url: 'https://x.test/a' } });
  await posthog.captureImmediate({ ...ada, event: 'Paid', properties: { price: 2 }, groups: { company: 'acme' } });
  const long = [{ role: 'user', content: 'word '.repeat(4000) }];
  posthog.captureAi({ ...ada, event: '$ai_generation', properties: { $ai_model: 'm', $ai_input: long } });
  await posthog.captureAiImmediate({ ...ada, event: '$ai_trace', properties: { $ai_trace_id: 't1' } });
  posthog.captureException(new Error('no such page'), 'ada', { n: 1 });
  await posthog.captureExceptionImmediate(new Error('no such card'), 'ada', { n: 2 });
  posthog.withContext({ ...ada, properties: { tab: 'one' } }, () => {
    expect(posthog.getContext()).toMatchObject(ada);
    posthog.capture({ event: 'In Context' });
  });
  posthog.enterContext({ distinctId: 'eve' });
  posthog.capture({ event: 'Entered' });
  const { event, properties } = await posthog.prepareEventMessage({ ...ada, event: 'Prepared' });
  expect([event, properties.service_name]).toEqual(['Prepared', 'shop']);

  posthog.identify({ ...ada, properties: { plan: 'pro', left: 1, $set_once: { first: 'mail' } } });
  await posthog.identifyImmediate({ ...ada, properties: { size: 'l' } });
  posthog.setPersonProperties({ ...ada, properties: { town: 'Bern' }, propertiesOnce: { first: 'again' } });
  await posthog.flush();
  posthog.unsetPersonProperties({ ...ada, properties: ['left'] });
  posthog.alias({ ...ada, alias: 'old-device' });
  await posthog.aliasImmediate({ ...ada, alias: 'older-device' });
  posthog.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { size: 12 } });
  await posthog.groupIdentifyImmediate({ groupType: 'company', groupKey: 'acme', properties: { size: 13 } });

  await askAboutFlags(posthog);
  posthog.metrics.count('jobs', 1);
  posthog.captureLog({ body: 'payment failed', level: 'error' });
  posthog.logger.info('paid');
  posthog.startSpan('checkout').end();
  posthog.withSpan('order', () => expect(posthog.getActiveSpan()).not.toBeNull());
  expect((await posthog.emails.send({ to: 'a@x.test', templateId: 't' })).error?.code).toBeDefined();

  await posthog.flush(); // What is not sent yet would be dropped; an exception is queued late.
  await posthog.disable();
  posthog.capture({ ...ada, event: 'while disabled' });
  await posthog.flush();
  await posthog.enable();
  await posthog.optOut();
  posthog.capture({ ...ada, event: 'while opted out' });
  await posthog.flush();
  await posthog.optIn();
  await posthog.shutdown();

  expect(errors).toEqual([]);
  const rows = await project.listed(10);
  expect(rows.filter(({ event_type: type }) => type !== '$exception')).toMatchObject([
    { event_type: '$ai_generation', user_id: 'ada', event_properties: { $ai_model: 'm' } },
    { event_type: '$ai_trace', user_id: 'ada', event_properties: { $ai_trace_id: 't1' } },
    { event_type: '$feature_flag_called', user_id: 'ada', event_properties: { $feature_flag: 'any' } },
    { event_type: 'Entered', user_id: 'eve' },
    { event_type: 'In Context', user_id: 'ada', event_properties: { tab: 'one' } },
    { event_type: 'Paid', user_id: 'ada', event_properties: { price: 2, $groups: '{"company":"acme"}' } },
    { event_type: 'Signed Up', user_id: 'ada', event_properties: { price: 9.5, trial: true, shop: 'one' } },
    { event_type: 'page_view', user_id: 'ada', event_properties: { url: 'https://x.test/a' } },
  ]);
  await eventually(async () => {
    const profile = 'user.plan = "pro" and user.first = "mail" and user.size = "l" and user.town = "Bern"';
    expect(await project.list(`users | where ${profile} and user.left not exists | list`)).toHaveLength(1);
  });
  expect(await skippedSince(skipped)).toMatchObject({ group_profile: 2, log: 1, metric: 1, trace: 1 });
  const declared = publicMembers(await readFile('node_modules/posthog-node/dist/client.d.ts', 'utf8'));
  expect(declared.filter((name) => !used.has(name) && !OF_THE_LIBRARY.has(name))).toEqual([]);
});

/** Public for the library's own parts, and documented for no caller. */
const OF_THE_LIBRARY: ReadonlySet<string> = new Set([
  ...['options', 'enableFullAiCapture', 'privacyMode', 'distinctIdHasSentFlagCalls', 'fetch'],
  ...['getPersistedProperty', 'setPersistedProperty'],
]);

/** There are no flags; asking for one by its name captures that it was asked. */
async function askAboutFlags(posthog: PostHog): Promise<void> {
  const silent = { sendFeatureFlagEvents: false };
  expect(await posthog.getAllFlags('ada')).toEqual({});
  expect(await posthog.getAllFlagsAndPayloads('ada')).toMatchObject({ featureFlags: {}, featureFlagPayloads: {} });
  expect(await posthog.getFeatureFlag('any', 'ada', silent)).toBeUndefined();
  expect(await posthog.getFeatureFlagPayload('any', 'ada', undefined, silent)).toBeUndefined();
  expect(await posthog.getFeatureFlagResult('any', 'ada', silent)).toBeUndefined();
  expect(await posthog.isFeatureEnabled('any', 'ada')).toBeUndefined();
  expect((await posthog.evaluateFlags('ada')).keys).toEqual([]);
  posthog.overrideFeatureFlags({ mine: true });
  expect(await posthog.getFeatureFlag('mine', 'ada', silent)).toBe(true);
  await expect(posthog.getRemoteConfigPayload('any')).rejects.toThrow('Personal API key is required');
  await posthog.reloadFeatureFlags();
  expect([posthog.isLocalEvaluationReady(), await posthog.waitForLocalEvaluationReady(10)]).toEqual([false, false]);
  expect(posthog.getFeatureFlagEvaluationRuntime('any')).toBeUndefined();
  expect(posthog.getFeatureFlagKeysByEvaluationRuntime('server')).toEqual([]);
  expect(posthog.getCustomUserAgent()).toBe(`posthog-node/${posthog.getLibraryVersion()}`);
}

test('posthog-node: flags that are evaluated locally are none, and are read without an error', async () => {
  const errors: unknown[] = [];
  const posthog = connect({ personalApiKey: 'phx_any' });
  posthog.on('error', (error) => errors.push(error));
  await posthog.reloadFeatureFlags();
  expect(await posthog.getAllFlags('ada')).toEqual({});
  expect(await posthog.getRemoteConfigPayload('any')).toBeNull();
  await posthog.shutdown();
  expect(errors).toEqual([]);
});

test.each(['v0', 'v1'])('posthog-node: what failed is repeated once, in form %s', async (mode) => {
  vi.stubEnv('POSTHOG_CAPTURE_MODE', mode);
  const posthog = connect();
  for (const fault of FAULTS) {
    service.proxy.faults.push(fault);
    posthog.capture({ distinctId: 'ada', event: `after ${fault}`, properties: { $session_id: 's1' } });
    await posthog.flush().catch(() => posthog.flush());
  }
  posthog.identify({ distinctId: 'ada', properties: { plan: 'pro' } });
  for (let n = 0; n < 10; n += 1) posthog.capture({ distinctId: 'ada', event: 'at exit' });
  await posthog.shutdown();
  const rows = await project.listed(13);
  expect(rows).toMatchObject([
    ...['after 429', 'after 503', 'after cut'].map((type) => ({ event_type: type, user_id: 'ada' })),
    ...Array.from({ length: 10 }, () => ({ event_type: 'at exit', user_id: 'ada' })),
  ]);
  expect(await project.list('* | unique session_id | last 30d')).toMatchObject([{ value: 1 }]);
  await eventually(async () => expect(await project.list('users | where user.plan = "pro" | list')).toHaveLength(1));
});

/** Opens a page with posthog-js, and collects what the service refuses. */
async function openBrowser(settings: object): Promise<{ page: Page; refused: string[] }> {
  const page = await pages.openWith('posthog-js');
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${new URL(response.url()).pathname}`);
  });
  const options = JSON.stringify({ api_host: service.proxy.url, opt_out_useragent_filter: true, ...settings });
  await page.evaluate(`(async () => {
    globalThis.recorded = (${recordMembers.toString()})(sdk.default);
    globalThis.posthog = recorded.client;
    await new Promise((loaded) => posthog.init('${project.publicKey}', { ...${options}, loaded }));
  })()`);
  return { page, refused };
}

test('posthog-js: what failed is repeated once, and closing the page loses nothing', async () => {
  const { page } = await openBrowser({
    ...{ autocapture: false, capture_pageview: false, advanced_disable_feature_flags: true },
    request_queue_config: { flush_interval_ms: 250 },
  });
  // It repeats nothing after 429, which the service therefore does not answer.
  for (const fault of [503, 'cut'] as const) {
    service.proxy.faults.push(fault);
    await page.evaluate(`void posthog.capture('after ${fault}')`);
    await eventually(() => expect(service.proxy.faults).toEqual([]));
  }
  await project.listed(2);
  await page.evaluate(`for (let n = 0; n < 5; n += 1) posthog.capture('at exit', { n })`);
  await page.close({ runBeforeUnload: true });
  const rows = await project.listed(7);
  expect(new Set(rows.map(({ insert_id: id }) => id)).size).toBe(7);
});

test('posthog-js: every public call', async () => {
  const skipped = await service.countSkipped('posthog');
  const { page, refused } = await openBrowser({ autocapture: false, capture_performance: false });
  await page.evaluate(`{
    posthog.capture('Looked', { n: 1 });
    posthog.identify('ada', { plan: 'pro', left: 1 }, { first: 'mail' });
  }`);
  // It is sent at once, and may arrive after what is called later, such as the removal of "left".
  await eventually(async () => expect(await project.list('users | where user.left = 1 | list')).toHaveLength(1));
  await page.evaluate(`(async () => {
    const expect = (found, wanted) => {
      if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new Error(JSON.stringify({ found, wanted }));
    };
    const late = (name) => new Promise((_, reject) => setTimeout(() => reject(new Error(name + ' is silent')), 5000));
    const answerOf = (name) => Promise.race([new Promise((done) => posthog[name](done, true)), late(name)]);
    const heard = [];
    posthog.on('eventCaptured', ({ event }) => heard.push(event));
    posthog.onSessionId((id) => heard.push(typeof id));
    posthog.onFeatureFlags(() => undefined);
    posthog.debug(false);
    posthog.set_config({ capture_pageleave: false });
    posthog.capture('Signed Up', { price: 9.5 });
    posthog.setPersonProperties({ size: 'l' });
    posthog.unsetPersonProperties(['left']);
    posthog.people.set({ town: 'Bern' });
    posthog.people.set_once({ first: 'again' });
    posthog.createPersonProfile();
    posthog.setIdentity('ada', 'hash');
    posthog.clearIdentity();
    posthog.group('company', 'acme', { size: 12 });
    expect(posthog.getGroups(), { company: 'acme' });
    posthog.resetGroups();
    posthog.alias('eve');
    posthog.register({ shop: 'one' });
    posthog.register_once({ shop: 'two', aisle: 7 });
    posthog.register_for_session({ visit: 3 });
    expect([posthog.get_property('shop'), posthog.getSessionProperty('visit')], ['one', 3]);
    posthog.capture('Registered');
    posthog.unregister('shop');
    posthog.unregister_for_session('visit');
    posthog.capture('Unregistered');
    posthog.addExceptionStep('before', { n: 1 });
    posthog.captureException(new Error('no such page'));
    posthog.startExceptionAutocapture();
    posthog.stopExceptionAutocapture();
    posthog.captureTraceFeedback('t1', 'good');
    posthog.captureTraceMetric('t1', 'tokens', 5);
    posthog.captureLog({ body: 'payment failed', level: 'error' });
    posthog.logger.info('paid');
    posthog.opt_out_capturing();
    expect([posthog.has_opted_out_capturing(), posthog.get_explicit_consent_status()], [true, 'denied']);
    posthog.capture('while opted out');
    posthog.opt_in_capturing({ captureEventName: false });
    expect(posthog.has_opted_in_capturing(), true);
    posthog.clear_opt_in_out_capturing();
    for (const ask of ['isFeatureEnabled', 'getFeatureFlag', 'getFeatureFlagPayload', 'getFeatureFlagResult']) {
      if (posthog[ask]('any', { send_event: false })) throw new Error('there are no flags');
    }
    posthog.setPersonPropertiesForFlags({ plan: 'pro' });
    posthog.resetPersonPropertiesForFlags();
    posthog.setGroupPropertiesForFlags({ company: { size: 12 } });
    posthog.resetGroupPropertiesForFlags();
    posthog.reloadFeatureFlags();
    posthog.updateFlags({ mine: true });
    posthog.featureFlags.override(false);
    expect([posthog.flagsEndpointWasHit, posthog.decideEndpointWasHit].map((each) => typeof each), ['boolean', 'boolean']);
    expect(await answerOf('getSurveys'), []);
    posthog.getActiveMatchingSurveys(() => undefined, true);
    posthog.onActiveMatchingSurveysChanged(() => undefined);
    posthog.renderSurvey('any', 'body');
    posthog.canRenderSurvey('any');
    await posthog.canRenderSurveyAsync('any');
    expect(await answerOf('getEarlyAccessFeatures'), []);
    posthog.updateEarlyAccessFeatureEnrollment('any', true);
    posthog.startSessionRecording();
    posthog.stopSessionRecording();
    expect([posthog.sessionRecordingStarted(), posthog.loadToolbar({})], [false, true]);
    posthog.setInternalOrTestUser();
    for (const each of ['version', 'config', 'sessionManager', 'sessionRecording']) void posthog[each];
    for (const read of ['get_distinct_id', 'get_session_id', 'get_session_replay_url', 'getPageViewId']) posthog[read]();
    expect(heard.includes('Signed Up') && heard.includes('string'), true);
    posthog.reset();
    posthog.capture('Signed Out');
    await posthog.shutdown();
  })()`);
  const rows = await project.listed(10);
  expect(typesOf(rows)).toEqual([
    ...['$ai_feedback', '$ai_metric', '$exception', '$feature_enrollment_update', 'Looked', 'Registered'],
    ...['Signed Out', 'Signed Up', 'Unregistered', 'page_view'],
  ]);
  const row = (name: string) => rows.find(({ event_type: type }) => type === name);
  expect(row('Signed Up')).toMatchObject({ user_id: 'ada', event_properties: { price: 9.5 } });
  expect(row('Registered')).toMatchObject({ event_properties: { shop: 'one', aisle: 7, visit: 3 } });
  expect(row('Unregistered')?.event_properties).not.toHaveProperty('shop');
  expect(row('Unregistered')?.event_properties).not.toHaveProperty('visit');
  expect(row('Signed Out')).toMatchObject({ user_id: null });
  await eventually(async () => {
    const before = '* | where event_type != "Signed Out" | unique distinct_id | last 30d';
    expect(await project.list(before)).toMatchObject([{ value: 1 }]);
    const profile = 'user.plan = "pro" and user.size = "l" and user.town = "Bern" and user.first = "mail"';
    expect(await project.list(`users | where ${profile} and user.left not exists | list`)).toHaveLength(1);
    expect(await skippedSince(skipped)).toMatchObject({ group_profile: 1 });
  });
  const used = new Set(await page.evaluate<string[]>('[...recorded.used]'));
  const declared = publicMembers(await readFile('node_modules/@posthog/types/dist/posthog.d.ts', 'utf8'));
  expect(declared.filter((name) => !used.has(name))).toEqual([]);
  // The toolbar is a script of PostHog's own site.
  expect(refused.filter((path) => !path.endsWith('/toolbar.js'))).toEqual([]);
});
