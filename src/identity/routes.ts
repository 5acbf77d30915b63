// Routes POST /identify and /identify/batch: credential, body, validation, group commit. They
// answer after Redis has stored the calls.
import type { Request, Router } from 'express';
import { type Credential, type CredentialStore, rateSubjectsOf } from '../access/credentials.js';
import { authenticate } from '../access/middleware.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import type { Scope } from '../access/roles.js';
import { type EventLimits, isParsedInLoop } from '../ingest/limits.js';
import type { RejectedEvents } from '../ingest/rejected/events.js';
import type { ProjectRates } from '../platform/flow/project-rates.js';
import { countRefusals, type RefusalCounter } from '../platform/flow/refusal.js';
import { allowAnyOrigin, answerPreflight } from '../platform/http/cross-origin.js';
import { type BodyLimits, createBodyReader } from '../platform/http/read-body.js';
import { requestIdOf } from '../platform/http/request-id.js';
import { createRouter } from '../platform/http/router.js';
import type { ProjectId } from '../platform/ids.js';
import { readList } from '../platform/threads/list-texts.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import { type CommitDeps, commitCall } from './commit.js';
import { identifyBatchTask, identifyTask } from './identify-task.js';
import type { IdentifyMetrics } from './metrics.js';
import {
  IdentifyRefusal,
  type ParsedBatch,
  type ParsedCall,
  parseIdentifyBatch,
  parseIdentifyBody,
  type TimedCall,
} from './schema.js';

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
  /** Told of unknown fields. */
  readonly rejectedEvents: RejectedEvents;
}

export function createIdentityRouter(deps: IdentityDeps): Router {
  const withBody = createBodyReader(deps.body);
  const router = createRouter();
  router
    .route('/identify')
    .options(answerPreflight)
    .post(async (req, res) => {
      allowAnyOrigin(res);
      const credential = await admitCaller(req, 'track', deps);
      await withBody(req, credential.projectId, (bytes) => identify({ req, credential, bytes }, deps));
      deps.metrics.accepted.inc();
      res.json({ ok: true });
    });
  router.post('/identify/batch', async (req, res) => {
    const credential = await admitCaller(req, 'admin', deps);
    const accepted = await withBody(req, credential.projectId, (bytes) =>
      identifyBatch({ req, credential, bytes }, deps),
    );
    deps.metrics.accepted.inc(accepted);
    res.json({ accepted });
  });
  router.use('/identify', countRefusals(deps.refused));
  return router;
}

async function admitCaller(req: Request, scope: Scope, deps: IdentityDeps): Promise<Credential> {
  const credential = await authenticate(deps.credentials, scope, req);
  await deps.rateLimit.take(rateSubjectsOf(credential));
  deps.admission.admit(credential.projectId);
  deps.rates.admit(credential.projectId);
  return credential;
}

interface Received {
  readonly req: Request;
  readonly credential: Credential;
  readonly bytes: Buffer;
}

async function identify({ req, credential, bytes }: Received, deps: IdentityDeps): Promise<void> {
  const { projectId } = credential;
  deps.rates.take(projectId, { bytes: bytes.length, events: 1 });
  const { call, ignoredFields } = await parseCounted(bytes, projectId, deps);
  await commitCall({ projectId, call, bytes: bytes.length, request: requestIdOf(req) }, deps);
  deps.rejectedEvents.noteIgnored(projectId, '/identify', ignoredFields, Date.now());
}

/** Resolves with the number of calls. */
async function identifyBatch({ req, credential, bytes }: Received, deps: IdentityDeps): Promise<number> {
  const { projectId } = credential;
  const { calls, ignoredFields } = await countingRefusals(deps, () => parseBatch(bytes, projectId, deps));
  deps.rates.take(projectId, { bytes: bytes.length, events: calls.length });
  const share = Math.ceil(bytes.length / calls.length);
  const of = { projectId, request: requestIdOf(req), bytes: share, requestBytes: bytes.length };
  await Promise.all(calls.map((call) => commitCall({ ...of, call, timeMs: call.timeMs }, deps)));
  deps.rejectedEvents.noteIgnored(projectId, '/identify', ignoredFields, Date.now());
  return calls.length;
}

async function parseBatch(
  bytes: Buffer,
  projectId: ProjectId,
  { threads, limits }: IdentityDeps,
): Promise<ParsedBatch> {
  const nowMs = Date.now();
  if (isParsedInLoop(bytes)) return parseIdentifyBatch(bytes, limits, nowMs);
  const answer = await threads.run(identifyBatchTask, { bytes, limits, nowMs }, projectId);
  if ('reason' in answer) throw new IdentifyRefusal(answer.reason, answer.message);
  return { calls: await readList<TimedCall>(answer.callTexts), ignoredFields: answer.ignoredFields };
}

const parseCounted = (bytes: Buffer, projectId: ProjectId, deps: IdentityDeps): Promise<ParsedCall> =>
  countingRefusals(deps, async () =>
    isParsedInLoop(bytes) ? parseIdentifyBody(bytes, deps.limits) : await parseInThread(bytes, projectId, deps),
  );

async function countingRefusals<T>(deps: IdentityDeps, parse: () => Promise<T>): Promise<T> {
  try {
    return await parse();
  } catch (error) {
    if (error instanceof IdentifyRefusal) deps.metrics.refused.inc({ reason: error.reason });
    throw error;
  }
}

async function parseInThread(bytes: Buffer, projectId: ProjectId, { threads, limits }: IdentityDeps) {
  const answer = await threads.run(identifyTask, { bytes, limits }, projectId);
  if ('reason' in answer) throw new IdentifyRefusal(answer.reason, answer.message);
  return answer;
}
