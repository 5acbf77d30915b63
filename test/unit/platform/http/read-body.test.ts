// Request bodies as they arrive: in many chunks, compressed, too large, cut off. Whatever their
// end, their bytes are given back.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PublicError } from '../../../../src/platform/errors.js';
import { ByteSemaphore } from '../../../../src/platform/flow/byte-semaphore.js';
import { createBodyReader } from '../../../../src/platform/http/read-body.js';
import { eventually } from '../../../support/eventually.js';

const BYTES_MAX = 3_000;
const BUDGET = 10_000;
/** Of which one owner gets three quarters. */
const SMALL_BUDGET = 1_000;

const budget = new ByteSemaphore(BUDGET);
const readers = {
  plain: createBodyReader({ bytesMax: BYTES_MAX, budget }),
  finding: createBodyReader({ bytesMax: BYTES_MAX, budget }, { findsGzip: true }),
};
const ended: string[] = [];
let server: Server;

beforeAll(async () => {
  server = createServer((req, res) => {
    const withBody = readers[req.url === '/finding' ? 'finding' : 'plain'];
    withBody(req, 'owner', async (bytes) => bytes.toString())
      .catch((error: unknown) => (error instanceof PublicError ? error.kind : String(error)))
      .then((end) => {
        ended.push(end);
        res.end(end);
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => void server.close());

type Headers = Readonly<Record<string, string>>;

function open(headers: Headers, path = '/') {
  const { port } = server.address() as AddressInfo;
  return request({ host: '127.0.0.1', port, path, method: 'POST', headers: { connection: 'close', ...headers } });
}

async function send(chunks: readonly Buffer[], headers: Headers = {}, path?: string): Promise<string> {
  const sending = open(headers, path);
  sending.on('error', () => {});
  for (const chunk of chunks) sending.write(chunk);
  sending.end();
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  return text(response);
}

const letters = (count: number): Buffer => Buffer.from('abcdefghij'.repeat(count / 10));
const singles = (bytes: Buffer): Buffer[] => [...bytes].map((byte) => Buffer.of(byte));
const GZIP = { 'Content-Encoding': 'gzip' };
const halves = (bytes: Buffer): Buffer[] => [bytes.subarray(0, 20), bytes.subarray(20)];

test.each<[string, readonly Buffer[], Headers, string?]>([
  ['in one piece', [letters(1300)], {}],
  ['in single bytes', singles(letters(1300)), {}],
  ['without compression, which it says', [letters(1300)], { 'Content-Encoding': 'identity' }],
  ['as gzip, in capitals', halves(gzipSync(letters(1300))), { 'Content-Encoding': 'GZIP' }],
  ['as br', halves(brotliCompressSync(letters(1300))), { 'Content-Encoding': 'br' }],
  ['as gzip by its first bytes', halves(gzipSync(letters(1300))), {}, '/finding'],
])('a body %s is read', async (_, chunks, headers, path) => {
  expect(await send(chunks, headers, path)).toBe(letters(1300).toString());
  expect(budget.free).toBe(BUDGET);
});

test('a body of exactly the limit is read', async () => {
  expect(await send([letters(BYTES_MAX)])).toHaveLength(BYTES_MAX);
  expect(budget.free).toBe(BUDGET);
});

const noise = Buffer.from(Array.from({ length: 1000 }, (_, index) => (index * 7919) % 251));

test.each<[string, string, readonly Buffer[], Headers, string?]>([
  ['above the limit', 'too_large', [letters(BYTES_MAX + 10)], {}],
  ['above the limit when decompressed', 'too_large', halves(gzipSync(letters(100_000))), GZIP],
  ['above the limit when found to be gzip', 'too_large', [gzipSync(letters(100_000))], {}, '/finding'],
  ['that is not what it says', 'bad_request', [letters(100)], GZIP],
  ['whose gzip ends early', 'bad_request', [gzipSync(noise).subarray(0, 200)], {}, '/finding'],
  ['with an unknown encoding', 'bad_request', [letters(100)], { 'Content-Encoding': 'zstd' }],
  ['that is no UTF-8', 'bad_request', [noise], {}],
  ['that is gzip by its first bytes, where that is not looked for', 'bad_request', [gzipSync(letters(1300))], {}],
])('a body %s is refused as %s', async (_, code, chunks, headers, path) => {
  expect(await send(chunks, headers, path)).toBe(code);
  expect(budget.free).toBe(BUDGET);
});

test('a body that says that it is above the limit is refused before it arrives', async () => {
  const sending = open({ 'Content-Length': String(BYTES_MAX + 1) });
  sending.on('error', () => {});
  sending.write('a');
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  expect(await text(response)).toBe('too_large');
  sending.destroy();
});

test.each<[string, Headers, string?]>([
  ['plain', {}],
  ['compressed', GZIP],
  ['found to be gzip', {}, '/finding'],
])('a body for which there is no room is refused: %s', async (kind, headers, path) => {
  budget.bytesMax = SMALL_BUDGET;
  try {
    const body = letters(2000);
    expect(await send(kind === 'plain' ? [body] : [gzipSync(body)], headers, path)).toBe('rate_limited');
    expect(budget.free).toBe(SMALL_BUDGET);
  } finally {
    budget.bytesMax = BUDGET;
  }
});

test.each<[string, Buffer, Headers]>([
  ['plain', letters(1000), {}],
  ['compressed', gzipSync(noise).subarray(0, 500), GZIP],
])('a body that is cut off is refused, and its bytes are given back: %s', async (_, sent, headers) => {
  const before = ended.length;
  const sending = open({ ...headers, 'Content-Length': '2000' });
  sending.on('error', () => {});
  const received = once(server, 'request') as Promise<[IncomingMessage]>;
  sending.write(sent);
  const [req] = await received;
  await eventually(() => expect(req.socket.bytesRead).toBeGreaterThan(sent.length));
  sending.destroy();
  await eventually(() => expect(ended.slice(before)).toEqual(['bad_request']));
  expect(budget.free).toBe(BUDGET);
});
