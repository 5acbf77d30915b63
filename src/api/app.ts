// Express app of the web process.
import type { RequestListener } from 'node:http';
import type { ErrorRequestHandler, RequestHandler, Router } from 'express';
import { allowTokenOrigins, answerTokenPreflight } from '../access/agent-origins.js';
import { createMethodCheck } from '../access/allowed-methods.js';
import { challenge } from '../access/challenge.js';
import { createFeatureSwitches, type Feature } from '../access/features.js';
import { ROUTES } from '../access/route-matrix.js';
import { createIdentityRouter, type IdentityDeps } from '../identity/routes.js';
import { createFront } from '../ingest/front.js';
import { createProtocolFronts, createProtocolsRouter } from '../ingest/protocols/routes.js';
import { createIngestRouter, createTrackFront, type IngestDeps } from '../ingest/routes.js';
import { compressAnswers } from '../platform/http/compress.js';
import { identifyRequest } from '../platform/http/request-id.js';
import type { RequestMetrics } from '../platform/http/request-metrics.js';
import { errorResponder, nameFailures, notFound } from '../platform/http/respond.js';
import { createExpressApp } from '../platform/http/router.js';
import { securityHeaders } from '../platform/http/security-headers.js';
import { removeForwardedPorts } from '../platform/http/trusted-peer.js';
import type { Logger } from '../platform/log.js';

export interface AppDeps {
  readonly featuresOff: readonly Feature[];
  readonly ingest: IngestDeps;
  readonly identity: IdentityDeps;
  /** Answer POST /query, in this process or in the query process. */
  readonly queries: readonly RequestHandler[];
  /** Answer POST /mcp, likewise. */
  readonly agents: readonly RequestHandler[];
  /** All other routes. */
  readonly routers: readonly Router[];
  readonly operations: Router;
  /** Error pages for browsers. */
  readonly showProblems: ErrorRequestHandler;
  readonly requestMetrics: RequestMetrics;
  /** Trusted proxies for X-Forwarded-For, in express notation; none by default. */
  readonly trustProxy: string | number | undefined;
  readonly log: Logger;
}

export function createApp(deps: AppDeps): RequestListener {
  const app = createExpressApp();
  if (deps.trustProxy !== undefined) app.set('trust proxy', deps.trustProxy);

  app.use(identifyRequest);
  app.use(deps.requestMetrics.middleware);
  if (deps.featuresOff.length > 0) app.use(createFeatureSwitches(deps.featuresOff));
  // Hot path first: routers before it would cost every event.
  app.use(createIngestRouter(deps.ingest));
  app.use(createIdentityRouter(deps.identity));
  app.post('/query', allowTokenOrigins, ...deps.queries);
  app.post('/mcp', allowTokenOrigins, ...deps.agents);
  app.options(['/query', '/catalog', '/mcp'], answerTokenPreflight);
  app.all('/mcp', allowTokenOrigins, refuseStreams);
  app.get('/catalog', allowTokenOrigins);
  const protocols = { ingest: deps.ingest, identity: deps.identity };
  app.use(createProtocolsRouter(protocols));
  app.use(securityHeaders);
  app.use(compressAnswers);
  for (const router of deps.routers) app.use(router);
  app.use(deps.operations);
  app.use(createMethodCheck(ROUTES));
  app.use(notFound);
  app.use(nameFailures(deps.log));
  app.use(challenge);
  app.use(deps.showProblems);
  app.use(errorResponder(deps.log));
  const trustsProxies = deps.trustProxy !== undefined;
  const front: RequestListener = deps.featuresOff.includes('track')
    ? app
    : createFront(app, {
        routes: [createTrackFront(deps.ingest), ...createProtocolFronts(protocols)],
        metrics: deps.requestMetrics,
        trustsProxies,
      });
  if (!trustsProxies) return front;
  return (req, res) => {
    removeForwardedPorts(req.headers);
    front(req, res);
  };
}

/** Clients of the earlier generation of the protocol ask for a stream, and do without after 405. */
const refuseStreams: RequestHandler = (_req, res) => {
  res.status(405).set('Allow', 'POST').json({ error: 'POST /mcp is the only method; there are no sessions' });
};
