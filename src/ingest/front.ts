// Answers events in front of the router of express, by the steps of their routes (/track, and the
// protocols of other SDKs). Express changes the prototypes of every request and response, which
// makes each later use of them slower: the router costs an event as much as everything else
// together. Other requests, and all that fail, go on to the router.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type Express } from 'express';
import type { PlainRequest } from '../platform/http/plain-request.js';
import { settleRequestId } from '../platform/http/request-id.js';
import type { RequestMetrics } from '../platform/http/request-metrics.js';
import type { ErrorLocals } from '../platform/http/respond.js';
import { isPlainTarget } from '../platform/http/router.js';
import { keepFailure } from './front-failures.js';

/** A path of a route of the router, for POST. */
export interface FrontRoute {
  /** A path without parameters. */
  readonly path: string;
  /** In express notation: the label of the route in metrics. */
  readonly pattern: string;
  /** Whether requests with a query come here. */
  readonly takesQuery: boolean;
  /** Resolves with the body of the answer. What it rejects with is answered by the router. */
  answer(req: PlainRequest, errors: ErrorLocals): Promise<string>;
}

export interface FrontDeps {
  readonly routes: readonly FrontRoute[];
  readonly metrics: RequestMetrics;
  /** Whether the address of the client may be one that a proxy names. */
  readonly trustsProxies: boolean;
}

export function createFront(app: Express, deps: FrontDeps): RequestListener {
  const routes = new Map(deps.routes.map((route) => [route.path, route]));
  return (req, res) => {
    const { url = '', method } = req;
    const queryAt = url.indexOf('?');
    const route = method === 'POST' ? routes.get(queryAt < 0 ? url : url.slice(0, queryAt)) : undefined;
    if (route === undefined || (queryAt >= 0 && !(route.takesQuery && isPlainTarget(url)))) app(req, res);
    else void answer({ req, res, app, route }, deps);
  };
}

interface Asked {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly app: Express;
  readonly route: FrontRoute;
}

async function answer({ req, res, app, route }: Asked, { metrics, trustsProxies }: FrontDeps): Promise<void> {
  const watched = metrics.watch(res, { method: 'POST', route: route.pattern });
  const id = settleRequestId(req);
  const errors: ErrorLocals = {};
  try {
    const body = await route.answer(toPlainRequest(req, app, trustsProxies), errors);
    // A process that ends has answered already.
    if (res.headersSent) return;
    // As a list, and at once: setting each costs as much as parsing a small event.
    res.writeHead(200, [
      ...['Cache-Control', 'no-store', 'X-Request-Id', id, 'Access-Control-Allow-Origin', '*'],
      ...['Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(Buffer.byteLength(body))],
    ]);
    res.end(body);
  } catch (error) {
    watched.leave();
    keepFailure(req, error);
    // Express keeps what is there.
    app(req, Object.assign(res, { locals: errors }));
  }
}

/** The getter of express, which reads the header of trusted proxies. */
const readAddress = Object.getOwnPropertyDescriptor(express.request, 'ip')?.get as (this: PlainRequest) => string;
const NO_QUERY = Object.freeze({});

function toPlainRequest(req: IncomingMessage, app: Express, trustsProxies: boolean): PlainRequest {
  const { url = '' } = req;
  const query = url.includes('?') ? readQuery(url, app) : NO_QUERY;
  const plain = Object.assign(req, { app, ip: req.socket.remoteAddress, query, url });
  if (trustsProxies) plain.ip = readAddress.call(plain);
  return plain;
}

function readQuery(url: string, app: Express): PlainRequest['query'] {
  const parse = app.get('query parser fn') as (text: string) => PlainRequest['query'];
  return parse(url.slice(url.indexOf('?') + 1));
}
