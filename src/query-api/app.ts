// Express app of the query process: POST /query, POST /mcp and the operations routes.
import type { Express, RequestHandler, Router } from 'express';
import { createMethodCheck } from '../access/allowed-methods.js';
import { challenge } from '../access/challenge.js';
import { ROUTES } from '../access/route-matrix.js';
import { identifyRequest } from '../platform/http/request-id.js';
import { errorResponder, nameFailures, notFound } from '../platform/http/respond.js';
import { createExpressApp } from '../platform/http/router.js';
import type { Logger } from '../platform/log.js';

export interface QueryAppDeps {
  readonly queries: readonly RequestHandler[];
  readonly agents: readonly RequestHandler[];
  readonly operations: Router;
  readonly log: Logger;
}

/** Routes of the route matrix that this process has. */
const PATHS: readonly string[] = ['/query', '/mcp', '/healthz', '/readyz', '/metrics'];

export function createQueryApp(deps: QueryAppDeps): Express {
  const app = createExpressApp();
  app.use(identifyRequest);
  app.post('/query', ...deps.queries);
  app.post('/mcp', ...deps.agents);
  app.use(deps.operations);
  app.use(createMethodCheck(ROUTES.filter(({ path }) => PATHS.includes(path))));
  app.use(notFound);
  app.use(nameFailures(deps.log));
  app.use(challenge);
  app.use(errorResponder(deps.log));
  return app;
}
