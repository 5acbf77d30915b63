// POST /track: `track` lists the steps of a request. The response is sent only after Redis holds
// the events.
import type { Request, Router } from 'express';
import { type Credential, type CredentialStore, rateSubjectsOf } from '../access/credentials.js';
import { authenticate } from '../access/middleware.js';
import type { BatchedRateLimit } from '../access/rate-limits.js';
import { PublicError } from '../platform/errors.js';
import type { Admission } from '../platform/flow/admission.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { GroupCommit } from '../platform/flow/group-commit.js';
import type { ProjectRates } from '../platform/flow/project-rates.js';
import { countRefusals, type RefusalCounter } from '../platform/flow/refusal.js';
import type { Turns } from '../platform/flow/turns.js';
import { allowAnyOrigin, answerPreflight } from '../platform/http/cross-origin.js';
import { type BodyLimits, createBodyReader, type WithBody } from '../platform/http/read-body.js';
import { createRouter } from '../platform/http/router.js';
import type { Redis } from '../platform/redis/client.js';
import type { AcceptedRequest } from './accept.js';
import { type DecideDeps, decide } from './decide.js';
import type { DroppedEvents } from './drop/counts.js';
import type { Envelope } from './envelope.js';
import { type FirstTimesLimits, settleFirstSeenTimes } from './first-seen-times.js';
import { isParsedInLoop } from './limits.js';
import type { IngestMetrics } from './metrics.js';
import { weigh } from './payloads.js';
import type { RejectedEvents } from './rejected/events.js';

export interface IngestDeps extends DecideDeps {
  readonly credentials: CredentialStore;
  readonly rateLimit: BatchedRateLimit;
  readonly admission: Admission;
  readonly rates: ProjectRates;
  /** Fair scheduling of larger bodies that are parsed in the event loop. */
  readonly turns: Turns;
  readonly groupCommit: GroupCommit<Envelope>;
  readonly redis: Redis;
  readonly firstTimes: FirstTimesLimits;
  readonly body: BodyLimits;
  readonly rejectedEvents: RejectedEvents;
  readonly droppedEvents: DroppedEvents;
  readonly metrics: IngestMetrics;
  readonly refused: RefusalCounter;
}

export function createIngestRouter(deps: IngestDeps): Router {
  const withBody = createBodyReader(deps.body);
  const router = createRouter();
  router
    .route('/track')
    .options(answerPreflight)
    .post(async (req, res) => {
      allowAnyOrigin(res);
      const { accepted, dropped } = await track(req, withBody, deps);
      // Serialized here: res.json costs 5 to 10 % of a request this small.
      res.setHeader('Content-Type', 'application/json; charset=utf-8');
      res.end(dropped === 0 ? `{"accepted":${accepted}}` : `{"accepted":${accepted},"dropped":${dropped}}`);
    });
  router.use('/track', countRefusals(deps.refused));
  return router;
}

interface Tracked {
  readonly accepted: number;
  /** Events that rules of the project dropped, which public keys are not told: 0 for them. */
  readonly dropped: number;
}

/** The way of a request; a step that throws ends it. Resolves with the numbers of events. */
async function track(req: Request, withBody: WithBody, deps: IngestDeps): Promise<Tracked> {
  const credential = await authenticate(deps.credentials, 'track', req); // 401, 403
  deps.rateLimit.take(rateSubjectsOf(credential)); // 429
  requireQuota(credential); // 403
  admit(credential, deps); // 429
  // 400, 413, 429
  return withBody(req, credential.projectId, async (bytes) => {
    await awaitTurn(credential, bytes, deps);
    const decided = await decideAndCount({ req, credential, bytes }, deps); // 400, 429
    const { envelope, eventsWithoutTime } = decided;
    const dropped = credential.kind === 'public' ? 0 : decided.dropped;
    if (envelope.header.n === 0) return { accepted: 0, dropped };
    return { accepted: await enqueue(await settleTimes(envelope, eventsWithoutTime, deps), deps), dropped }; // 429, 503
  });
}

function requireQuota(credential: Credential): void {
  if (credential.isOverAllowance) throw new PublicError('forbidden', 'monthly event quota exceeded');
}

function admit({ projectId }: Credential, { admission, rates }: IngestDeps): void {
  admission.admit(projectId);
  rates.admit(projectId);
}

async function awaitTurn({ projectId }: Credential, bytes: Buffer, { turns, rates }: IngestDeps): Promise<void> {
  if (bytes.length >= BOUNDS.turnBodyBytes && isParsedInLoop(bytes)) await turns.enter(projectId);
  // Other requests of the project may have reached its limit in the meantime; then parsing is
  // avoided.
  rates.admit(projectId);
}

/**
 * A function of its own, so that the parsed body, many times the size of its bytes, can be
 * collected while the commit is pending.
 */
async function decideAndCount(
  tracked: { readonly req: Request; readonly credential: Credential; readonly bytes: Buffer },
  deps: IngestDeps,
): Promise<Pick<AcceptedRequest, 'envelope' | 'eventsWithoutTime'> & { readonly dropped: number }> {
  const { projectId } = tracked.credential;
  const { envelope, rejected, dropped: byRule, eventsWithoutTime } = await decide(tracked, deps);
  const dropped = [...byRule.values()].reduce((sum, events) => sum + events, 0);
  const events = envelope.header.n + rejected.length + dropped;
  deps.rates.take(projectId, { bytes: tracked.bytes.length, events });
  deps.droppedEvents.note(projectId, byRule);
  for (const { reason } of rejected) deps.metrics.skipped.inc({ reason });
  deps.rejectedEvents.note(projectId, rejected, envelope.header.t);
  return { envelope, dropped, eventsWithoutTime };
}

/**
 * An event without a time gets that of its first delivery, so that a repeated one is a duplicate.
 */
async function settleTimes(
  envelope: Envelope,
  eventsWithoutTime: ReadonlyMap<number, string>,
  { redis, firstTimes }: IngestDeps,
): Promise<Envelope> {
  if (eventsWithoutTime.size === 0) return envelope;
  const { header, body } = envelope;
  const settled = { projectId: header.p, insertIds: [...eventsWithoutTime.values()], now: header.t };
  const times = await settleFirstSeenTimes(redis, settled, firstTimes);
  const first: Record<string, number> = {};
  [...eventsWithoutTime.keys()].forEach((position, index) => {
    const time = times[index];
    if (time !== undefined && time !== header.t) first[position] = time;
  });
  return Object.keys(first).length === 0 ? envelope : { header: { ...header, first }, body };
}

async function enqueue({ header, body }: Envelope, deps: IngestDeps): Promise<number> {
  const isBulk = deps.admission.isBulk(header.p, weigh(body.length, header.n));
  const size = { weight: header.n, bytes: body.length, key: isBulk ? header.p : '' };
  await deps.groupCommit.add({ header, body }, size);
  deps.metrics.accepted.inc(header.n);
  return header.n;
}
