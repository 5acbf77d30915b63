// Clients that register themselves (RFC 7591), such as Claude, ChatGPT and editors. The client_id
// is what a client says of itself, signed: anybody may register, and nothing is stored. None of it
// is verified, so the page that asks the person names the host that gets the token.
import { z } from 'zod';
import { createSignedClaims } from '../access/signed-claims.js';
import { nameField } from '../accounts/schema.js';
import { describeProblem } from '../platform/http/field-problem.js';
import { LOOPBACK_NAMES } from '../platform/http/loopback.js';
import { OAuthError } from './errors.js';

export interface Client {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

export interface Clients {
  /** Throws OAuthError. */
  register(body: unknown): Client;
  /** Undefined for an id that this service has not made, or not with its present secret. */
  tryRead(id: string): Client | undefined;
}

const REDIRECT_URIS_MAX = 10;
/** Of all together: the id travels in addresses and in the cookie of a sign-in. */
const REDIRECT_LENGTH_MAX = 1000;

/**
 * Schemes by which a page would run a script or read a file, or which the browser, the system or no
 * program answers. Those of Windows begin with `ms-`, and some have run programs by their address.
 */
const REFUSED_SCHEMES =
  /^(?:about|blob|chrome|data|file|filesystem|ftp|intent|jar|javascript|mailto|ms-.*|resource|search|search-ms|sms|tel|vbscript|view-source|wss?):$/;

/** HTTPS, a loopback address, or the scheme of a program on the machine (RFC 8252). */
function isRedirectUri(text: string): boolean {
  if (!URL.canParse(text) || /[\s#\p{Cc}]/u.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'http:' ? LOOPBACK_NAMES.has(hostname) : !REFUSED_SCHEMES.test(protocol);
}

const redirectUris = z
  .array(
    z.string().refine(isRedirectUri, {
      error: 'is neither an https address, nor a loopback address, nor one of an application of its own',
    }),
    { error: 'is required: a list of addresses' },
  )
  .min(1, { error: 'is empty' })
  .max(REDIRECT_URIS_MAX, { error: `has more than ${REDIRECT_URIS_MAX} addresses` })
  .refine((uris) => uris.join('').length <= REDIRECT_LENGTH_MAX, {
    error: `is longer than ${REDIRECT_LENGTH_MAX} characters in all`,
  });

const registration = z.object({ client_name: z.string().optional(), redirect_uris: redirectUris });

export function createClients(secretKeyBase: string): Clients {
  const ids = createSignedClaims(secretKeyBase, 'clients of agents');
  return {
    register(body) {
      const parsed = registration.safeParse(body, { error: describeProblem });
      if (!parsed.success) throw toRegistrationError(parsed.error);
      const { client_name: given, redirect_uris: uris } = parsed.data;
      const name = nameField.safeParse(given).data ?? hostOf(uris[0] ?? '');
      const claim = Buffer.from(JSON.stringify([name, ...uris])).toString('base64url');
      return { id: ids.sign(claim), name, redirectUris: uris };
    },
    tryRead(id) {
      const claim = ids.tryRead(id);
      if (claim === undefined) return undefined;
      // Signed: the content is ours.
      const [name, ...uris] = JSON.parse(Buffer.from(claim, 'base64url').toString()) as [string, ...string[]];
      return { id, name, redirectUris: uris };
    },
  };
}

function toRegistrationError(error: z.ZodError): OAuthError {
  const isOfRedirects = error.issues.some(({ path }) => path[0] === 'redirect_uris');
  const problems = error.issues.map(({ path, message }) => [...path, message].join(' '));
  return new OAuthError(isOfRedirects ? 'invalid_redirect_uri' : 'invalid_client_metadata', problems.join('; '));
}

/**
 * Whether the client registered the address. A program on the person's machine listens on any free
 * port, so the port of a loopback address may differ (RFC 8252, 7.3).
 */
export function hasRedirectUri(client: Client, uri: string): boolean {
  return client.redirectUris.includes(uri) || client.redirectUris.some((known) => differsInPort(known, uri));
}

function differsInPort(known: string, uri: string): boolean {
  if (!isRedirectUri(uri)) return false;
  const [one, other] = [new URL(known), new URL(uri)];
  if (one.protocol !== 'http:' || !LOOPBACK_NAMES.has(one.hostname)) return false;
  other.port = one.port;
  return one.href === other.href;
}

/** What a person recognizes of the address: its host, or the scheme of an application. */
export function hostOf(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1);
}

/** Whether a program on the person's own machine gets the answer. */
export function isOnOwnMachine(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol !== 'https:' || LOOPBACK_NAMES.has(hostname);
}
