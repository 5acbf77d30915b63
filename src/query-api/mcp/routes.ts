// Handlers of POST /mcp, in the query process or in web: token, rate limit, body, and the answer of
// the SDK. Stateless: each request has a server of its own.
import type { RequestHandler } from 'express';
import { Counter, type Registry } from 'prom-client';
import { authenticateAgent } from '../../access/agent-access.js';
import { type CredentialStore, ownerIdOf, rateSubjectsOf } from '../../access/credentials.js';
import { holdBody } from '../../access/held-bodies.js';
import { credentialOf } from '../../access/middleware.js';
import { SOURCE_BYTES_MAX } from '../../dashboards/schema.js';
import { readBytes } from '../../platform/http/json-body.js';
import { requestIdOf } from '../../platform/http/request-id.js';
import { untilClosed } from '../../platform/http/until-closed.js';
import { loadOnce } from '../../platform/load-once.js';
import type { Call } from './call.js';
import { parseMessage } from './parse-message.js';
import type { ServerDeps } from './server.js';
import { sendWebResponse, toWebRequest } from './web-exchange.js';

export interface AgentDeps extends Omit<ServerDeps, 'countCall'> {
  readonly credentials: CredentialStore;
  readonly registry: Registry;
}

// A dashboard, every character of which may be escaped, and the rest of a message.
const BODY_BYTES_MAX = 6 * SOURCE_BYTES_MAX + 128 * 1024;

const readMessage = readBytes(BODY_BYTES_MAX);

export function createAgentHandlers({ credentials, registry, ...deps }: AgentDeps): readonly RequestHandler[] {
  const calls = new Counter({
    name: 'mcp_tool_calls_total',
    help: 'Calls of tools by agents, by tool and outcome',
    labelNames: ['tool', 'outcome'],
    registers: [registry],
  });
  const server: ServerDeps = {
    ...deps,
    countCall: (tool, outcome) => calls.inc({ tool, outcome }),
  };
  // The SDK is a fifth of the code of the query process.
  const messageAnswers = loadOnce(async () => (await import('./answer-message.js')).createMessageAnswers(server));

  const requireAgent: RequestHandler = async (req, res, next) => {
    const credential = await authenticateAgent({ credentials, publicUrl: deps.publicUrl }, req, res);
    await deps.rateLimit.take(rateSubjectsOf(credential));
    res.locals.credential = credential;
    next();
  };
  const respond: RequestHandler = async (req, res) => {
    const parsedBody = Buffer.isBuffer(req.body) ? parseMessage(req.body) : null;
    const signal = untilClosed(res);
    const credential = credentialOf(res);
    const call: Call = { credential, requestId: requestIdOf(req), signal };
    const answerMessage = await messageAnswers();
    await sendWebResponse(await answerMessage(toWebRequest(req, signal), { call, parsedBody }), res);
  };
  return [requireAgent, holdBody((res) => ownerIdOf(credentialOf(res))), readMessage, respond];
}
