// Routes of /api/gdpr, and the same for signed-in people: erase a person, show an erasure request,
// list the audit trail. Workers do the erasure; the request waits for its receipt, or gets 202 with
// the address of its status.
import type { Request, Response, Router } from 'express';
import { createGuardedRouter, type GuardDeps } from '../access/guarded-router.js';
import { credentialOf } from '../access/middleware.js';
import type { RateLimits } from '../access/rate-limits.js';
import { takeSequence } from '../identity/sequence.js';
import type { Shards } from '../platform/clickhouse/shards.js';
import { findSilentHosts } from '../platform/clickhouse/silent-hosts.js';
import { PublicError } from '../platform/errors.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import { newUuidV7, type ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import type { Redis } from '../platform/redis/client.js';
import { listAudit } from './audit-store.js';
import type { HashId } from './id-hash.js';
import { type ErasureQueue, enqueueErasure, sequenceMember } from './queue.js';
import { ReceiptPoller } from './receipt-poller.js';
import { type Requester, requesterOf, signedInRequester } from './requester.js';
import { parseAuditPage, personBody, tryParseRequestId } from './schema.js';
import { createErasure, type ErasureRecord, findErasedAmong, findErasure } from './store.js';
import { requireUserId } from './user-id.js';

export interface PrivacyDeps extends GuardDeps {
  readonly redis: Redis;
  readonly shards: Pick<Shards, 'tracesOf'>;
  readonly erasureQueue: ErasureQueue;
  readonly hashId: HashId;
  /** How long a request waits for its receipt. */
  readonly answerTimeoutMs: number;
  /** Maximum time from the request until the files are rewritten. */
  readonly purgeByMs: number;
  readonly limits: Pick<RateLimits, 'erasure' | 'privacyRead'>;
  readonly log: Logger;
}

export function createPrivacyRouter(deps: PrivacyDeps): Router {
  const { router, on } = createGuardedRouter(deps);
  const receipts = new ReceiptPoller((ids) => findErasedAmong(deps.postgres, ids));

  const erase = async (req: Request, res: Response, asked: Requester & { userId: string; statusPath: string }) => {
    const userId = requireUserId(asked.userId);
    await deps.limits.erasure.take(asked.rates);
    const id = await requestErasure(deps, { ...asked, userId });
    const isGone = () => req.socket.destroyed;
    const isErased = await receipts.wait(id, { timeoutMs: deps.answerTimeoutMs, isGone });
    const receipt = isErased
      ? await findErasure(deps.postgres, { projectId: asked.projectId, id }).catch(() => undefined)
      : undefined;
    if (receipt === undefined) {
      res.status(202).json({ status: 'pending', request_id: id, status_url: `${asked.statusPath}/${id}` });
    } else {
      res.json({ status: 'deleted', request_id: id, user_id: userId, ...shownOf(receipt) });
    }
  };
  const showErasure = async (req: Request, res: Response, { projectId, rates }: Requester) => {
    const id = tryParseRequestId(req.params.requestID);
    await deps.limits.privacyRead.take(rates);
    const found = id === undefined ? undefined : await findErasure(deps.postgres, { projectId, id });
    if (found === undefined) throw new PublicError('not_found', 'there is no such request');
    const status = found.status === 'requested' ? 'pending' : found.status;
    const { userHash: user_hash, requestedAt: requested_at, purgedAt: purged_at } = found;
    const waiting_for = status === 'purged' ? [] : await listUnanswering(deps, projectId);
    res.json({ status, request_id: id, user_hash, requested_at, ...shownOf(found), purged_at, waiting_for });
  };
  const showAudit = async (req: Request, res: Response, { projectId, rates }: Requester) => {
    const page = parseAuditPage(req.query);
    await deps.limits.privacyRead.take(rates);
    res.json(await listAudit(deps.postgres, { projectId, ...page }));
  };

  on('DELETE /api/gdpr/users/{userID}', (req, res) =>
    erase(req, res, {
      ...requesterOf(credentialOf(res)),
      ...{ userId: String(req.params.userID), statusPath: '/api/gdpr/requests' },
    }),
  );
  on('GET /api/gdpr/requests/{requestID}', (req, res) => showErasure(req, res, requesterOf(credentialOf(res))));
  on('GET /api/gdpr/audit', (req, res) => showAudit(req, res, requesterOf(credentialOf(res))));

  // The id is in the body: addresses are in access logs.
  on('POST /api/projects/{projectID}/erasures', readJsonBody, (req, res) => {
    const asked = signedInRequester(res);
    const { user_id: userId } = parseJsonBody(personBody, req.body);
    return erase(req, res, { ...asked, userId, statusPath: `/api/projects/${asked.projectId}/erasures` });
  });
  on('GET /api/projects/{projectID}/erasures/{requestID}', (req, res) => showErasure(req, res, signedInRequester(res)));
  on('GET /api/projects/{projectID}/audit', (req, res) => showAudit(req, res, signedInRequester(res)));

  return router;
}

/** Only by their numbers: addresses of servers are for operators (log, doctor). */
async function listUnanswering({ shards }: PrivacyDeps, projectId: ProjectId): Promise<readonly string[]> {
  const silent = await findSilentHosts(await shards.tracesOf(projectId));
  return [...new Set(silent.map(({ shard }) => `shard ${shard}`))];
}

/** In the documented order: PostgreSQL sorts the keys of its JSON by their length. */
const shownOf = ({ counts: { events, mappings, profiles, devices }, verifiedAt, purgeBy }: ErasureRecord) => ({
  ...{ events, mappings, profiles, devices },
  verified_at: verifiedAt,
  purge_by: purgeBy,
});

async function requestErasure(
  { postgres, redis, erasureQueue, hashId, purgeByMs, log }: PrivacyDeps,
  { projectId, organizationId, actor, userId }: Requester & { userId: string },
): Promise<string> {
  const id = newUuidV7();
  // The sequence number is taken before the row is written: identify calls accepted earlier have
  // smaller ones. The worker releases numbers whose row was never written.
  const erasedThroughSeq = await takeSequence(redis, { member: sequenceMember(id), count: 1 }).catch(
    (cause: unknown) => {
      throw new PublicError('unavailable', 'erasure cannot be requested right now; try again', { cause });
    },
  );
  const erasedThroughMs = Date.now();
  await createErasure(postgres, {
    ...{ id, projectId, organizationId, userId, erasedThroughMs, erasedThroughSeq },
    userHash: hashId({ projectId, kind: 'user', id: userId }),
    requestedBy: actor,
    purgeBy: new Date(erasedThroughMs + purgeByMs),
  });
  // The request is stored; without the job the next sweep finds it.
  await enqueueErasure(erasureQueue).catch((err: unknown) => log.warn({ err }, 'an erasure waits for the next sweep'));
  return id;
}
