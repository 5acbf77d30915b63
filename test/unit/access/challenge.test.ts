// WWW-Authenticate of 401: which scheme it names, and that no browser asks for a password.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { challenge, KeyRequired } from '../../../src/access/challenge.js';
import { PublicError } from '../../../src/platform/errors.js';
import { errorResponder } from '../../../src/platform/http/respond.js';
import { createExpressApp } from '../../../src/platform/http/router.js';
import { listen, type RunningServer } from '../../../src/platform/http/server.js';
import { createLogger } from '../../../src/platform/log.js';

let server: RunningServer;

beforeAll(async () => {
  const app = createExpressApp();
  app.get('/key', () => {
    throw new KeyRequired('a key is required');
  });
  app.get('/session', () => {
    throw new PublicError('unauthenticated', 'a session is required');
  });
  app.get('/own', (_req, res) => {
    res.setHeader('WWW-Authenticate', 'Bearer');
    throw new PublicError('unauthenticated', 'a token is required');
  });
  app.get('/scope', () => {
    throw new PublicError('forbidden', 'the scope is not enough');
  });
  app.use(challenge);
  app.use(errorResponder(createLogger({ process: 'test', level: 'silent' })));
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});

afterAll(() => server?.close(0));

test.each([
  ['/key', 401, 'ApiKey realm="Event Analytics Service", header="X-API-Key"'],
  ['/session', 401, 'Cookie realm="Event Analytics Service", form-action="/login"'],
  ['/own', 401, 'Bearer'],
  ['/scope', 403, null],
])('%s answers %d with the challenge %s', async (path, status, header) => {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([status, header]);
});
