// Requests as operators see them: how many, how long, by route and status. Routes are named by their pattern, never by the
// address that was asked for: addresses hold ids, and there is no end of them.
import type { RequestHandler } from 'express';
import { Histogram, type Registry } from 'prom-client';

export function createRequestMetrics(registry: Registry): RequestHandler {
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer, by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers: [registry],
  });
  return (req, res, next) => {
    const startedAt = performance.now();
    res.once('close', () => {
      // What express matched; requests that no route took are one label together.
      const route = typeof req.route?.path === 'string' ? req.baseUrl + req.route.path : 'none';
      // Nobody heard an answer that was cut: 499, as the common proxies have it.
      const status = res.writableFinished ? res.statusCode : 499;
      duration.observe({ method: req.method, route, status }, (performance.now() - startedAt) / 1000);
    });
    next();
  };
}
