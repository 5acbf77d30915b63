// Handlers of POST /query, in the query process or in web: authentication, body, answer, format.
import type { Request, RequestHandler, Response } from 'express';
import { type CredentialStore, rateSubjectsOf } from '../access/credentials.js';
import { holdBody } from '../access/held-bodies.js';
import { authenticate } from '../access/middleware.js';
import { PASS_HEADER, type ProjectPasses } from '../access/project-pass.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import { PublicError } from '../platform/errors.js';
import { endCompressed } from '../platform/http/compress.js';
import { holdAnswer } from '../platform/http/held-answers.js';
import { readJson } from '../platform/http/json-body.js';
import { requestIdOf } from '../platform/http/request-id.js';
import { untilClosed } from '../platform/http/until-closed.js';
import type { ProjectId } from '../platform/ids.js';
import { QUERY_BYTES_MAX } from '../query/compile.js';
import { type AnswerDeps, answer } from './answer.js';
import { AnswerNotWanted } from './engine-failures.js';
import { explainQuery } from './explain.js';
import { formatOffLoop } from './format-task.js';
import type { Caller } from './people-access.js';
import { type Format, parseQueryBody } from './schema.js';

export interface QueryDeps extends AnswerDeps {
  readonly credentials: CredentialStore;
  readonly rateLimit: LayeredRateLimit;
  readonly passes: ProjectPasses;
  readonly bodyBytesMax: number;
}

// Escaping every character makes a query of 16 KiB six times as long.
const BODY_BYTES_MAX = 128 * 1024;

/** The body is JSON for every content type. */
const readQuery = readJson(BODY_BYTES_MAX);

/**
 * Rejects oversized bodies without parsing: 413 above the request limit, otherwise 400, because no
 * valid query is that long.
 */
const readQueryBody =
  (bytesMax: number): RequestHandler =>
  (req, res, next) =>
    readQuery(req, res, (error?: unknown) => {
      const isLong = error instanceof Error && 'type' in error && error.type === 'entity.too.large';
      if (!isLong) return next(error);
      if (Number(req.headers['content-length']) > bytesMax) {
        return next(new PublicError('too_large', `the request body is larger than ${bytesMax} bytes`));
      }
      const message = `the body is longer than ${BODY_BYTES_MAX} bytes, and q is no longer than ${QUERY_BYTES_MAX}`;
      next(new PublicError('bad_request', message));
    });

/** For POST /query, and for routes that send a project pass instead of a key. */
export function createQueryHandlers(deps: QueryDeps): readonly RequestHandler[] {
  const respond: RequestHandler = async (req, res) => {
    await answerQuery(deps, { req, res, ...askerOf(res) });
  };
  const hold = holdBody((res) => askerOf(res).projectId);
  return [requireProject(deps), hold, readQueryBody(deps.bodyBytesMax), respond];
}

/**
 * Accepts a key, or the pass of a web process. Web has applied the rate limit of the session; that
 * of the project is applied here.
 */
function requireProject(deps: QueryDeps): RequestHandler {
  return async (req, res, next) => {
    const pass = req.headers[PASS_HEADER];
    res.locals.asker = typeof pass === 'string' ? await readPass(deps, pass) : await readKey(deps, req);
    next();
  };
}

type Asker = Pick<QueryExchange, 'projectId' | 'caller' | 'timezone'>;

const askerOf = (res: Response): Asker => res.locals.asker as Asker;

async function readPass(deps: QueryDeps, pass: string): Promise<Asker> {
  const admitted = deps.passes.tryRead(pass, deps.now());
  if (admitted === undefined) throw new PublicError('unauthenticated', 'the project pass is not valid');
  const { projectId, personId, timezone = 'UTC' } = admitted;
  await deps.rateLimit.take({ project: projectId });
  return { projectId, timezone, caller: { kind: 'person', id: personId } };
}

async function readKey(deps: QueryDeps, req: Request): Promise<Asker> {
  const credential = await authenticate(deps.credentials, 'query', req);
  await deps.rateLimit.take(rateSubjectsOf(credential));
  const { projectId, timezone, kind, id } = credential;
  return { projectId, timezone, caller: { kind, id } };
}

export interface QueryExchange {
  /** Its body has been read. */
  readonly req: Request;
  readonly res: Response;
  readonly projectId: ProjectId;
  readonly caller: Caller;
  /** Time zone of the project. */
  readonly timezone: string;
}

/** For every route that answers queries, however it determines the project. */
async function answerQuery(deps: AnswerDeps, { req, res, projectId, caller, timezone }: QueryExchange): Promise<void> {
  const request = parseQueryBody(req.body, timezone);
  if (request.explain === true) {
    res.json(await explainQuery(deps, { projectId, request }));
    return;
  }
  try {
    const question = { projectId, caller, request, requestId: requestIdOf(req), signal: untilClosed(res) };
    const pieces = await answer(deps, question, (answered) => formatOffLoop(deps, question, answered));
    const byteLength = pieces.reduce((sum, piece) => sum + piece.length, 0);
    holdAnswer(res, byteLength, await deps.ownerOf(projectId));
    res.setHeader('Content-Type', CONTENT_TYPES[request.format]);
    await endCompressed(req, res, pieces);
  } catch (error) {
    if (!(error instanceof AnswerNotWanted)) throw error;
  }
}

const CONTENT_TYPES = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  llm: 'text/plain; charset=utf-8',
} as const satisfies Record<Format, string>;
