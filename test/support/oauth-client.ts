// A client of agents that is authorized by OAuth, as the official SDKs do it, and the browser of
// the person who allows it.
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CookieJar, Visit } from './cookie-jar.js';

export const CALLBACK = 'http://localhost:1455/callback';

/** What a client keeps between its steps. */
export interface OAuthState {
  readonly provider: OAuthClientProvider;
  /** Where it sent the person. */
  authorizeAt(): string;
  token(): string | undefined;
}

export function createOAuthState(name: string): OAuthState {
  let information: OAuthClientInformationMixed | undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let authorizeAt = '';
  const provider: OAuthClientProvider = {
    redirectUrl: CALLBACK,
    clientMetadata: { client_name: name, redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
    state: () => 'state-1',
    clientInformation: () => information,
    saveClientInformation: (saved) => {
      information = saved;
    },
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved;
    },
    redirectToAuthorization: (url) => {
      authorizeAt = url.href;
    },
    saveCodeVerifier: (saved) => {
      verifier = saved;
    },
    codeVerifier: () => verifier,
  };
  return { provider, authorizeAt: () => authorizeAt, token: () => tokens?.access_token };
}

export interface OAuthClient {
  connect(): Promise<void>;
  finish(callback: URLSearchParams): Promise<void>;
  toolNames(): Promise<string[]>;
  query(q: string): Promise<string>;
  close(): Promise<void>;
}

type Content = { content: { text: string }[] };

export function createCurrentClient(url: string, { provider }: OAuthState): OAuthClient {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), { authProvider: provider });
  return {
    connect: () => client.connect(transport),
    finish: (callback) => transport.finishAuth(callback),
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    query: async (q) => textOf((await client.callTool({ name: 'query', arguments: { q } })) as Content),
    close: () => client.close(),
  };
}

export function createEarlierClient(url: string, { provider }: OAuthState): OAuthClient {
  const client = new EarlierClient({ name: 'test', version: '1' });
  // The types of the earlier generation do not know exactOptionalPropertyTypes.
  const options = { authProvider: provider } as unknown as ConstructorParameters<typeof EarlierTransport>[1];
  const transport = new EarlierTransport(new URL('/mcp', url), options);
  return {
    connect: () => client.connect(transport as Parameters<typeof client.connect>[0]),
    finish: (callback) => transport.finishAuth(callback.get('code') ?? ''),
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    query: async (q) => textOf((await client.callTool({ name: 'query', arguments: { q } })) as unknown as Content),
    close: () => client.close(),
  };
}

const textOf = ({ content }: Content): string => content.map(({ text }) => text).join('\n');

/** Sends the form of the page; resolves with the page that leads back to the client. */
export const decide = (jar: CookieJar, url: string, fields: Readonly<Record<string, string>>): Promise<Visit> =>
  jar.visit(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin' },
    body: new URLSearchParams(fields).toString(),
  });

/** Where the page leads by itself; its link leads to the same address. */
export function continuedAt({ text }: Visit): URL {
  const refreshed = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(text)?.[1] ?? '';
  if (!text.includes(`href="${refreshed}"`)) throw new Error(`no link to ${refreshed} on the page`);
  return new URL(refreshed.replaceAll('&amp;', '&'));
}
