// Derives the signed-in identity from an identity provider's response. Pure; problems are messages
// for the log.
import type { GrantResponse } from 'grant';
import type { SignedIn } from '../accounts/people.js';
import { isObject } from '../platform/json-object.js';
import type { IdentityProvider } from './provider.js';

export type Identity = { readonly signedIn: SignedIn } | { readonly problem: string };

/** `verifiedEmail`: verified by the provider in another response than the profile. */
export function toIdentity(
  provider: Pick<IdentityProvider, 'id' | 'isOpenId' | 'trustsEmail'>,
  response: GrantResponse,
  context: { verifiedEmail?: string | undefined; now: number },
): Identity {
  if (response.error !== undefined) return { problem: describe(response.error) };
  const profile: unknown = response.profile;
  if (!isObject(profile) || profile.error !== undefined) {
    return { problem: `the profile cannot be read: ${describe(isObject(profile) ? profile.error : profile)}` };
  }
  const subject = toExactText(profile.sub) ?? toExactText(profile.id);
  if (subject === undefined) return { problem: 'the profile has no sub and no id that can be stored' };
  const problem = provider.isOpenId ? findTokenProblem(response, subject, context.now) : undefined;
  if (problem !== undefined) return { problem };

  const claims = provider.isOpenId ? toClaims(response) : {};
  // The profile of some providers has the subject only.
  const about = toExactText(profile.email) === undefined ? claims : profile;
  const email = context.verifiedEmail ?? toExactText(about.email);
  const saysVerified = about.email_verified === true || about.email_verified === 'true';
  return {
    signedIn: {
      provider: provider.id,
      subject,
      email,
      emailVerified:
        email !== undefined && (context.verifiedEmail !== undefined || saysVerified || provider.trustsEmail),
      name: toName(toText(profile.name) ?? toText(profile.login) ?? toText(claims.name) ?? email?.split('@')[0]),
    },
  };
}

const CLOCK_TOLERANCE_MS = 60_000;

/**
 * Grant has checked audience and nonce. The profile's subject must equal the token's (OpenID
 * Connect Core, 5.3.2).
 */
function findTokenProblem(response: GrantResponse, subject: string, now: number): string | undefined {
  if (response.jwt?.id_token === undefined) return 'there is no id_token';
  const claims = toClaims(response);
  if (toText(claims.sub) !== subject) return 'the id_token and the profile are of different people';
  if (!(Number(claims.exp) * 1000 > now - CLOCK_TOLERANCE_MS)) return 'the id_token has expired';
  return undefined;
}

/** Of the id_token; empty without one. */
function toClaims(response: GrantResponse): Record<string, unknown> {
  const claims: unknown = response.jwt?.id_token?.payload;
  return isObject(claims) ? claims : {};
}

/** The verified primary address of a list such as GitHub's, else its first verified address. */
export function findVerifiedEmail(emails: unknown): string | undefined {
  if (!Array.isArray(emails)) return undefined;
  const verified = emails.filter((entry) => isObject(entry) && entry.verified === true);
  return toExactText((verified.find((entry) => entry.primary === true) ?? verified[0])?.email);
}

const toText = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;

/**
 * Undefined for what is not stored exactly. A lone surrogate becomes U+FFFD, as any other does, so
 * that two people would have one account; PostgreSQL refuses NUL.
 */
function toExactText(value: unknown): string | undefined {
  const text = toText(value);
  return text === undefined || /[\0\p{Cs}]/u.test(text) ? undefined : text;
}

const NAME_LENGTH_MAX = 100;

/** Display name as one line, cut to the length of an organization name. */
function toName(text: string | undefined): string | undefined {
  const line = text?.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
  return line === undefined || line === '' ? undefined : [...line].slice(0, NAME_LENGTH_MAX).join('');
}

const describe = (error: unknown): string => (typeof error === 'string' ? error : JSON.stringify(error ?? null));
