// Compression of answers: of one that is sent again and again from the same memory, and of those
// that are written in pieces; which answers stay as they are.
import { createHash } from 'node:crypto';
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compressAnswers, endCompressed } from '../../../../src/platform/http/compress.js';
import { createExpressApp } from '../../../../src/platform/http/router.js';
import { listen, type RunningServer } from '../../../../src/platform/http/server.js';
import { serveContent } from '../../../../src/platform/http/static-content.js';

const shared = Buffer.alloc(64 * 1024, 'a');
const text = (length: number): Buffer => Buffer.from('0123456789abcdef'.repeat(length / 16));
const PIECES = {
  small: [text(400), text(400)],
  medium: [text(4096), text(4096), text(8192)],
  large: [text(1024 * 1024), text(1024), text(512)],
};
let server: RunningServer;

beforeAll(async () => {
  const app = createExpressApp();
  for (const [name, pieces] of Object.entries(PIECES)) {
    app.get(`/${name}`, (req, res) => endCompressed(req, res.type('json'), pieces));
  }
  app.get('/file', serveContent(text(4096), { 'Content-Type': 'text/javascript' }));
  app.use(compressAnswers);
  app.get('/shared', (_req, res) => void res.type('text').send(shared));
  app.get('/text', (_req, res) => void res.type('text').send('é'.repeat(2000)));
  app.get('/latin', (_req, res) => void res.type('text').end('é'.repeat(2000), 'latin1'));
  app.get('/short', (_req, res) => void res.type('text').send('short'));
  app.get('/picture', (_req, res) => void res.type('png').send(text(4096)));
  app.get('/encoded', (_req, res) => void res.type('text').set('Content-Encoding', 'zstd').send(text(4096)));
  app.get('/stream', (_req, res) => void res.type('text/event-stream').end(text(4096)));
  app.get('/begun', (_req, res) => {
    res.type('text').write('begun');
    res.end(text(4096));
  });
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});

afterAll(() => server?.close(0));

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function read(path: string, accepted: string): Promise<Received> {
  const headers = { 'Accept-Encoding': accepted, Connection: 'close' };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: '127.0.0.1', port: server.port, path, headers }, resolve).on('error', reject);
  });
  return { headers: response.headers, body: await buffer(response) };
}

const decoded = ({ headers, body }: Received): Buffer => {
  const coding = headers['content-encoding'];
  return coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body;
};

const codingOf = async (path: string, accepted: string) => (await read(path, accepted)).headers['content-encoding'];

test('is done once for each coding', async () => {
  const before = shared.toString();
  const [first, again] = await Promise.all([read('/shared', 'br'), read('/shared', 'br')]);
  for (const each of [first, again]) {
    expect(each.headers['content-encoding']).toBe('br');
    expect(decoded(each).toString()).toBe(before);
  }
  // A change shows that nothing is compressed again: no answer is sent from memory that changes.
  shared.fill('b');
  expect(decoded(await read('/shared', 'br')).toString()).toBe(before);
  const other = await read('/shared', 'gzip');
  expect([other.headers['content-encoding'], decoded(other).toString()]).toEqual(['gzip', shared.toString()]);
});

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

test.each(Object.keys(PIECES).flatMap((name) => ['identity', 'gzip', 'br'].map((accepted) => ({ name, accepted }))))(
  'keeps every piece of a $name answer for $accepted',
  async ({ name, accepted }) => {
    const received = await read(`/${name}`, accepted);
    const whole = Buffer.concat(PIECES[name as keyof typeof PIECES]);
    expect(hashOf(decoded(received))).toBe(hashOf(whole));
    const coding = name === 'small' || accepted === 'identity' ? undefined : accepted;
    expect(received.headers['content-encoding']).toBe(coding);
    expect(received.headers.vary).toBe(name === 'small' ? undefined : 'Accept-Encoding');
    const isInPieces = name === 'large' && coding !== undefined;
    expect(received.headers['content-length']).toBe(isInPieces ? undefined : String(received.body.length));
  },
);

test('keeps the letters of a text in its encoding', async () => {
  expect(decoded(await read('/text', 'br')).toString()).toBe('é'.repeat(2000));
  expect(decoded(await read('/latin', 'br')).toString('latin1')).toBe('é'.repeat(2000));
});

test('leaves what is short, no text, encoded, a stream of events or begun as it is', async () => {
  const paths = ['/short', '/picture', '/stream', '/begun'];
  expect(await Promise.all(paths.map((path) => codingOf(path, 'br')))).toEqual(paths.map(() => undefined));
  expect(await codingOf('/encoded', 'br')).toBe('zstd');
  expect((await read('/encoded', 'br')).body).toEqual(text(4096));
  expect((await read('/begun', 'br')).body).toEqual(Buffer.concat([Buffer.from('begun'), text(4096)]));
});

test('is left out for a client that would rather have the answer as it is', async () => {
  expect(await codingOf('/text', 'br;q=0.5, identity')).toBeUndefined();
  expect(await codingOf('/text', 'zstd')).toBeUndefined();
});

test('a file is sent to browsers in the smaller coding, although they name the other one first', async () => {
  const browser = 'gzip, deflate, br, zstd';
  expect(await Promise.all([browser, 'gzip', 'identity'].map((accepted) => codingOf('/file', accepted)))).toEqual([
    ...['br', 'gzip', undefined],
  ]);
  expect(decoded(await read('/file', browser))).toEqual(text(4096));
});
