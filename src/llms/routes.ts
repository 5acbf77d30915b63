// Route GET /llms.txt.
import type { Router } from 'express';
import { createGuardedRouter, type GuardDeps } from '../access/guarded-router.js';
import { toLlmsText } from './llms-text.js';

export function createLlmsRouter(deps: GuardDeps): Router {
  const { router, on } = createGuardedRouter(deps);
  const text = toLlmsText();
  on('GET /llms.txt', (_req, res) => {
    res.type('text/plain').set('Cache-Control', 'public, max-age=3600').send(text);
  });
  return router;
}
