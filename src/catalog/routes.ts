// Routes of the catalog: GET /catalog for keys, GET /api/projects/{projectID}/catalog for people.
import type { Router } from 'express';
import { rateSubjectsOf } from '../access/credentials.js';
import { createGuardedRouter, type GuardDeps, projectIdOf } from '../access/guarded-router.js';
import { credentialOf } from '../access/middleware.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import type { DefinitionsReader } from '../definitions/reader.js';
import { toLists } from '../definitions/to-lists.js';
import type { ProjectId } from '../platform/ids.js';
import type { Catalog } from './catalog.js';
import type { CatalogReader } from './reader.js';

export interface CatalogRoutesDeps extends GuardDeps {
  readonly catalogs: CatalogReader;
  readonly definitions: Pick<DefinitionsReader, 'read'>;
  /** Reading a catalog counts like a query. */
  readonly rateLimit: LayeredRateLimit;
}

export function createCatalogRouter({ catalogs, definitions, rateLimit, ...guard }: CatalogRoutesDeps): Router {
  const { router, on } = createGuardedRouter(guard);
  const read = async (projectId: ProjectId) => {
    const [catalog, defined] = await Promise.all([catalogs.read(projectId), definitions.read(projectId)]);
    return { ...toAnswer(catalog), definitions: { version: defined.version, ...toLists(defined.definitions) } };
  };
  on('GET /catalog', async (_req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateSubjectsOf(credential));
    res.json(await read(credential.projectId));
  });
  on('GET /api/projects/{projectID}/catalog', async (_req, res) => {
    res.json(await read(projectIdOf(res)));
  });
  return router;
}

/** Of a field with more values, the most frequent ones are shown. */
const VALUES_SHOWN_MAX = 100;

function toAnswer({ isComplete, events, properties, values }: Catalog) {
  const fields = [...properties].map(([field, types]) => ({ field, types: types.filter((type) => type !== 'null') }));
  const isOfProfile = ({ field }: { readonly field: string }): boolean => field.startsWith('user.');
  return {
    complete: isComplete,
    events: [...events].map(([event_type, count]) => ({ event_type, count })),
    properties: fields.filter((each) => !isOfProfile(each)),
    profile: fields.filter(isOfProfile),
    values: [...values].map(([field, all]) => ({
      field,
      values: all.slice(0, VALUES_SHOWN_MAX),
      distinct: all.length,
    })),
  };
}
