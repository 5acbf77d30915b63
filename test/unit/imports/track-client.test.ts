// Client of POST /track with its retry policy, against a scripted HTTP server.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createImportClients } from '../../../src/imports/import-clients.js';
import { createTrackClient } from '../../../src/imports/track-client.js';

type Answer = { readonly status: number; readonly body?: string; readonly retryAfter?: string };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

/** Serves the answers in order, and repeats the last one. */
async function serve(answers: readonly Answer[]) {
  const requests: { path: string | undefined; key: unknown; body: string }[] = [];
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    const answer = answers[Math.min(requests.length, answers.length - 1)] ?? { status: 500 };
    requests.push({ path: req.url, key: req.headers['x-api-key'], body });
    res.writeHead(answer.status, answer.retryAfter === undefined ? {} : { 'retry-after': answer.retryAfter });
    res.end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

async function send(answers: readonly Answer[]) {
  const { url, requests } = await serve(answers);
  const waits: number[] = [];
  const wait = async (delayMs: number) => waits.push(delayMs);
  const client = createTrackClient({ url, key: 'sk_x', userAgent: 'test', wait });
  const outcome = await client('{"events":[]}').catch((error: Error) => error.message.replace(url, 'URL'));
  return { outcome, waits, requests };
}

const OK = { status: 200, body: '{"accepted":7}' };

test('posts a batch with the key and returns the accepted count', async () => {
  const { outcome, requests } = await send([OK]);
  expect(outcome).toEqual({ accepted: 7 });
  expect(requests).toEqual([{ path: '/track', key: 'sk_x', body: '{"events":[]}' }]);
});

test.each([
  ['https://shop.example', '/track?replace=without-host'],
  [undefined, '/track'],
])('an import with the site %s sends to %s', async (site, path) => {
  const { url, requests } = await serve([OK]);
  const { track } = createImportClients({ url, key: 'sk_x', source: 'access-log', site, identifiesPerSecond: 1 });
  await track('{"events":[]}');
  expect(requests.map((request) => request.path)).toEqual([path]);
});

test('an import sends events, the last ones again and calls to the routes of each, and reads what was dropped', async () => {
  const answer = { accepted: 5, dropped: 2, counted: true };
  const { url, requests } = await serve([{ status: 200, body: JSON.stringify(answer) }]);
  const options = { url, key: 'sk_x', source: 'access-log', site: undefined, identifiesPerSecond: 1 };
  const { track, trackAndWait, identifyBatch } = createImportClients(options);
  for (const client of [track, trackAndWait, identifyBatch]) expect(await client('{}')).toEqual(answer);
  expect(requests.map(({ path }) => path)).toEqual(['/track', '/track?wait=1', '/identify/batch']);
});

test.each([
  [503, true],
  [401, false],
])('whether the same import may go on after status %i: %s', async (status, isPassing) => {
  const { url } = await serve([{ status }]);
  const client = createTrackClient({ url, key: 'sk_x', userAgent: 'test', wait: async () => undefined });
  await expect(client('{}')).rejects.toMatchObject({ isPassing });
});

const RETRIES: readonly (readonly [
  rule: string,
  answers: readonly Answer[],
  waits: readonly number[],
  outcome: unknown,
])[] = [
  ['a server error is retried', [{ status: 503 }, OK], [1000], { accepted: 7 }],
  ['a longer Retry-After is honoured', [{ status: 429, retryAfter: '5' }, OK], [5000], { accepted: 7 }],
  ['a shorter Retry-After is not honoured', [{ status: 429, retryAfter: '0' }, OK], [1000], { accepted: 7 }],
  ['Retry-After is honoured up to a minute', [{ status: 429, retryAfter: '600' }, OK], [60_000], { accepted: 7 }],
  [
    'the fourth failure ends the import',
    [{ status: 500, body: '{"error":"internal error"}' }],
    [1000, 2000, 4000],
    'URL does not take events: status 500, internal error',
  ],
  [
    'other client errors end the import at once',
    [{ status: 401, body: '{"error":"x"}' }],
    [],
    'URL refused the events: status 401, x',
  ],
  [
    'a body that is too large for the service ends the import with its words',
    [{ status: 413, body: '{"error":"the request body is larger than 9 bytes"}' }],
    [],
    'URL refused the events: status 413, the request body is larger than 9 bytes',
  ],
  [
    'a body that is too large for a proxy ends the import with what to do',
    [{ status: 413, body: '<html><center>nginx</center></html>' }],
    [],
    'URL refused the events: status 413, of a proxy in front of the service: let it take bodies of MAX_REQUEST_BYTES (client_max_body_size of nginx)',
  ],
];

test.each(RETRIES)('track client: %s', async (_rule, answers, waits, outcome) => {
  const sent = await send(answers);
  expect({ waits: sent.waits, outcome: sent.outcome }).toEqual({ waits, outcome });
});

test('rejects an answer of another server', async () => {
  expect((await send([{ status: 200, body: '<html>' }])).outcome).toContain('is this the address of the service?');
});

test('retries while the service is unreachable', async () => {
  const { url } = await serve([OK]);
  await closers.pop()?.();
  const waits: number[] = [];
  const client = createTrackClient({ url, key: 'k', userAgent: 't', wait: async (delayMs) => waits.push(delayMs) });
  await expect(client('{}')).rejects.toThrow(/does not take events: .*ECONNREFUSED/);
  expect(waits).toEqual([1000, 2000, 4000]);
});

test('an interrupt ends the wait for a retry', async () => {
  const { url } = await serve([{ status: 500 }]);
  const interrupt = new AbortController();
  const onRetry = () => interrupt.abort();
  const client = createTrackClient({ url, key: 'k', userAgent: 't', signal: interrupt.signal, onRetry });
  await expect(client('{}')).rejects.toThrow(/abort/i);
});
