// Route GET /openapi.json.
import type { Router } from 'express';
import { createGuardedRouter, type GuardDeps } from '../../access/guarded-router.js';
import { toOpenApiDocument } from './document.js';

export function createOpenApiRouter(deps: GuardDeps): Router {
  const { router, on } = createGuardedRouter(deps);
  const text = JSON.stringify(toOpenApiDocument());
  on('GET /openapi.json', (_req, res) => {
    // CORS: any origin may read the document.
    res.set({ 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public, max-age=3600' }).type('json').send(text);
  });
  return router;
}
