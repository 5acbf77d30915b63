// POST /track: authenticate, read the body, accept events, commit, respond. The response is sent
// only after Redis holds the events.
import type { Request, Router } from 'express';
import { type Credential, type CredentialStore, rateSubjectsOf } from '../access/credentials.js';
import { authenticate } from '../access/middleware.js';
import type { BatchedRateLimit } from '../access/rate-limits.js';
import { PublicError } from '../platform/errors.js';
import type { GroupCommit } from '../platform/flow/group-commit.js';
import type { Turns } from '../platform/flow/turns.js';
import { allowAnyOrigin, answerPreflight } from '../platform/http/cross-origin.js';
import { type BodyLimits, createBodyReader } from '../platform/http/read-body.js';
import { requestIdOf } from '../platform/http/request-id.js';
import { createRouter } from '../platform/http/router.js';
import { isPeerTrusted } from '../platform/http/trusted-peer.js';
import type { Redis } from '../platform/redis/client.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import type { AcceptedRequest, TrackRequest } from './accept.js';
import { acceptBody, acceptTask } from './accept-task.js';
import type { Admission } from './admission.js';
import { tryParseAddress } from './client-address.js';
import { type GeographyLookup, withDatabases } from './enrich/geography.js';
import type { Envelope, EnvelopeHeader } from './envelope.js';
import { type FirstTimesLimits, settleFirstSeenTimes } from './first-seen-times.js';
import { type EventLimits, LOOP_BYTES_MAX } from './limits.js';
import type { IngestMetrics } from './metrics.js';
import { weigh } from './payloads.js';
import type { ProjectRates } from './project-rates.js';
import { countRefusals, type RefusalCounter } from './refusal.js';
import type { RejectedEvents } from './rejected-events.js';

export interface IngestDeps {
  readonly credentials: CredentialStore;
  readonly rateLimit: BatchedRateLimit;
  readonly admission: Admission;
  readonly rates: ProjectRates;
  /** Fair scheduling of larger bodies that are parsed in the event loop. */
  readonly turns: Turns;
  readonly groupCommit: GroupCommit<Envelope>;
  readonly redis: Redis;
  readonly findGeography: GeographyLookup;
  /** Paths of the databases behind findGeography, for threads. */
  readonly geographyDatabases: readonly string[];
  /** Where large bodies are parsed. */
  readonly threads: ThreadPool;
  /** Whether `findGeography` reads headers; checking whether a peer is trusted has a cost. */
  readonly hasProxyHeaders: boolean;
  readonly limits: EventLimits & { readonly batchSizeMax: number };
  readonly firstTimes: FirstTimesLimits;
  readonly body: BodyLimits;
  readonly rejectedEvents: RejectedEvents;
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
      const credential = await authenticate(deps.credentials, 'track', req);
      deps.rateLimit.take(rateSubjectsOf(credential));
      if (credential.isOverAllowance) throw new PublicError('forbidden', 'monthly event quota exceeded');
      deps.admission.admit(credential.projectId);
      deps.rates.admit(credential.projectId);
      const accepted = await withBody(req, credential.projectId, (bytes) => track({ req, credential, bytes }, deps));
      // Serialized here: res.json costs 5 to 10 % of a request this small.
      res.setHeader('Content-Type', 'application/json; charset=utf-8');
      res.end(`{"accepted":${accepted}}`);
    });
  router.use('/track', countRefusals(deps.refused));
  return router;
}

interface Tracked {
  readonly req: Request;
  readonly credential: Credential;
  readonly bytes: Buffer;
}

async function track(tracked: Tracked, deps: IngestDeps): Promise<number> {
  const { envelope, eventsWithoutTime } = await accept(tracked, deps);
  if (envelope.header.n === 0) return 0;

  const header =
    eventsWithoutTime.size === 0 ? envelope.header : await withFirstSeenTimes(envelope.header, eventsWithoutTime, deps);
  const bytes = envelope.body.length;
  const isBulk = deps.admission.isBulk(header.p, weigh(bytes, header.n));
  await deps.groupCommit.add({ header, body: envelope.body }, { weight: header.n, bytes, key: isBulk ? header.p : '' });
  deps.metrics.accepted.inc(header.n);
  return header.n;
}

/** Parsing this much takes a millisecond or more. */
const TURN_BYTES_MIN = 32 * 1024;

/**
 * A function of its own, so that the parsed body, many times the size of its bytes, can be
 * collected while the commit is pending.
 */
async function accept({ req, credential, bytes }: Tracked, deps: IngestDeps): Promise<AcceptedRequest> {
  const { projectId } = credential;
  const isInLoop = bytes.length <= LOOP_BYTES_MAX;
  if (isInLoop && bytes.length >= TURN_BYTES_MIN) await deps.turns.enter(projectId);
  // Other requests of the project may have reached its limit in the meantime; then parsing is
  // avoided.
  deps.rates.admit(projectId);
  const request = { bytes, credential, id: requestIdOf(req), address: req.ip, now: Date.now() };
  const proxyHeaders = deps.hasProxyHeaders && isPeerTrusted(req) ? req.headers : {};
  const accepted = isInLoop
    ? await withDatabases(() => acceptBody({ ...request, headers: req.headers, proxyHeaders }, deps))
    : await acceptInThread({ ...request, proxyHeaders }, req, deps);
  deps.rates.take(projectId, { bytes: bytes.length, events: accepted.envelope.header.n + accepted.rejected.length });
  for (const { reason } of accepted.rejected) deps.metrics.skipped.inc({ reason });
  deps.rejectedEvents.note(credential.projectId, accepted.rejected, request.now);
  return accepted;
}

async function acceptInThread(
  { credential, proxyHeaders, ...request }: Omit<TrackRequest, 'body' | 'headers'>,
  req: Request,
  { threads, findGeography, geographyDatabases, limits }: IngestDeps,
): Promise<AcceptedRequest> {
  const { kind, projectId, ipPolicy } = credential;
  const input = {
    ...request,
    credential: { kind, projectId, ipPolicy },
    userAgent: req.headers['user-agent'],
    geography: await withDatabases(() => findGeography(tryParseAddress(request.address), proxyHeaders)),
    databases: geographyDatabases,
    limits,
  };
  const { header, body, ...accepted } = await threads.run(acceptTask, input, projectId);
  return { ...accepted, envelope: { header, body: body === undefined ? request.bytes : asBuffer(body) } };
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);

async function withFirstSeenTimes(
  header: EnvelopeHeader,
  eventsWithoutTime: ReadonlyMap<number, string>,
  deps: Pick<IngestDeps, 'redis' | 'firstTimes'>,
): Promise<EnvelopeHeader> {
  const insertIds = [...eventsWithoutTime.values()];
  const settled = { projectId: header.p, insertIds, now: header.t };
  const times = await settleFirstSeenTimes(deps.redis, settled, deps.firstTimes);
  const first: Record<string, number> = {};
  [...eventsWithoutTime.keys()].forEach((position, index) => {
    const time = times[index];
    if (time !== undefined && time !== header.t) first[position] = time;
  });
  return Object.keys(first).length === 0 ? header : { ...header, first };
}
