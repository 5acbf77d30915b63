// Route POST /identify: credential, body, validation, group commit. Answers after Redis has stored
// the call.
import type { Request, Router } from 'express';
import { type Credential, type CredentialStore, rateSubjectsOf } from '../access/credentials.js';
import { authenticate } from '../access/middleware.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import { type EventLimits, isParsedInLoop } from '../ingest/limits.js';
import type { ProjectRates } from '../platform/flow/project-rates.js';
import { countRefusals, type RefusalCounter } from '../platform/flow/refusal.js';
import { allowAnyOrigin, answerPreflight } from '../platform/http/cross-origin.js';
import { type BodyLimits, createBodyReader } from '../platform/http/read-body.js';
import { requestIdOf } from '../platform/http/request-id.js';
import { createRouter } from '../platform/http/router.js';
import type { ProjectId } from '../platform/ids.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import { type CommitDeps, commitCall } from './commit.js';
import { identifyTask } from './identify-task.js';
import type { IdentifyMetrics } from './metrics.js';
import { type IdentifyCall, IdentifyRefusal, parseIdentifyBody } from './schema.js';

export interface IdentityDeps extends CommitDeps {
  readonly credentials: CredentialStore;
  readonly rateLimit: LayeredRateLimit;
  readonly rates: ProjectRates;
  readonly limits: EventLimits;
  readonly body: BodyLimits;
  /** Where large bodies are parsed. */
  readonly threads: ThreadPool;
  readonly metrics: IdentifyMetrics;
  readonly refused: RefusalCounter;
}

export function createIdentityRouter(deps: IdentityDeps): Router {
  const withBody = createBodyReader(deps.body);
  const router = createRouter();
  router
    .route('/identify')
    .options(answerPreflight)
    .post(async (req, res) => {
      allowAnyOrigin(res);
      const credential = await authenticate(deps.credentials, 'track', req);
      await deps.rateLimit.take(rateSubjectsOf(credential));
      deps.admission.admit(credential.projectId);
      deps.rates.admit(credential.projectId);
      await withBody(req, credential.projectId, (bytes) => identify({ req, credential, bytes }, deps));
      deps.metrics.accepted.inc();
      res.json({ ok: true });
    });
  router.use('/identify', countRefusals(deps.refused));
  return router;
}

async function identify(
  { req, credential, bytes }: { req: Request; credential: Credential; bytes: Buffer },
  deps: IdentityDeps,
): Promise<void> {
  const { projectId } = credential;
  deps.rates.take(projectId, { bytes: bytes.length, events: 1 });
  const call = await parseCounted(bytes, projectId, deps);
  await commitCall({ projectId, call, bytes: bytes.length, request: requestIdOf(req) }, deps);
}

async function parseCounted(bytes: Buffer, projectId: ProjectId, deps: IdentityDeps): Promise<IdentifyCall> {
  try {
    return isParsedInLoop(bytes) ? parseIdentifyBody(bytes, deps.limits) : await parseInThread(bytes, projectId, deps);
  } catch (error) {
    if (error instanceof IdentifyRefusal) deps.metrics.refused.inc({ reason: error.reason });
    throw error;
  }
}

async function parseInThread(bytes: Buffer, projectId: ProjectId, { threads, limits }: IdentityDeps) {
  const answer = await threads.run(identifyTask, { bytes, limits }, projectId);
  if ('call' in answer) return answer.call;
  throw new IdentifyRefusal(answer.reason, answer.message);
}
