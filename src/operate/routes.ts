// Routes of delivery: how it stands for a project, and the replay of a dead letter.
import type { Router } from 'express';
import { z } from 'zod';
import { createGuardedRouter, type GuardDeps, projectIdOf } from '../access/guarded-router.js';
import { personOf } from '../access/session-middleware.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import type { Logger } from '../platform/log.js';
import type { Asker, DeadLetters } from './dead-letters.js';
import type { DeliverySource } from './delivery.js';
import type { createOperators } from './operators.js';

export interface DeliveryRoutesDeps extends GuardDeps {
  readonly source: DeliverySource;
  readonly deadLetters: DeadLetters;
  readonly isOperator: ReturnType<typeof createOperators>;
  readonly log: Logger;
}

const name = (what: string) => z.string({ error: `is required: ${what}` }).max(256);

export const replayBody = z.object({ queue: name('the name of a queue'), id: name('the id of a failed job') });

export function createDeliveryRouter(deps: DeliveryRoutesDeps): Router {
  const { router, on } = createGuardedRouter(deps);
  const askerOf = async (res: Parameters<typeof personOf>[0]): Promise<Asker> => ({
    projectId: projectIdOf(res),
    isOperator: await deps.isOperator(personOf(res)),
  });

  on('GET /api/projects/{projectID}/delivery', async (_req, res) => {
    res.json(await deps.source.read(await askerOf(res)));
  });

  on('POST /api/projects/{projectID}/delivery/replay', readJsonBody, async (req, res) => {
    const job = parseJsonBody(replayBody, req.body);
    await deps.deadLetters.replay(await askerOf(res), job);
    deps.log.info({ ...job, person: personOf(res).personId }, 'a dead letter was replayed');
    res.json({ status: 'replayed', ...job });
  });
  return router;
}
