// Request metrics: count and duration by route pattern and status. Never labelled by path, because
// paths contain ids and have unbounded cardinality.
import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { Histogram, type Registry } from 'prom-client';

export interface RequestMetrics {
  readonly middleware: RequestHandler;
  /** For a request that came past the router: counts it under a route when its answer ends. */
  watch(res: ServerResponse, of: { method: string; route: string }): Watched;
}

export interface Watched {
  /** The router counts the request. */
  leave(): void;
}

export function createRequestMetrics(registry: Registry): RequestMetrics {
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer, by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers: [registry],
  });
  const watch: RequestMetrics['watch'] = (res, { method, route }) => {
    const startedAt = performance.now();
    const count = () => {
      const status = res.writableFinished ? res.statusCode : 499;
      duration.observe({ method, route, status }, (performance.now() - startedAt) / 1000);
    };
    res.once('close', count);
    return { leave: () => void res.off('close', count) };
  };
  const middleware: RequestHandler = (req, res, next) => {
    const startedAt = performance.now();
    res.once('close', () => {
      // The matched express pattern; requests without a route share one label.
      const route = typeof req.route?.path === 'string' ? req.baseUrl + req.route.path : 'none';
      // The client closed the connection before the response ended: 499, as in nginx.
      const status = res.writableFinished ? res.statusCode : 499;
      duration.observe({ method: req.method, route, status }, (performance.now() - startedAt) / 1000);
    });
    next();
  };
  return { middleware, watch };
}
