// The routes every process has for its operators: /healthz, /readyz, /metrics.
import { Router } from 'express';
import type { Registry } from 'prom-client';

/** `isReady` asks the stores that the process cannot work without; a rejection is "not ready", with its reason. */
export function createOperationsRouter(deps: { isReady: () => Promise<void>; metrics: Registry }): Router {
  const router = Router();
  router.get('/healthz', (_req, res) => {
    res.type('text').send('ok');
  });
  router.get('/readyz', async (_req, res) => {
    const reason = await deps.isReady().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (reason === undefined) res.type('text').send('ready');
    else res.status(503).json({ error: `not ready: ${reason}` });
  });
  router.get('/metrics', async (_req, res) => {
    res.set('Content-Type', deps.metrics.contentType).send(await deps.metrics.metrics());
  });
  return router;
}
