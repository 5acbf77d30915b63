// OAuth client of the identity provider: the redirect URL of an attempt, and the identity after the
// callback. Grant implements the protocol on plain objects instead of Express requests, so it keeps
// no state in a session or process.
import { setTimeout as delay } from 'node:timers/promises';
import type { GrantConfig, GrantResponse } from 'grant';
import type { SignedIn } from '../accounts/people.js';
import { PublicError } from '../platform/errors.js';
import { loadOnce } from '../platform/load-once.js';
import type { Logger } from '../platform/log.js';
import { findVerifiedEmail, toIdentity } from './identity.js';
import type { IdentityProvider } from './provider.js';

/** State, nonce and PKCE verifier of an attempt; secret between the service and this browser. */
export interface AttemptSecrets {
  readonly provider: string;
  readonly state?: string;
  readonly nonce?: string;
  readonly code_verifier?: string;
}

export interface IdpClient {
  start(): Promise<{ location: string; secrets: AttemptSecrets }>;
  /** Rejects with a PublicError unless the provider confirms the identity. */
  finish(query: Readonly<Record<string, unknown>>, secrets: AttemptSecrets): Promise<SignedIn>;
}

const TIMEOUT_MS = 10_000;
/** Grant's timeout counts silence only, so an answer of single bytes would never end. */
const ANSWERED_WITHIN_MS = 20_000;
const PREFIX = '/auth';

export function createIdpClient(
  provider: IdentityProvider,
  log: Logger,
  answeredWithinMs = ANSWERED_WITHIN_MS,
): IdpClient {
  const config: GrantConfig = { defaults: { prefix: PREFIX }, [provider.grantName]: provider.grant };
  // Few processes see a sign-in soon after their start.
  const middleware = loadOnce(() => loadGrant(config));
  const paths = { start: `${PREFIX}/${provider.grantName}`, finish: `${PREFIX}/${provider.grantName}/callback` };

  return {
    async start() {
      const { location, session } = await run(await middleware(), { path: paths.start, query: {} });
      if (location === undefined || session?.state === undefined) throw new Error('grant did not begin a sign-in');
      return { location, secrets: session };
    },
    async finish(query, secrets) {
      requireCode(query, secrets);
      const exchange = run(await middleware(), { path: paths.finish, query, session: secrets });
      const { response } = await Promise.race([exchange, tooSlow(answeredWithinMs)]).catch((cause: unknown) => {
        log.warn({ err: cause }, 'the identity provider gave no usable answer');
        throw new PublicError('unavailable', 'the identity provider gave no usable answer; try again', { cause });
      });
      const verifiedEmail = provider.emailsUrl && (await readVerifiedEmail(provider.emailsUrl, response, log));
      const identity = toIdentity(provider, response ?? {}, { verifiedEmail, now: Date.now() });
      if ('signedIn' in identity) return identity.signedIn;
      log.warn({ reason: identity.problem }, 'a sign-in was not confirmed');
      throw new PublicError('unauthenticated', 'the identity provider did not confirm the sign-in; try again');
    },
  };
}

async function loadGrant(config: GrantConfig): Promise<GrantMiddleware> {
  const { default: grant } = await import('grant');
  return grant.default.express({ config, request: { timeout: TIMEOUT_MS } }) as unknown as GrantMiddleware;
}

async function tooSlow(withinMs: number): Promise<never> {
  await delay(withinMs, undefined, { ref: false });
  throw new Error(`the answers take longer than ${withinMs} ms`);
}

/** Checks state and parameters of the callback before any request is sent. */
function requireCode(query: Readonly<Record<string, unknown>>, secrets: AttemptSecrets): void {
  if (secrets.state === undefined || query.state !== secrets.state) {
    throw new PublicError(
      'bad_request',
      'this sign-in was not begun in this browser, or another was begun since; try again',
    );
  }
  if (typeof query.error === 'string') {
    // Log a protocol error code only when it has the expected characters.
    const code = /^[a-z_]{1,64}$/.test(query.error) ? query.error : 'error';
    throw new PublicError('forbidden', `the identity provider refused the sign-in: ${code}`);
  }
  if (typeof query.code !== 'string') throw new PublicError('bad_request', 'the identity provider sent no code');
}

/** Without an answer the person signs in, and the address does not count. */
async function readVerifiedEmail(
  url: string,
  response: GrantResponse | undefined,
  log: Logger,
): Promise<string | undefined> {
  if (response?.access_token === undefined) return undefined;
  try {
    const answer = await fetch(url, {
      headers: { Authorization: `Bearer ${response.access_token}`, 'User-Agent': 'event-analytics-service' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return findVerifiedEmail(await answer.json());
  } catch (err) {
    log.warn({ err, url }, 'the verified addresses of a person could not be read');
    return undefined;
  }
}

interface GrantExchange {
  readonly req: {
    readonly method: 'GET';
    readonly originalUrl: string;
    readonly query: Readonly<Record<string, unknown>>;
    readonly session: { grant: AttemptSecrets | undefined };
  };
  readonly res: { readonly locals: { grant?: { response?: GrantResponse } }; redirect(location: string): void };
}

type GrantMiddleware = (req: GrantExchange['req'], res: GrantExchange['res'], next: () => void) => Promise<void>;

async function run(
  middleware: GrantMiddleware,
  request: { path: string; query: Readonly<Record<string, unknown>>; session?: AttemptSecrets },
): Promise<{ location?: string; session: AttemptSecrets | undefined; response: GrantResponse | undefined }> {
  const answered: { location?: string } = {};
  const req: GrantExchange['req'] = {
    method: 'GET',
    originalUrl: request.path,
    query: request.query,
    session: { grant: request.session },
  };
  const res: GrantExchange['res'] = {
    locals: {},
    redirect: (location) => {
      answered.location = location;
    },
  };
  await middleware(req, res, () => {});
  return { ...answered, session: req.session.grant, response: res.locals.grant?.response };
}
