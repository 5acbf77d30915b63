// The front of the router: which requests it answers, and what it hands on.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { createFront, type FrontRoute } from '../../../src/ingest/front.js';
import { throwFailure } from '../../../src/ingest/front-failures.js';
import { createProtocolFronts, type ProtocolDeps } from '../../../src/ingest/protocols/routes.js';
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
