// Routes of delivery: how it stands for a project, and the replay and the discarding of dead
// letters, which the audit trail records.
import type { Response, Router } from 'express';
import { z } from 'zod';
import { createGuardedRouter, type GuardDeps, projectIdOf } from '../access/guarded-router.js';
import { personOf } from '../access/session-middleware.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import { toOrganizationId } from '../platform/ids.js';
import { recordAudit } from '../privacy/audit-store.js';
import type { Caller, DeadLetterId, DeadLetters, Found } from './dead-letters.js';
import type { DeliverySource } from './delivery.js';
import type { createOperators } from './operators.js';

export interface DeliveryRoutesDeps extends GuardDeps {
  readonly source: DeliverySource;
  readonly deadLetters: DeadLetters;
  readonly isOperator: ReturnType<typeof createOperators>;
}

const name = (what: string) => z.string({ error: `is required: ${what}` }).max(256);

/** Body of `replay` and `discard`. */
export const deadLetterBody = z.object({ queue: name('the name of a queue'), id: name('the id of a failed job') });

export function createDeliveryRouter(deps: DeliveryRoutesDeps): Router {
  const { router, on } = createGuardedRouter(deps);
  const callerOf = async (res: Response): Promise<Caller> => ({
    projectId: projectIdOf(res),
    isOperator: await deps.isOperator(personOf(res)),
  });

  on('GET /api/projects/{projectID}/delivery', async (_req, res) => {
    res.json(await deps.source.read(await callerOf(res)));
  });

  /** In the trail of the project that the job belongs to; operators act on jobs of others, too. */
  const recorder =
    (res: Response, action: string, job: DeadLetterId) =>
    async ({ owner, events }: Found): Promise<void> => {
      const { personId } = personOf(res);
      const projectId = owner ?? projectIdOf(res);
      const project: { organization_id: string } | undefined = await deps
        .postgres('projects')
        .where({ id: projectId })
        .first('organization_id');
      if (project === undefined) return;
      await recordAudit(deps.postgres, {
        projectId,
        organizationId: toOrganizationId(project.organization_id),
        actor: { kind: owner === projectIdOf(res) ? 'person' : 'operator', id: personId },
        action,
        outcome: 'accepted',
        details: { queue: job.queue, job: job.id, events },
      });
    };

  on('POST /api/projects/{projectID}/delivery/replay', readJsonBody, async (req, res) => {
    const job = parseJsonBody(deadLetterBody, req.body);
    await deps.deadLetters.replay(await callerOf(res), job, recorder(res, 'job.replayed', job));
    res.json({ status: 'replayed', ...job });
  });

  on('POST /api/projects/{projectID}/delivery/discard', readJsonBody, async (req, res) => {
    const job = parseJsonBody(deadLetterBody, req.body);
    await deps.deadLetters.discard(await callerOf(res), job, recorder(res, 'job.discarded', job));
    res.json({ status: 'discarded', ...job });
  });
  return router;
}
