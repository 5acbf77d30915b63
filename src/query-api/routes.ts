// POST /query: credential, body, answer, format. Mounted at /query, by the query process or by web itself.
import express, { type Request, type RequestHandler, type Response, Router } from 'express';
import { type CredentialStore, rateKeyOf } from '../access/credentials.js';
import { credentialOf, requireCredential } from '../access/middleware.js';
import type { RateLimit } from '../access/rate-limits.js';
import { assertNever } from '../platform/errors.js';
import type { ProjectId } from '../platform/ids.js';
import { type AnswerDeps, answer } from './answer.js';
import { AnswerNotWanted } from './engine-failures.js';
import { formatCsv } from './formats/csv.js';
import { formatJson } from './formats/json.js';
import { formatLlm } from './formats/llm.js';
import { parseQueryBody, type QueryRequest } from './schema.js';
import type { Answer } from './shape.js';

export interface QueryDeps extends AnswerDeps {
  readonly credentials: CredentialStore;
  readonly rateLimit: RateLimit;
}

// A query text of 16 KiB is six times as long when every character of it is escaped.
const BODY_BYTES_MAX = 128 * 1024;

/** Whatever its content type says, the body is JSON. */
export const readQueryBody: RequestHandler = express.json({ type: () => true, limit: BODY_BYTES_MAX, strict: false });

export function createQueryRouter(deps: QueryDeps): Router {
  const router = Router();
  const limitRate: RequestHandler = async (_req, res, next) => {
    await deps.rateLimit.take(rateKeyOf(credentialOf(res)));
    next();
  };
  router.post('/', requireCredential(deps.credentials, 'query'), limitRate, readQueryBody, async (req, res) => {
    await answerQuery(deps, { req, res, projectId: credentialOf(res).projectId });
  });
  return router;
}

export interface QueryExchange {
  /** Its body has been read. */
  readonly req: Request;
  readonly res: Response;
  readonly projectId: ProjectId;
}

/** For every route that answers queries, however it learned the project. */
export async function answerQuery(deps: AnswerDeps, { req, res, projectId }: QueryExchange): Promise<void> {
  const request = parseQueryBody(req.body);
  const gone = new AbortController();
  res.on('close', () => gone.abort(new AnswerNotWanted()));
  try {
    send(res, request, await answer(deps, { projectId, request, signal: gone.signal }));
  } catch (error) {
    if (!(error instanceof AnswerNotWanted)) throw error;
  }
}

function send(res: Response, request: QueryRequest, answered: Answer): void {
  switch (request.format) {
    case 'json':
      res.type('application/json').send(formatJson(answered));
      return;
    case 'csv':
      res.type('text/csv').send(formatCsv(answered));
      return;
    case 'llm':
      res.type('text/plain').send(formatLlm(answered, request.q));
      return;
    default:
      assertNever(request.format);
  }
}
