// Request metrics: count and duration by route pattern and status. Never labelled by path, because
// paths contain ids and have unbounded cardinality.
import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { Histogram, type Registry } from 'prom-client';
import { routeOf } from './route-of.js';

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
  /** Counts the request when its answer ends. Returns the listener. */
  function countAtEnd(res: ServerResponse, method: string, findRoute: () => string): () => void {
    const startedAt = performance.now();
    const count = () => {
      // The client closed the connection before the response ended: 499, as in nginx.
      const status = res.writableFinished ? res.statusCode : 499;
      duration.observe({ method, route: findRoute(), status }, (performance.now() - startedAt) / 1000);
    };
    res.once('close', count);
    return count;
  }
  return {
    middleware: (req, res, next) => {
      countAtEnd(res, req.method, () => routeOf(req));
      next();
    },
    watch: (res, { method, route }) => {
      const count = countAtEnd(res, method, () => route);
      return { leave: () => void res.off('close', count) };
    },
  };
}
