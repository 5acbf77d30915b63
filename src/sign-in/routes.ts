// Sign-in routes: GET /auth/idp redirects to the identity provider, GET /auth/idp/cb completes the
// sign-in and creates a session, POST /auth/logout ends it.
import type { Router } from 'express';
import { limitByAddress } from '../access/limit-by-address.js';
import type { RateLimit } from '../access/rate-limits.js';
import { refuseCrossOrigin } from '../access/same-origin.js';
import { clearSessionCookie, readSessionToken, setSessionCookie } from '../access/session-cookie.js';
import type { Quotas } from '../accounts/quotas.js';
import { createSession, endSession } from '../accounts/sessions.js';
import { PublicError } from '../platform/errors.js';
import { createRouter } from '../platform/http/router.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import { createAttemptCookie } from './attempt-cookie.js';
import { createIdpClient, type IdpClient } from './idp-client.js';
import { toNextPath } from './next-path.js';
import type { IdentityProvider } from './provider.js';
import { recordSignIn } from './store.js';

export interface SignInDeps {
  /** Undefined when sign-in is not configured. */
  readonly provider: IdentityProvider | undefined;
  readonly publicUrl: URL;
  readonly secretKeyBase: string;
  readonly rateLimit: RateLimit;
  readonly quotas: Quotas;
  readonly postgres: Postgres;
  readonly log: Logger;
}

export const CALLBACK_PATH = '/auth/idp/cb';

export function createSignInRouter(deps: SignInDeps): Router {
  const { postgres, publicUrl, secretKeyBase } = deps;
  const client = deps.provider && createIdpClient(deps.provider, deps.log);
  const attempts = createAttemptCookie({ secretKeyBase, isSecure: publicUrl.protocol === 'https:' });
  const limitRate = limitByAddress(deps.rateLimit);
  const router = createRouter();

  router.get('/auth/idp', limitRate, async (req, res) => {
    const { location, secrets } = await requireClient(client).start();
    attempts.set(res, { secrets, next: toNextPath(req.query.next) });
    res.redirect(location);
  });

  router.get(CALLBACK_PATH, limitRate, async (req, res) => {
    const attempt = attempts.read(req);
    // An attempt can be used once.
    attempts.clear(res);
    if (attempt === undefined) {
      throw new PublicError(
        'bad_request',
        `this sign-in was not begun here, or too long ago; begin at ${publicUrl.origin}/login`,
      );
    }
    const signedIn = await requireClient(client).finish(req.query, attempt.secrets);
    const personId = await recordSignIn(postgres, signedIn, { secretKeyBase, quotas: deps.quotas });
    const previous = readSessionToken(req, publicUrl);
    if (previous !== undefined) await endSession(postgres, previous);
    setSessionCookie(res, await createSession(postgres, personId), publicUrl);
    res.redirect(attempt.next);
  });

  router.post('/auth/logout', refuseCrossOrigin(publicUrl), async (req, res) => {
    const token = readSessionToken(req, publicUrl);
    if (token !== undefined) await endSession(postgres, token);
    clearSessionCookie(res, publicUrl);
    if (req.accepts(['json', 'html']) === 'html') res.redirect(303, toNextPath(req.query.next));
    else res.json({ ok: true });
  });
  return router;
}

function requireClient(client: IdpClient | undefined): IdpClient {
  if (client !== undefined) return client;
  throw new PublicError('unavailable', 'sign-in is not configured; the settings IDP_… name an identity provider');
}
