// POST /track: `track` lists the steps of a request. The response is sent only after Redis holds
// the events, and with `?wait=1` after they are counted.
import type { Response, Router } from 'express';
import { type CredentialStore, rateSubjectsOf } from '../access/credentials.js';
import { authenticate } from '../access/middleware.js';
import type { BatchedRateLimit } from '../access/rate-limits.js';
import { countRefusals, type RefusalCounter } from '../platform/flow/refusal.js';
import { allowAnyOrigin, answerPreflight } from '../platform/http/cross-origin.js';
import type { PlainRequest } from '../platform/http/plain-request.js';
import { type BodyLimits, createBodyReader, type WithBody } from '../platform/http/read-body.js';
import { createRouter } from '../platform/http/router.js';
import type { FrontRoute } from './front.js';
import { throwFailure } from './front-failures.js';
import { admit, awaitTurn, decideAndCount, enqueue, requireQuota, type StepDeps, settleTimes } from './steps.js';
import { CountedWaits, parseReplace, parseWait } from './wait-until-counted.js';

export interface IngestDeps extends StepDeps {
  readonly credentials: CredentialStore;
  readonly rateLimit: BatchedRateLimit;
  readonly body: BodyLimits;
  readonly refused: RefusalCounter;
}

export function createIngestRouter(deps: IngestDeps): Router {
  const withBody = createBodyReader(deps.body);
  const waits = new CountedWaits(deps.redis);
  const router = createRouter();
  router
    .route('/track')
    .options(answerPreflight)
    .post(async (req, res) => {
      allowAnyOrigin(res);
      throwFailure(req);
      const tracked = await track(req, withBody, deps);
      if (tracked.isWaiting) {
        const answer = await answerWhenCounted(tracked, res, waits);
        // The line break is for terminals, where the answer to the question comes next.
        return void res.type('json').send(`${JSON.stringify(answer)}\n`);
      }
      // Serialized here: res.json costs 5 to 10 % of a request this small.
      res.setHeader('Content-Type', 'application/json; charset=utf-8');
      res.end(toAnswer(tracked));
    });
  router.use('/track', countRefusals(deps.refused));
  return router;
}

/** Requests with a query may wait for longer than an answer in front of the router can. */
export function createTrackFront(deps: IngestDeps): FrontRoute {
  const withBody = createBodyReader(deps.body);
  const answer: FrontRoute['answer'] = async (req) => toAnswer(await track(req, withBody, deps));
  return { path: '/track', pattern: '/track', takesQuery: false, answer };
}

interface Tracked {
  readonly accepted: number;
  /** Events that rules of the project dropped, which public keys are not told: 0 for them. */
  readonly dropped: number;
  readonly isWaiting: boolean;
  /** The job that holds the events; undefined when none is accepted. */
  readonly jobId?: string;
}

const toAnswer = ({ accepted, dropped }: Tracked): string =>
  dropped === 0 ? `{"accepted":${accepted}}` : `{"accepted":${accepted},"dropped":${dropped}}`;

async function answerWhenCounted({ accepted, dropped, jobId }: Tracked, res: Response, waits: CountedWaits) {
  const counted = jobId === undefined || (await waits.wait(jobId, () => res.destroyed));
  return { accepted, ...(dropped > 0 && { dropped }), counted };
}

/** The way of a request; a step that throws ends it. Resolves with the numbers of events. */
async function track(req: PlainRequest, withBody: WithBody, deps: IngestDeps): Promise<Tracked> {
  const credential = await authenticate(deps.credentials, 'track', req); // 401, 403
  deps.rateLimit.take(rateSubjectsOf(credential)); // 429
  const isWaiting = parseWait(req, credential); // 400, 403
  const replacesHostless = parseReplace(req, credential); // 400, 403
  requireQuota(credential); // 403
  admit(credential, deps); // 429
  // 400, 413, 429
  return withBody(req, credential.projectId, async (bytes) => {
    await awaitTurn(credential.projectId, bytes, deps);
    const decided = await decideAndCount({ req, credential, bytes }, deps); // 400, 429
    const dropped = credential.kind === 'public' ? 0 : decided.dropped;
    if (decided.envelope.header.n === 0) return { accepted: 0, dropped, isWaiting };
    const { header, body } = await settleTimes(decided, deps);
    const envelope = { header: replacesHostless ? { ...header, host: true as const } : header, body };
    const { events, jobId } = await enqueue(envelope, deps); // 429, 503
    return { accepted: events, dropped, isWaiting, jobId };
  });
}
