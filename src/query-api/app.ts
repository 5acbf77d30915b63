// Express app of the query process: POST /query, POST /mcp and the operations routes.
import type { Express, RequestHandler, Router } from 'express';
import { identifyRequest } from '../platform/http/request-id.js';
import { errorResponder, nameStoreFailures, notFound } from '../platform/http/respond.js';
import { createExpressApp } from '../platform/http/router.js';
import type { Logger } from '../platform/log.js';

export interface QueryAppDeps {
  readonly queries: readonly RequestHandler[];
  readonly agents: readonly RequestHandler[];
  readonly operations: Router;
  readonly log: Logger;
}

export function createQueryApp(deps: QueryAppDeps): Express {
  const app = createExpressApp();
  app.use(identifyRequest);
  app.post('/query', ...deps.queries);
  app.post('/mcp', ...deps.agents);
  app.use(deps.operations);
  app.use(notFound);
  app.use(nameStoreFailures(deps.log));
  app.use(errorResponder(deps.log));
  return app;
}
