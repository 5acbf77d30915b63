// Answers `POST /track` in front of the router of express, by the steps of its route (routes.ts).
// Express changes the prototypes of every request and response, which makes each later use of them
// slower: the router costs an event as much as everything else together. Requests with a query, and
// all that fail, go on to the router.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type Express } from 'express';
import type { PlainRequest } from '../platform/http/plain-request.js';
import { createBodyReader, type WithBody } from '../platform/http/read-body.js';
import { settleRequestId } from '../platform/http/request-id.js';
import type { RequestMetrics } from '../platform/http/request-metrics.js';
import { keepFailure } from './front-failures.js';
import { type IngestDeps, toAnswer, track } from './routes.js';

const ROUTE = '/track';

export interface FrontDeps {
  readonly ingest: IngestDeps;
  readonly metrics: RequestMetrics;
  /** Whether the address of the client may be one that a proxy names. */
  readonly trustsProxies: boolean;
}

export function createTrackFront(app: Express, deps: FrontDeps): RequestListener {
  const withBody = createBodyReader(deps.ingest.body);
  return (req, res) => {
    if (req.url === ROUTE && req.method === 'POST') void answer({ req, res, app, withBody }, deps);
    else app(req, res);
  };
}

interface Asked {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly app: Express;
  readonly withBody: WithBody;
}

async function answer({ req, res, app, withBody }: Asked, { ingest, metrics, trustsProxies }: FrontDeps) {
  const watched = metrics.watch(res, { method: 'POST', route: ROUTE });
  const id = settleRequestId(req);
  const plain = toPlainRequest(req, app, trustsProxies);
  try {
    const body = toAnswer(await track(plain, withBody, ingest));
    // A process that ends has answered already.
    if (res.headersSent) return;
    // As a list, and at once: setting each costs as much as parsing a small event.
    res.writeHead(200, [
      ...['Cache-Control', 'no-store', 'X-Request-Id', id, 'Access-Control-Allow-Origin', '*'],
      ...['Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(body.length)],
    ]);
    res.end(body);
  } catch (error) {
    watched.leave();
    keepFailure(req, error);
    app(req, res);
  }
}

/** The getter of express, which reads the header of trusted proxies. */
const readAddress = Object.getOwnPropertyDescriptor(express.request, 'ip')?.get as (this: PlainRequest) => string;
const NO_QUERY = Object.freeze({});

function toPlainRequest(req: IncomingMessage, app: Express, trustsProxies: boolean): PlainRequest {
  const plain = Object.assign(req, { app, ip: req.socket.remoteAddress, query: NO_QUERY, url: ROUTE });
  if (trustsProxies) plain.ip = readAddress.call(plain);
  return plain;
}
