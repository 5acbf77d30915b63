// State of a sign-in attempt in an encrypted cookie, valid for ten minutes, so that any process can
// complete it.
import type { Request, Response } from 'express';
import { readHostCookie, toHostCookie } from '../access/host-cookie.js';
import { encryptSecret, tryDecryptSecret } from '../access/keys.js';
import type { AttemptSecrets } from './idp-client.js';

export interface Attempt {
  readonly secrets: AttemptSecrets;
  /** Path to return to. */
  readonly next: string;
  readonly expiresAt: number;
}

const COOKIE = 'service_sign_in';
const LIFETIME_MS = 10 * 60_000;

export interface AttemptCookie {
  set(res: Response, attempt: Omit<Attempt, 'expiresAt'>): void;
  /** Undefined without a valid, unexpired cookie. */
  read(req: Request): Attempt | undefined;
  clear(res: Response): void;
}

export function createAttemptCookie(options: { secretKeyBase: string; isSecure: boolean }): AttemptCookie {
  const { name, attributes } = toHostCookie(COOKIE, { isSecure: options.isSecure, path: '/auth/idp' });
  return {
    set(res, attempt) {
      const content: Attempt = { ...attempt, expiresAt: Date.now() + LIFETIME_MS };
      const sealed = encryptSecret(JSON.stringify(content), options.secretKeyBase).toString('base64url');
      res.cookie(name, sealed, { ...attributes, maxAge: LIFETIME_MS });
    },
    read(req) {
      const sealed = readHostCookie(req, COOKIE, options.isSecure);
      const attempt = sealed === undefined ? undefined : tryOpen(sealed, options.secretKeyBase);
      return attempt !== undefined && Date.now() < attempt.expiresAt ? attempt : undefined;
    },
    clear(res) {
      res.clearCookie(name, attributes);
    },
  };
}

function tryOpen(sealed: string, secretKeyBase: string): Attempt | undefined {
  const text = tryDecryptSecret(Buffer.from(sealed, 'base64url'), secretKeyBase);
  // Authenticated encryption: the content is ours.
  return text === undefined ? undefined : (JSON.parse(text) as Attempt);
}
