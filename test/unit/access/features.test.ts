// FEATURES_OFF over HTTP: which routes answer 503.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFeatureSwitches } from '../../../src/access/features.js';
import { errorResponder } from '../../../src/platform/http/respond.js';
import { createExpressApp } from '../../../src/platform/http/router.js';
import { listen, type RunningServer } from '../../../src/platform/http/server.js';
import { createLogger } from '../../../src/platform/log.js';

let server: RunningServer;

beforeAll(async () => {
  const app = createExpressApp();
  app.use(createFeatureSwitches(['track', 'identify', 'query', 'mcp', 'admin']));
  app.use((_req, res) => void res.json({ reached: true }));
  app.use(errorResponder(createLogger({ process: 'test', level: 'silent' })));
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});

afterAll(() => server?.close(0));

test.each([
  ['POST', '/track', 503],
  ['POST', '/identify', 503],
  ['POST', '/identify/batch', 503],
  ['POST', '/v1/batch', 503],
  ['POST', '/batch/', 503],
  ['POST', '/2/httpapi', 503],
  ['POST', '/query', 503],
  ['POST', '/api/projects/7/query', 503],
  ['POST', '/mcp', 503],
  ['POST', '/oauth/token', 503],
  ['OPTIONS', '/query', 200],
  ['POST', '/catalog', 200],
  ['OPTIONS', '/track', 200],
  ['OPTIONS', '/v1/batch', 200],
  // What SDKs of other products read at their start.
  ['GET', '/v1/projects/pk_1/settings', 200],
  ['GET', '/flags/definitions', 200],
  ['GET', '/array/pk_1/config', 200],
])('without some features, %s %s answers %d', async (method, path, status) => {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
  if (status === 200) expect(await answer.text()).toBe('{"reached":true}');
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
    status,
    status === 503 ? '*' : null,
  ]);
});

test('scripts of other origins cannot read that a feature of sessions is disabled', async () => {
  const answer = await fetch(`http://127.0.0.1:${server.port}/api/admin/projects`);
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([503, null]);
});
