// Answers one message of an agent by the SDK, with a server of its own.
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Call } from './call.js';
import { createAgentServer, type ServerDeps } from './server.js';

/** `parsedBody` is null when the body is not JSON. */
type AnswerMessage = (request: Request, message: { call: Call; parsedBody: unknown }) => Promise<Response>;

export function createMessageAnswers(deps: ServerDeps): AnswerMessage {
  const { fetch: answer } = createMcpHandler(({ authInfo }) => createAgentServer(deps, authInfo?.extra?.call as Call), {
    onerror: (err) => deps.log.debug({ err }, 'a message of an agent was refused'),
    // Nothing is ever announced, so a subscription would only hold a connection.
    maxSubscriptions: 0,
  });
  return (request, { call, parsedBody }) => {
    const { id, scopes } = call.credential;
    return answer(request, {
      authInfo: { token: '', clientId: id, scopes: [...scopes], extra: { call } },
      parsedBody,
    });
  };
}
