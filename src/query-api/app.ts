// The routes of the query process.
import express, { type Express, type Router } from 'express';
import { identifyRequest } from '../platform/http/request-id.js';
import { errorResponder, nameStoreFailures, notFound } from '../platform/http/respond.js';
import type { Logger } from '../platform/log.js';

export interface QueryAppDeps {
  readonly queries: Router;
  readonly operations: Router;
  readonly log: Logger;
}

export function createQueryApp(deps: QueryAppDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  // Answers here are never the same twice: hashing each for an entity tag is wasted.
  app.disable('etag');
  app.use(identifyRequest);
  app.use('/query', deps.queries);
  app.use(deps.operations);
  app.use(notFound);
  app.use(nameStoreFailures(deps.log));
  app.use(errorResponder(deps.log));
  return app;
}
