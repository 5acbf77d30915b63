// Webhooks against real servers: a local HTTP server and a local DNS server. Private addresses are
// refused in every form in which a URL or a DNS answer can contain them.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHostLookup, isPublic, resolveChecked } from '../../../src/alerts/addresses.js';
import { parseTarget, shownTarget } from '../../../src/alerts/targets.js';
import { callWebhook, type WebhookOptions } from '../../../src/alerts/webhook.js';
import { packageRoot } from '../../../src/platform/paths.js';
import { startDns, type TestDns } from '../../support/dns-server.js';

let dns: TestDns;
let server: Server;
let port: number;
let respond: RequestListener;
const received: { readonly request: IncomingMessage; readonly body: string }[] = [];

beforeAll(async () => {
  dns = await startDns();
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ request, body: Buffer.concat(chunks).toString() });
      respond(request, response);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  received.length = 0;
  respond = (_request, response) => response.end('ok');
  dns.addresses.set('hook.example', ['127.0.0.1']);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  dns.close();
});

const options = (changed: Partial<WebhookOptions> = {}): WebhookOptions => ({
  allowed: [],
  resolve: createHostLookup([dns.address]),
  timeoutMs: 5000,
  nowSeconds: () => 1_700_000_000,
  ...changed,
});
const LOCAL = { allowed: ['127.0.0.1'] };
const call = (address: string, changed?: Partial<WebhookOptions>) =>
  callWebhook({ url: new URL(address), deliveryId: 'd-1', body: '{"text":"Grüße"}', secret: 'whs' }, options(changed));
const hook = (path = '/hook') => `http://hook.example:${port}${path}`;

describe('a call', () => {
  test('has a body that the receiver can verify, and the id of the delivery', async () => {
    expect(await call(hook(), LOCAL)).toEqual({ isDelivered: true });
    const { request, body } = received[0] ?? { request: undefined, body: '' };
    expect(body).toBe('{"text":"Grüße"}');
    expect(request).toMatchObject({ method: 'POST', url: '/hook' });
    expect(request?.headers).toMatchObject({ host: `hook.example:${port}`, 'x-delivery-id': 'd-1' });
    const hmac = createHmac('sha256', 'whs').update(`1700000000.${body}`).digest('hex');
    expect(request?.headers['x-signature']).toBe(`t=1700000000,v1=${hmac}`);
  });

  test.each([
    [500, false, 'status 500'],
    [404, false, 'status 404'],
    [301, true, 'status 301: redirects are not followed'],
    [307, true, 'status 307: redirects are not followed'],
  ])('that is answered %i is not delivered, and ends the attempts: %s', async (status, isFinal, reason) => {
    respond = (_request, response) => response.writeHead(status, { Location: hook('/elsewhere') }).end();
    expect(await call(hook(), LOCAL)).toEqual({ isDelivered: false, isFinal, reason });
    expect(received).toHaveLength(1);
  });

  test('ends with the status, however long the body of the answer is', async () => {
    respond = (_request, response) => void response.writeHead(200).write('endless');
    expect(await call(hook(), LOCAL)).toEqual({ isDelivered: true });
  });

  test('without an answer, or without an address, fails at the timeout', async () => {
    respond = () => {};
    const result = await call(hook(), { ...LOCAL, timeoutMs: 50 });
    const late = { isDelivered: false, isFinal: false, reason: 'no answer within 0.05 s' };
    expect(result).toEqual(late);
    // The look-up of the system may take longer.
    const resolve = () => new Promise<never>(() => {});
    expect(await call(hook(), { ...LOCAL, resolve, timeoutMs: 50 })).toEqual(late);
  });

  test('of https is sent only to a receiver with a trusted certificate', async () => {
    const read = (name: string) => readFileSync(join(packageRoot, 'test', 'support', 'tls', name));
    const secure = createTlsServer({ key: read('self-signed.key'), cert: read('self-signed.pem') }, () => {
      throw new Error('the request has come');
    });
    await once(secure.listen(0, '127.0.0.1'), 'listening');
    const result = await call(`https://hook.example:${(secure.address() as AddressInfo).port}/`, LOCAL);
    secure.close();
    const reason = 'the certificate of hook.example is from no known authority (DEPTH_ZERO_SELF_SIGNED_CERT)';
    expect(result).toEqual({ isDelivered: false, isFinal: false, reason });
  });

  test('of which the receiver changes the protocol is not delivered', async () => {
    respond = ({ socket }) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    expect(await call(hook(), LOCAL)).toEqual({ isDelivered: false, isFinal: false, reason: 'status 101' });
  });

  test('with headers above the limit fails', async () => {
    respond = (_request, response) => response.writeHead(200, { 'X-Long': 'x'.repeat(40_000) }).end();
    const reason = `the headers of the answer of ${new URL(hook()).host} are too long (HPE_HEADER_OVERFLOW)`;
    expect(await call(hook(), LOCAL)).toMatchObject({ isDelivered: false, reason });
  });

  test('to a receiver that refuses, closes, or speaks another protocol says so', async () => {
    const closed = createServer();
    await once(closed.listen(0, '127.0.0.1'), 'listening');
    const free = (closed.address() as AddressInfo).port;
    closed.close();
    const reasonOf = async (address: string) => Object(await call(address, LOCAL)).reason;
    expect(await reasonOf(`http://hook.example:${free}/`)).toBe(
      `hook.example:${free} refused the connection (ECONNREFUSED)`,
    );
    const at = new URL(hook()).host;
    expect(await reasonOf(hook().replace('http:', 'https:'))).toMatch(`the encrypted call of ${at} failed (`);
    respond = ({ socket }) => socket.destroy();
    expect(await reasonOf(hook())).toBe(`${at} closed the connection before it answered (ECONNRESET)`);
    respond = ({ socket }) => socket.end('220 mail.example ESMTP\r\n');
    expect(await reasonOf(hook())).toMatch(`${at} did not answer in HTTP (HPE_`);
  });

  test('fails without a name server and for an unknown name, and may be tried again', async () => {
    const unknown = 'there is no host with the name unknown.example (ENOTFOUND)';
    expect(await call('http://unknown.example/')).toMatchObject({ isFinal: false, reason: unknown });
    dns.failing.add('failing.example');
    const silent = 'the name server gave no answer for failing.example (ESERVFAIL)';
    expect(await call('http://failing.example/')).toMatchObject({ isFinal: false, reason: silent });
  });
});

describe('a private address is refused, and nothing is sent,', () => {
  const refusal = (address: string) => ({
    ...{ isDelivered: false, isFinal: true },
    reason: expect.stringContaining(`${address} is not a public address`),
  });

  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['017700000001', '127.0.0.1'],
    ['0x7f000001', '127.0.0.1'],
    ['0x7f.0.0.1', '127.0.0.1'],
    ['0177.0.0.0x1', '127.0.0.1'],
    ['1②7.0.0.1', '127.0.0.1'],
    ['0', '0.0.0.0'],
    ['[::1]', '::1'],
    ['[0:0:0:0:0:0:0:1]', '::1'],
    ['[::]', '::'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
    ['[::127.0.0.1]', '::7f00:1'],
    ['[64:ff9b::127.0.0.1]', '64:ff9b::7f00:1'],
    ['[2002:7f00:1::]', '2002:7f00:1::'],
  ])('written as %s', async (host, address) => {
    expect(await call(`http://${host}:${port}/`)).toEqual(refusal(address));
    expect(received).toEqual([]);
  });

  test.each([
    ['127.0.0.1'],
    ['127.255.0.1'],
    ['10.0.0.1'],
    ['172.31.255.255'],
    ['192.168.0.1'],
    ['169.254.169.254'],
    ['168.63.129.16'],
    ['100.64.0.1'],
    ['100.100.100.200'],
    ['192.0.0.8'],
    ['198.18.0.1'],
    ['224.0.0.1'],
    ['255.255.255.255'],
    ['::1'],
    ['fe80::1'],
    ['fd00:ec2::254'],
    ['::ffff:10.0.0.1'],
    ['2001:db8::1'],
    ['ff02::1'],
  ])('as the DNS answer %s, also beside a public address', async (address) => {
    dns.addresses.set('private.example', [address]);
    dns.addresses.set('mixed.example', ['93.184.215.14', address]);
    for (const host of ['private.example', 'mixed.example']) {
      const reason = `${host} has an address that is not public (setting WEBHOOK_PRIVATE_ADDRESSES)`;
      expect(await call(`http://${host}:${port}/`)).toEqual({ isDelivered: false, isFinal: true, reason });
    }
    expect(received).toEqual([]);
  });

  test('as a name of this machine', async () => {
    for (const host of ['localhost', 'LOCALHOST', 'localhost.']) {
      const result = await call(`http://${host}:${port}/`, { resolve: createHostLookup(undefined) });
      expect(result).toMatchObject({ isDelivered: false });
    }
    expect(received).toEqual([]);
  });

  test('when the second answer of the name server differs: a call asks once', async () => {
    let lookups = 0;
    // Public for the check, private for whatever would connect by name.
    dns.addresses.set('changing.example', () => [lookups++ === 0 ? '192.0.2.1' : '127.0.0.1']);
    const result = await call(`http://changing.example:${port}/`, { allowed: ['192.0.2.1'], timeoutMs: 300 });
    expect(result).toMatchObject({ isDelivered: false });
    expect(received).toEqual([]);
    expect(lookups).toBe(1 + ['AAAA'].length);
  });

  test('after a redirect, because none is followed', async () => {
    respond = (_request, response) => response.writeHead(302, { Location: `http://127.0.0.1:${port}/inner` }).end();
    expect(await call(hook(), LOCAL)).toMatchObject({ isDelivered: false, isFinal: true });
    expect(received.map(({ request }) => request.url)).toEqual(['/hook']);
  });
});

describe('the setting of private addresses', () => {
  const guard = (...allowed: string[]) => ({ allowed, resolve: createHostLookup([dns.address]) });

  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.0/8', '127.9.9.9'],
    ['fd00::/8', '[fd00::1]'],
    ['10.0.0.0/8', '[::ffff:10.0.0.1]'],
  ])('%s allows %s', async (allowed, host) => {
    const { hostname } = new URL(`http://${host}/`);
    expect(await resolveChecked(hostname, guard(allowed))).toHaveLength(1);
  });

  test('allows nothing else', async () => {
    await expect(resolveChecked('10.0.0.1', guard('10.0.0.2', 'fd00::/8'))).rejects.toThrow('10.0.0.1 is not');
  });

  test('is not needed for public addresses', () => {
    for (const address of ['93.184.215.14', '8.8.8.8', '2606:4700::1111']) expect(isPublic(address)).toBe(true);
    expect(isPublic('nonsense')).toBe(false);
  });
});

describe('a target', () => {
  test.each([
    ['https://hooks.example.com/services/T0/B0/secret', 'https://hooks.example.com'],
    ['http://example.com:8080/hook', 'http://example.com:8080'],
    ['mailto:ops@example.com', 'mailto:ops@example.com'],
    ['MAILTO:Ops@Example.com', 'mailto:ops@example.com'],
    ['http://example.com:1024/hook', 'http://example.com:1024'],
  ])('%s is shown as %s', (text, shown) => {
    expect(parseTarget(text)).not.toHaveProperty('problem');
    expect(shownTarget(text)).toBe(shown);
  });

  test.each([
    ['ops@example.com', 'is an address such as'],
    ['ftp://example.com/', 'is an address such as'],
    ['file:///etc/passwd', 'is an address such as'],
    ['https://exa mple.com/', 'is an address such as'],
    ['https:\\\\example.com', 'is an address such as'],
    ['http://999.0.0.1/', 'is an address such as'],
    ['https://ann:secret@example.com/', 'has no user name and no password'],
    ['https://example.com@127.0.0.1/', 'has no user name and no password'],
    ['http://example.com:22/', 'has no port below 1024'],
    ['http://example.com:1023/', 'has no port below 1024'],
    ['mailto:ann@example.com,bob@example.com', 'is mailto: and one e-mail address'],
    ['mailto:ann@example.com?bcc=bob@example.com', 'is mailto: and one e-mail address'],
    [`https://example.com/${'x'.repeat(2048)}`, 'is longer than 2048 characters'],
  ])('%s %s', (text, problem) => {
    expect(parseTarget(text)).toEqual({ problem: expect.stringContaining(problem) });
  });
});
