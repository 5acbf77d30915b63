// Routes of the catalog: GET /catalog for keys, GET /api/projects/{projectID}/catalog for people.
import type { Response, Router } from 'express';
import { rateSubjectsOf } from '../access/credentials.js';
import { createGuardedRouter, type GuardDeps, projectIdOf } from '../access/guarded-router.js';
import { credentialOf } from '../access/middleware.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import type { DefinitionsReader } from '../definitions/reader.js';
import type { ProjectId } from '../platform/ids.js';
import { createEncoder } from './encode.js';
import type { CatalogReader } from './reader.js';

export interface CatalogRoutesDeps extends GuardDeps {
  readonly catalogs: CatalogReader;
  readonly definitions: Pick<DefinitionsReader, 'read'>;
  /** Reading a catalog counts like a query. */
  readonly rateLimit: LayeredRateLimit;
}

export function createCatalogRouter({ catalogs, definitions, rateLimit, ...guard }: CatalogRoutesDeps): Router {
  const { router, on } = createGuardedRouter(guard);
  const encode = createEncoder();
  const answer = async (res: Response, projectId: ProjectId) => {
    const [catalog, defined] = await Promise.all([catalogs.read(projectId), definitions.read(projectId)]);
    const text = await encode(catalog, defined);
    res.set('Content-Type', 'application/json; charset=utf-8').send(text);
  };
  on('GET /catalog', async (_req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateSubjectsOf(credential));
    await answer(res, credential.projectId);
  });
  on('GET /api/projects/{projectID}/catalog', async (_req, res) => {
    await answer(res, projectIdOf(res));
  });
  return router;
}
