// Operator routes of every process: /healthz, /readyz, and /metrics unless disabled.
import type { Router } from 'express';
import type { Registry } from 'prom-client';
import { createCollectedGauge } from '../collected-gauge.js';
import { withTimeout } from '../flow/with-timeout.js';
import { createRouter } from './router.js';

export interface OperationsDeps {
  /** Readiness checks by store name. Each runs a real request against its store. */
  readonly stores: Readonly<Record<string, () => Promise<unknown>>>;
  readonly metrics: Registry;
  readonly isMetricsEnabled: boolean;
}

const READY_WITHIN_MS = 3000;
// Shorter than the timeout of collected gauges.
const REACHABLE_WITHIN_MS = 900;

export function createOperationsRouter({ stores, metrics, isMetricsEnabled }: OperationsDeps): Router {
  const askEach = (withinMs: number) =>
    Promise.all(
      Object.entries(stores).map(async ([store, ask]) => {
        const isReachable = await withTimeout(withinMs, ask()).then(
          () => true,
          () => false,
        );
        return { store, isReachable };
      }),
    );

  const router = createRouter();
  router.get('/healthz', (_req, res) => {
    res.type('text').send('ok');
  });
  router.get('/readyz', async (_req, res) => {
    const asked = await askEach(READY_WITHIN_MS);
    const unreachable = asked.filter(({ isReachable }) => !isReachable).map(({ store }) => store);
    if (unreachable.length === 0) res.type('text').send('ready');
    else res.status(503).json({ error: `not ready: cannot use ${unreachable.join(', ')}` });
  });
  if (!isMetricsEnabled) return router;

  createCollectedGauge(
    metrics,
    { name: 'store_reachable', help: 'Whether a store that the process needs answers it', labelNames: ['store'] },
    async () =>
      (await askEach(REACHABLE_WITHIN_MS)).map(({ store, isReachable }) => ({
        labels: { store },
        value: Number(isReachable),
      })),
  );
  router.get('/metrics', async (_req, res) => {
    res.set('Content-Type', metrics.contentType).send(await metrics.metrics());
  });
  return router;
}
