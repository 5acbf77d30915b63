// 429 responses of flow control: the error with its reason, and the counter by reason.
import type { ErrorRequestHandler } from 'express';
import { Counter, type Registry } from 'prom-client';
import { PublicError } from '../errors.js';

export type RefusalReason = 'backlog' | 'project_backlog' | 'shard_backlog' | 'events_per_second' | 'bytes_per_second';

export class FlowRefusal extends PublicError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super('rate_limited', message);
    this.reason = reason;
  }
}

export const createRefusalCounter = (registry: Registry) =>
  new Counter({
    name: 'ingest_requests_refused_total',
    help: 'Requests to /track, /identify and the routes of other SDKs that were answered 429, by reason; "requests" are those of the limits of requests',
    labelNames: ['route', 'reason'],
    registers: [registry],
  });

export type RefusalCounter = ReturnType<typeof createRefusalCounter>;

/**
 * Mount it after the routes it counts, at their path. `route` is the label, by default that path.
 */
export const countRefusals =
  (counter: RefusalCounter, route?: string): ErrorRequestHandler =>
  (error, req, _res, next) => {
    if (error instanceof PublicError && error.kind === 'rate_limited') {
      counter.inc({ route: route ?? req.baseUrl, reason: error instanceof FlowRefusal ? error.reason : 'requests' });
    }
    next(error);
  };
