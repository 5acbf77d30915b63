// The request of a client to be authorized: the query of GET /oauth/authorize. A wrong one is shown
// to the person: it is not sent back, because anybody may register an address. Pure.
import { PublicError } from '../platform/errors.js';
import { AGENT_SCOPES, type AgentScope } from './addresses.js';
import { type Client, type Clients, hasRedirectUri } from './clients.js';

export interface AuthorizationRequest {
  readonly client: Client;
  readonly redirectUri: string;
  /** SHA-256 of the verifier in base64url (PKCE, RFC 7636). */
  readonly challenge: string;
  /** Those that the person may allow. */
  readonly scopes: readonly AgentScope[];
  /** Goes back to the client as it came. */
  readonly state: string | undefined;
}

/** Throws a bad request that names what the client should have sent. */
export function readAuthorizationRequest(
  query: Readonly<Record<string, unknown>>,
  { clients, resource }: { clients: Clients; resource: string },
): AuthorizationRequest {
  const client = clients.tryRead(textOf(query, 'client_id') ?? '');
  if (client === undefined) {
    throw wrong('its client_id was not made here; remove the connection there and add it again');
  }
  const redirectUri = textOf(query, 'redirect_uri') ?? onlyOne(client.redirectUris);
  if (redirectUri === undefined || !hasRedirectUri(client, redirectUri)) {
    throw wrong('its redirect_uri is not one that it registered');
  }
  if (query.response_type !== 'code') throw wrong('its response_type is not "code"');
  const challenge = textOf(query, 'code_challenge') ?? '';
  if (query.code_challenge_method !== 'S256' || !/^[\w-]{43}$/.test(challenge)) {
    throw wrong('it has no code_challenge of method S256');
  }
  requireResource(query.resource, resource, wrong);
  return { client, redirectUri, challenge, scopes: scopesOf(query), state: textOf(query, 'state') };
}

/** The client may name the resource that its token is for (RFC 8707); there is only one. */
export function requireResource(given: unknown, resource: string, toError: (problem: string) => Error): void {
  if (given === undefined || given === resource) return;
  throw toError(`its resource is not ${resource}`);
}

const wrong = (problem: string): PublicError =>
  new PublicError('bad_request', `the application that sent you here made a mistake: ${problem}`);

function textOf(query: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = query[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const onlyOne = (uris: readonly string[]): string | undefined => (uris.length === 1 ? uris[0] : undefined);

/** Unknown scopes are ignored, as RFC 6749, 3.3 allows; without a known one, all are offered. */
function scopesOf(query: Readonly<Record<string, unknown>>): readonly AgentScope[] {
  const asked = new Set((textOf(query, 'scope') ?? '').split(' '));
  return asked.has('query') && !asked.has('dashboards') ? ['query'] : AGENT_SCOPES;
}
