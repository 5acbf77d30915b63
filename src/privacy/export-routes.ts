// Exports of a person (GET /api/gdpr/users/{userID}/export) and of a project (GET /api/export/…),
// and the same for signed-in people: enqueues a job, relays the chunks of the worker with
// back-pressure, and records the outcome in the audit trail. A response that ends normally is
// complete; any failure breaks the connection.
import type { Request, Response, Router } from 'express';
import { createGuardedRouter, type GuardDeps } from '../access/guarded-router.js';
import { authenticate, credentialOf } from '../access/middleware.js';
import type { RateLimits } from '../access/rate-limits.js';
import { PublicError } from '../platform/errors.js';
import { OpenLimit } from '../platform/flow/open-limit.js';
import { parseJsonBody, parseParameters, readJsonBody } from '../platform/http/json-body.js';
import { newUuidV7 } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import { ChunkReceiver } from '../platform/redis/chunk-channel.js';
import type { Redis } from '../platform/redis/client.js';
import { type NewAuditEntry, recordAudit } from './audit-store.js';
import { createExportQueue, type ExportQueue, enqueueExport, forgetExport } from './export-queue.js';
import { type ExportRequest, encodeExportRequest } from './export-request.js';
import type { HashId } from './id-hash.js';
import { type Requester, requesterOf, signedInRequester } from './requester.js';
import { exportRange, noParameters, personBody } from './schema.js';
import { isErasureKnown } from './store.js';
import { requireUserId } from './user-id.js';

export interface ExportDeps extends GuardDeps {
  readonly redis: Redis;
  readonly hashId: HashId;
  /** Exports that may be open at once in this process. */
  readonly openMax: number;
  /** How long a reader may take for the next chunk. */
  readonly readerTimeoutMs: number;
  readonly limit: RateLimits['export'];
  readonly log: Logger;
}

export interface Exports {
  readonly router: Router;
  /** Resolves when the outcome of every export has been recorded. Close the connections first. */
  close(): Promise<void>;
}

export function createExports(deps: ExportDeps): Exports {
  const queue = createExportQueue(deps.redis);
  const admission = new OpenLimit('exports', deps.openMax);
  const running = new Set<Promise<void>>();
  const { router, on } = createGuardedRouter(deps);
  const answer = async (asked: Asked): Promise<void> => {
    // Express sends HEAD to the routes of GET.
    if (asked.res.req.method === 'HEAD') return answerHead(asked.res);
    await deps.limit.take(asked.requester.rates);
    const close = admission.open(asked.requester);
    const answering = answerExport({ ...deps, queue }, asked);
    running.add(answering);
    await answering.finally(() => {
      close();
      running.delete(answering);
    });
  };
  const answerPerson = async (requester: Requester, id: string, res: Response): Promise<void> => {
    const request = { kind: 'person', projectId: requester.projectId, userId: requireUserId(id) } as const;
    await answer({ requester, request, res });
  };
  const answerEvents = (requester: Requester, req: Request, res: Response): Promise<void> => {
    const { from, to } = parseParameters(exportRange, req.query);
    const request = { kind: 'events', projectId: requester.projectId, fromMs: from, untilMs: to } as const;
    return answer({ requester, request, res });
  };
  const answerIdentities = (requester: Requester, req: Request, res: Response): Promise<void> => {
    parseParameters(noParameters, req.query);
    const request = { kind: 'identities', projectId: requester.projectId } as const;
    return answer({ requester, request, res });
  };

  router.get('/api/gdpr/users/:userID/export', async (req, res) => {
    const requester = requesterOf(await authenticate(deps.credentials, 'admin', req));
    await answerPerson(requester, req.params.userID, res);
  });
  on('POST /api/projects/{projectID}/exports', readJsonBody, async (req, res) => {
    const { user_id: userId } = parseJsonBody(personBody, req.body);
    await answerPerson(signedInRequester(res), userId, res);
  });
  on('GET /api/export/events', (req, res) => answerEvents(requesterOf(credentialOf(res)), req, res));
  on('GET /api/export/identities', (req, res) => answerIdentities(requesterOf(credentialOf(res)), req, res));
  on('GET /api/projects/{projectID}/exports/events', (req, res) => answerEvents(signedInRequester(res), req, res));
  on('GET /api/projects/{projectID}/exports/identities', (req, res) =>
    answerIdentities(signedInRequester(res), req, res),
  );
  return {
    router,
    close: async () => {
      await Promise.allSettled(running);
      await queue.close();
    },
  };
}

type AnswerDeps = ExportDeps & { readonly queue: ExportQueue };

interface Asked {
  readonly requester: Requester;
  readonly request: ExportRequest;
  readonly res: Response;
}

/**
 * Whom the audit trail names. Exporting an erased person, to check the erasure, must not put their
 * id back into it.
 */
async function findSubject(
  { hashId, postgres }: ExportDeps,
  request: ExportRequest,
): Promise<Pick<NewAuditEntry, 'subject' | 'subjectHash'>> {
  if (request.kind !== 'person') return {};
  const { projectId, userId } = request;
  const userHash = hashId({ projectId, kind: 'user', id: userId });
  const isErased = await isErasureKnown(postgres, { projectId, userHash });
  return isErased ? { subjectHash: userHash } : { subject: userId };
}

/** What the audit trail says about an export of a project. */
function detailsOf(request: ExportRequest): Readonly<Record<string, string>> {
  if (request.kind === 'person') return {};
  if (request.kind === 'identities') return { of: 'identities' };
  const { fromMs, untilMs } = request;
  return {
    of: 'events',
    ...(fromMs !== undefined && { from: new Date(fromMs).toISOString() }),
    ...(untilMs !== undefined && { to: new Date(untilMs).toISOString() }),
  };
}

async function answerExport(deps: AnswerDeps, { requester, request, res }: Asked): Promise<void> {
  const id = newUuidV7();
  const { projectId, organizationId, actor } = requester;
  const record = (entry: Pick<NewAuditEntry, 'action' | 'outcome' | 'subject' | 'subjectHash' | 'details'>) =>
    recordAudit(deps.postgres, {
      ...{ projectId, organizationId, actor },
      ...entry,
    });

  await record({
    action: 'export.requested',
    outcome: 'accepted',
    ...(await findSubject(deps, request)),
    details: { export: id, ...detailsOf(request) },
  });
  const ended = await relay(deps, { id, request: encodeExportRequest(request), res });
  if (ended.outcome === 'failed') deps.log.error({ err: ended.cause, export: id }, 'an export failed');
  // Refers to the export by its id only, because the person may have been erased meanwhile.
  await record({
    action: 'export.ended',
    outcome: ended.outcome,
    details: { export: id, ...countOf(request, ended.lines) },
  });
  if (ended.outcome === 'completed') {
    setHeaders(res);
    // The rest is buffered; a reader that does not take it must not hold the connection forever.
    res.setTimeout(deps.readerTimeoutMs);
    res.end();
  } else if (res.headersSent) res.destroy();
  else if (ended.outcome === 'failed') throw unavailable(ended.cause);
}

const countOf = ({ kind }: ExportRequest, lines: number): Readonly<Record<string, number>> =>
  kind === 'identities' ? { lines } : { events: lines };

const unavailable = (cause: unknown): PublicError =>
  new PublicError('unavailable', 'the export is not available right now; try again', { cause });

interface Relayed {
  readonly outcome: 'completed' | 'cancelled' | 'failed';
  /** As many as were relayed. */
  readonly lines: number;
  readonly cause?: unknown;
}

// A free worker takes milliseconds.
const WORKER_WAIT_MS = 5_000;

async function relay(
  deps: AnswerDeps,
  { id, request, res }: { id: string; request: Buffer; res: Response },
): Promise<Relayed> {
  let lines = 0;
  let receiver: ChunkReceiver | undefined;
  const leave = (): void => void receiver?.leave();
  res.once('close', leave);
  try {
    receiver = await ChunkReceiver.open(deps.redis, id);
    await enqueueExport(deps.queue, id);
    if (res.destroyed || !(await receiver.ask(request, WORKER_WAIT_MS))) throw new Error('no worker has come');
    for await (const chunk of receiver.chunks()) {
      setHeaders(res);
      lines += countLines(chunk);
      if (!res.write(chunk)) await drainedOrClosed(res, deps.readerTimeoutMs);
    }
    return { outcome: 'completed', lines };
  } catch (cause) {
    return { outcome: res.destroyed ? 'cancelled' : 'failed', lines, cause };
  } finally {
    res.off('close', leave);
    await receiver?.leave();
    // A job that a worker has started cannot be removed, and ends by itself.
    await forgetExport(deps.queue, id).catch(() => {});
  }
}

/**
 * Headers are sent as late as possible, because until then a failure can still be reported by a
 * status.
 */
function setHeaders(res: Response): void {
  if (!res.headersSent) res.set('Content-Type', 'application/x-ndjson; charset=utf-8');
}

function answerHead(res: Response): void {
  setHeaders(res);
  res.end();
}

const NEWLINE = 10;

function countLines(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

/**
 * Resolves when the response has drained or closed. Closes it when the reader exceeds the timeout.
 */
const drainedOrClosed = (res: Response, timeoutMs: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => res.destroy(), timeoutMs);
    // In place of the limit of all answers (unread-answers.ts).
    res.setTimeout(timeoutMs);
    const settle = () => {
      clearTimeout(timer);
      res.setTimeout(0);
      res.off('drain', settle);
      res.off('close', settle);
      resolve();
    };
    res.on('drain', settle);
    res.on('close', settle);
    if (res.destroyed) settle();
  });
