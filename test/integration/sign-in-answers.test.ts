// Answers of an identity provider that no library reads: the sign-in ends with a clear error.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '../../src/platform/config.js';
import { createIdpClient } from '../../src/sign-in/idp-client.js';
import { toIdentityProvider } from '../../src/sign-in/provider.js';

let server: Server;
let answer: (response: ServerResponse) => void;

beforeAll(async () => {
  server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function signIn(answeredWithinMs = 60_000): Promise<unknown> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = parseConfig({
    ...{ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', CLICKHOUSE_URL: 'http://x' },
    ...{ PUBLIC_URL: 'http://localhost', SECRET_KEY_BASE: 'x'.repeat(64) },
    ...{ IDP_CLIENT_ID: 'client', IDP_CLIENT_SECRET: 'secret', IDP_AUTHORIZE_URL: `${url}/authorize` },
    ...{ IDP_TOKEN_URL: `${url}/token`, IDP_USERINFO_URL: `${url}/userinfo` },
  });
  const provider = toIdentityProvider(config, 'http://localhost/auth/idp/cb');
  if (provider === undefined) throw new Error('no provider');
  const client = createIdpClient(provider, pino({ level: 'silent' }), answeredWithinMs);
  const { secrets } = await client.start();
  return client.finish({ code: 'code', state: secrets.state }, secrets);
}

const sendJson = (response: ServerResponse, text: string): unknown =>
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(text);

test('a token that is null', async () => {
  answer = (response) => sendJson(response, 'null');
  await expect(signIn()).rejects.toMatchObject({
    status: 503,
    message: 'the identity provider gave no usable answer; try again',
  });
});

test('an answer that never ends', async () => {
  answer = (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 20);
    response.once('close', () => clearInterval(timer));
  };
  await expect(signIn(500)).rejects.toMatchObject({ status: 503 });
});

test('an answer without a token is not confirmed', async () => {
  answer = (response) => sendJson(response, '{"error":"invalid_grant"}');
  await expect(signIn()).rejects.toMatchObject({ status: 401 });
});
