// From the text of a key to who may do what: looked up in PostgreSQL, remembered for a second, so that a revoked key
// stops within one, one that was just created works within one, and a busy key costs one lookup a second, known or not.
import { LRUCache } from 'lru-cache';
import { answeredWithin } from '../platform/answered-within.js';
import { PublicError } from '../platform/errors.js';
import type { OrganizationId, ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import { type Found, findCredential, noteTokenUse } from './find-credential.js';
import { keyKindOf } from './keys.js';
import type { Role } from './route-matrix.js';

export type Scope = 'track' | 'query' | 'dashboards' | 'admin';
export type IpPolicy = 'anonymize' | 'full' | 'drop';

/** An organization's admin key: it manages projects, and has no access to what is in them. */
export interface AdminCredential {
  readonly kind: 'admin';
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly creatorId?: string | undefined;
}

/** A key that names a project. The tenant of a request comes from here and from nowhere else. */
export interface Credential {
  readonly kind: 'public' | 'secret' | 'token';
  /** How records name it, which never hold the key itself: the first characters of a key, the id of a token. */
  readonly id: string;
  readonly projectId: ProjectId;
  readonly organizationId: OrganizationId;
  /** The person who created the organization; absent when no person did. */
  readonly creatorId?: string | undefined;
  readonly scopes: ReadonlySet<Scope>;
  readonly ipPolicy: IpPolicy;
  readonly timezone: string;
  /** Its organization has sent all the events that it may send this month. */
  readonly isOverAllowance?: boolean;
  /** The person a personal token stands for; keys and service tokens stand for no one. */
  readonly personId?: string;
  /** The role of that person in the organization, as of this lookup. */
  readonly role?: Role;
}

/** What the requests of a credential are counted under. */
export const rateKeyOf = (credential: Credential): string => `${credential.projectId}:${credential.id}`;

/** The same with everything wider that they count for as well. */
export const rateSubjectsOf = (credential: Credential) => ({
  key: rateKeyOf(credential),
  project: credential.projectId,
  person: credential.creatorId ?? credential.organizationId,
});

type AnyCredential = Credential | AdminCredential;

const CACHED_KEYS_MAX = 10_000;
// Apart from the others, so that no flood of keys that nobody has pushes out those that are in use.
const UNKNOWN_KEYS_MAX = 1000;
const UNKNOWN_FOR_MS_MAX = 1000;
// A flood of keys that are all different must not keep a key that was revoked waiting until its remembered answer stands.
const LOOKUPS_MAX = 1000;
// How long a key that was valid goes on working while PostgreSQL cannot be asked: events keep being accepted.
const STALE_ON_ERROR_MS = 15 * 60_000;
// A PostgreSQL that takes a question and says nothing is away as well.
const ANSWER_TIMEOUT_MS = 2000;

interface Remembered extends Found {
  readonly at: number;
}

export interface CredentialStore {
  /** Undefined when the key names nothing. Throws when PostgreSQL cannot be asked and nothing is remembered. */
  find(key: string): Promise<AnyCredential | undefined>;
}

export function createCredentialStore(
  postgres: Postgres,
  options: { cacheMs: number; eventsPerMonthMax?: number | undefined; log: Logger; now?: () => number },
): CredentialStore {
  const now = options.now ?? Date.now;
  const remembered = new LRUCache<string, Remembered>({ max: CACHED_KEYS_MAX });
  /** When PostgreSQL was asked about a key that names nothing. */
  const unknown = new LRUCache<string, number>({ max: UNKNOWN_KEYS_MAX });
  const unknownForMs = Math.min(options.cacheMs, UNKNOWN_FOR_MS_MAX);
  // Requests that arrive while a key is being looked up wait for that lookup instead of starting their own.
  const pending = new Map<string, Promise<Found>>();

  async function lookUp(key: string): Promise<Found> {
    const before = remembered.get(key);
    // What is read is at least as old as the question: a key that is revoked while it waits is not believed for longer.
    const at = now();
    try {
      const lookup = findCredential({ postgres, eventsPerMonthMax: options.eventsPerMonthMax }, key);
      const found = await (before === undefined ? lookup : answeredWithin(ANSWER_TIMEOUT_MS, lookup));
      remember(key, found, at);
      if (found.isUseDue) noteUse(key);
      return found;
    } catch (cause) {
      if (before === undefined || now() - before.at > STALE_ON_ERROR_MS) {
        throw new PublicError('unavailable', 'keys cannot be looked up right now; try again', { cause });
      }
      options.log.warn({ err: cause }, 'credential lookup failed; the remembered answer stands');
      return before;
    }
  }

  function remember(key: string, found: Found, at: number): void {
    if (found.credential === undefined) {
      remembered.delete(key);
      unknown.set(key, at);
    } else remembered.set(key, { ...found, at });
  }

  function noteUse(token: string): void {
    noteTokenUse(postgres, token).catch((err: unknown) =>
      options.log.warn({ err }, 'the use of a token was not noted'),
    );
  }

  return {
    async find(key) {
      // Not worth remembering: it could be of any length, and there is no end of such texts.
      if (keyKindOf(key) === undefined) return undefined;
      const hit = remembered.get(key);
      if (hit !== undefined && now() - hit.at < options.cacheMs) return unexpired(hit, now());
      if (now() - (unknown.get(key) ?? -Infinity) < unknownForMs) return undefined;
      let lookup = pending.get(key);
      if (lookup === undefined) {
        if (hit === undefined && pending.size >= LOOKUPS_MAX) {
          throw new PublicError('unavailable', 'too many keys are being looked up; try again');
        }
        lookup = lookUp(key).finally(() => pending.delete(key));
        pending.set(key, lookup);
      }
      return unexpired(await lookup, now());
    },
  };
}

const unexpired = (found: Found, now: number): AnyCredential | undefined =>
  found.expiresAt !== undefined && found.expiresAt <= now ? undefined : found.credential;
