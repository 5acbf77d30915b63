// Compression of an answer that is sent again and again from the same memory.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compressAnswers } from '../../../../src/platform/http/compress.js';
import { createExpressApp } from '../../../../src/platform/http/router.js';
import { listen, type RunningServer } from '../../../../src/platform/http/server.js';

const shared = Buffer.alloc(64 * 1024, 'a');
let server: RunningServer;

beforeAll(async () => {
  const app = createExpressApp();
  app.use(compressAnswers);
  app.get('/shared', (_req, res) => void res.type('text').send(shared));
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});

afterAll(() => server?.close(0));

async function read(coding: string): Promise<{ coding: string | null; text: string }> {
  const headers = { 'Accept-Encoding': coding };
  const response = await fetch(`http://127.0.0.1:${server.port}/shared`, { headers });
  return { coding: response.headers.get('Content-Encoding'), text: await response.text() };
}

test('is done once for each coding', async () => {
  const before = shared.toString();
  const [first, again] = await Promise.all([read('br'), read('br')]);
  expect([first, again]).toEqual(Array(2).fill({ coding: 'br', text: before }));
  // A change shows that nothing is compressed again: no answer is sent from memory that changes.
  shared.fill('b');
  expect(await read('br')).toEqual({ coding: 'br', text: before });
  expect(await read('gzip')).toEqual({ coding: 'gzip', text: shared.toString() });
});
