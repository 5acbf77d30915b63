// Sessions: a random token in a cookie; only its digest is stored. A session expires 30 days after
// its last use. Sessions are not cached, so that ending one takes effect at once.
import { digestKey } from '../access/keys.js';
import { randomBase62 } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';

// 256 bits.
const TOKEN_LENGTH = 43;
const TOKEN_FORM = /^[0-9A-Za-z]{43}$/;
const LIFETIME_MS = 30 * 24 * 60 * 60_000;
/** Lifetime, also used by the cookie. */
export const SESSION_LIFETIME_SECONDS = LIFETIME_MS / 1000;
// Extending a session is a write, so do it at most every ten minutes.
const PROLONG_AFTER_MS = 10 * 60_000;

export interface Session {
  readonly personId: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly name: string | undefined;
  /** The session was extended: renew the cookie. */
  readonly isProlonged: boolean;
}

/** Resolves with the token for the cookie, which is not stored. */
export async function createSession(postgres: Postgres, personId: string): Promise<string> {
  const token = randomBase62(TOKEN_LENGTH);
  const expiresAt = new Date(Date.now() + LIFETIME_MS);
  await postgres('sessions').insert({ id_digest: digestKey(token), person_id: personId, expires_at: expiresAt });
  // Delete expired sessions here, because sign-ins are rare.
  await postgres('sessions').where('expires_at', '<', new Date()).delete();
  return token;
}

interface SessionRow {
  person_id: string;
  email: string | null;
  email_verified: boolean;
  name: string | null;
  last_seen_at: Date;
}

export async function findSession(postgres: Postgres, token: string): Promise<Session | undefined> {
  if (!TOKEN_FORM.test(token)) return undefined;
  const now = new Date();
  const digest = digestKey(token);
  const row: SessionRow | undefined = await postgres('sessions')
    .join('people', 'people.id', 'sessions.person_id')
    .where({ id_digest: digest })
    .where('expires_at', '>', now)
    .first('person_id', 'email', 'email_verified', 'name', 'last_seen_at');
  if (row === undefined) return undefined;
  const isProlonged = now.getTime() - row.last_seen_at.getTime() > PROLONG_AFTER_MS;
  if (isProlonged) {
    const expiresAt = new Date(now.getTime() + LIFETIME_MS);
    await postgres('sessions').where({ id_digest: digest }).update({ last_seen_at: now, expires_at: expiresAt });
  }
  return {
    personId: row.person_id,
    email: row.email ?? undefined,
    emailVerified: row.email_verified,
    name: row.name ?? undefined,
    isProlonged,
  };
}

export async function endSession(postgres: Postgres, token: string): Promise<void> {
  await postgres('sessions')
    .where({ id_digest: digestKey(token) })
    .delete();
}
