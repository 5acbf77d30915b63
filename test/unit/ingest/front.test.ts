// The front of the router: which requests it answers, and what it hands on.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import express from 'express';
import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { createFront, type FrontRoute } from '../../../src/ingest/front.js';
import { throwFailure } from '../../../src/ingest/front-failures.js';
import { createProtocolFronts, type ProtocolDeps } from '../../../src/ingest/protocols/routes.js';
import { FlowRefusal } from '../../../src/platform/flow/refusal.js';
import { createRequestMetrics } from '../../../src/platform/http/request-metrics.js';
import { sendTarget } from '../../support/raw-http.js';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** The answer of the router says what it was told. */
async function start(routes: readonly FrontRoute[]): Promise<string> {
  const app = express();
  app.use((req, res) => {
    let failure: unknown;
    try {
      throwFailure(req);
    } catch (error) {
      failure = error;
    }
    res.status(418).json({ failure, locals: res.locals, query: req.query });
  });
  const front = createFront(app, { routes, metrics: createRequestMetrics(new Registry()), trustsProxies: false });
  const server = createServer((req: IncomingMessage, res: ServerResponse) => front(req, res)).listen(0, '127.0.0.1');
  stops.push(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ANSWERING: FrontRoute = {
  ...{ path: '/e/', pattern: '/e/', takesQuery: true },
  answer: async ({ query, ip, url }) => JSON.stringify({ query, ip, url }),
};

test.each([
  ['POST', '/e/', 200],
  ['POST', '/e/?ip=0&_=1', 200],
  ['POST', '/e', 418],
  ['POST', '/E/', 418],
  ['POST', '/e/?a=b#c', 418],
  ['POST', 'http://localhost/e/', 418],
  ['GET', '/e/', 418],
  ['OPTIONS', '/e/', 418],
])('%s %s is answered with %i', async (method, target, status) => {
  expect(await sendTarget(await start([ANSWERING]), { method, target })).toMatchObject({ status });
});

test('a route without a query leaves requests with one to the router', async () => {
  const url = await start([{ ...ANSWERING, takesQuery: false }]);
  expect(await sendTarget(url, { method: 'POST', target: '/e/' })).toMatchObject({ status: 200 });
  expect(await sendTarget(url, { method: 'POST', target: '/e/?a=b' })).toMatchObject({ status: 418 });
});

test('a query is the one that the router reads', async () => {
  const failing = { ...ANSWERING, path: '/failing', answer: () => Promise.reject('x') };
  const url = await start([ANSWERING, failing]);
  for (const query of ['a=b', 'a=1&a=2', 'a=%zz&b', 'a[b]=c', '', 'a=b?c=d', 'a+b=c%20d', '__proto__=x']) {
    const [front, router] = await Promise.all(
      ['/e/', '/other'].map((path) => sendTarget(url, { method: 'POST', target: `${path}?${query}` })),
    );
    const queryOf = (body = '') => (JSON.parse(body) as { query: unknown }).query;
    expect(queryOf(front?.body), query).toEqual(queryOf(router?.body));
  }
});

test('a failure goes on to the router, with the form of its answer', async () => {
  const url = await start([
    {
      ...ANSWERING,
      answer: async (_, errors) => {
        errors.busyStatus = 503;
        throw 'the reason';
      },
    },
  ]);
  const { status, body } = await sendTarget(url, { method: 'POST', target: '/e/' });
  expect({ status, ...JSON.parse(body) }).toEqual({
    ...{ status: 418, failure: 'the reason', locals: { busyStatus: 503 }, query: {} },
  });
});

test('every path that takes calls of an SDK has a front', () => {
  const deps = { ingest: { body: {} } } as unknown as ProtocolDeps;
  const fronts = createProtocolFronts(deps).map(({ path, pattern }) => `${path} ${pattern}`);
  expect(fronts).toEqual(
    expect.arrayContaining(['/v1/batch /v1/:call', '/v1/t /v1/:call', '/i/v0/e/ /i/v0/e/', '/2/httpapi /2/httpapi']),
  );
  expect(fronts.filter((path) => path.includes(':call ') || path.startsWith('/flags'))).toEqual([]);
  expect(new Set(fronts).size).toBe(fronts.length);
});

const BATCH_SIZE_MAX = 10;

/** Fronts of the SDKs over stubs of the stores: `stored` is what was committed, in order. */
function createSdks({ isIdentifyFull = false } = {}) {
  const stored: string[] = [];
  const nothing = () => undefined;
  const commitOf = (kind: string) => ({ add: async () => void stored.push(kind) });
  const credential = { kind: 'public', projectId: 'p', scopes: new Set(['track']), ipPolicy: 'drop' };
  const common = {
    admission: { admit: nothing, isBulk: () => false },
    rateLimit: { take: nothing },
  };
  const refuse = () => {
    throw new FlowRefusal('backlog', 'the backlog is full');
  };
  const ingest = {
    ...common,
    credentials: { find: async () => credential },
    rates: { admit: nothing, take: nothing },
    body: { bytesMax: 1e6, budget: { tryAcquire: () => true, giveBack: nothing } },
    limits: { propertiesMax: 9, userPropertiesMax: 9, keyLengthMax: 9, valueBytesMax: 9, batchSizeMax: BATCH_SIZE_MAX },
    findGeography: () => ({}),
    firstTimes: { perProjectMax: 9, totalMax: 9 },
    metrics: { accepted: { inc: nothing }, skipped: { inc: nothing }, skippedCalls: { inc: nothing } },
    ...{
      rejectedEvents: { note: nothing, noteIgnored: nothing },
      droppedEvents: { note: nothing },
      groupCommit: commitOf('event'),
    },
  };
  const admission = isIdentifyFull ? { ...common.admission, admit: refuse } : common.admission;
  const identity = { ...common, admission, groupCommit: commitOf('profile') };
  const fronts = createProtocolFronts({ ingest, identity } as unknown as ProtocolDeps);
  const send = async (path: string, body: object) => {
    const req = Object.assign(Readable.from([Buffer.from(JSON.stringify(body))]), {
      ...{ headers: {}, url: path, query: {}, ip: '203.0.113.7', complete: true },
    }) as unknown as Parameters<FrontRoute['answer']>[0];
    return fronts.find((front) => front.path === path)?.answer(req, {});
  };
  return { stored, send };
}

test('a request whose profiles are refused has stored no events', async () => {
  const calls = [
    { type: 'track', event: 'a', userId: 'u', timestamp: '2026-01-01' },
    { type: 'identify', userId: 'u', traits: { a: 1 } },
  ];
  const body = { writeKey: 'pk_1', batch: calls };
  const open = createSdks();
  await open.send('/v1/batch', body);
  expect(open.stored).toEqual(['event', 'profile']);
  const full = createSdks({ isIdentifyFull: true });
  await expect(full.send('/v1/batch', body)).rejects.toMatchObject({ kind: 'rate_limited' });
  expect(full.stored).toEqual([]);
});

test('a batch of an SDK may have as many events as /track, whatever else they change', async () => {
  const eventsOf = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      ...{ event_type: 'a', user_id: `u${n}`, device_id: `d${n}`, user_properties: { a: 1 } },
    }));
  const { stored, send } = createSdks();
  await send('/2/httpapi', { api_key: 'pk_1', events: eventsOf(BATCH_SIZE_MAX) });
  expect([stored.length, stored.filter((kind) => kind === 'event').length]).toEqual([21, 1]);
  await expect(send('/2/httpapi', { api_key: 'pk_1', events: eventsOf(BATCH_SIZE_MAX + 1) })).rejects.toMatchObject({
    kind: 'too_large',
    message: `the batch has ${BATCH_SIZE_MAX + 1} events; the limit is ${BATCH_SIZE_MAX}`,
  });
});
