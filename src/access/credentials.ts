// Credential store: resolves keys in PostgreSQL and caches the result for CREDENTIAL_CACHE_MS (one
// second by default), also for unknown keys. A revoked or new key takes effect within that time,
// and a busy key costs one lookup in it. While PostgreSQL is unavailable, known keys stay valid
// longer.
import { LRUCache } from 'lru-cache';
import type { IngestRules } from '../ingest/drop/rules.js';
import { PublicError } from '../platform/errors.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import { withTimeout } from '../platform/flow/with-timeout.js';
import type { OrganizationId, ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import { createRepeatedWarning } from '../platform/repeated-warning.js';
import { type Found, findCredential, noteTokenUse } from './find-credential.js';
import { keyKindOf } from './keys.js';
import type { Role, Scope } from './roles.js';

export type IpPolicy = 'anonymize' | 'full' | 'drop';

/** Admin key of an organization: manages projects, without access to their data. */
export interface AdminCredential {
  readonly kind: 'admin';
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly creatorId?: string | undefined;
}

/** A key of a project. The tenant of a request comes only from here. */
export interface Credential {
  readonly kind: 'public' | 'secret' | 'token';
  /**
   * Name of the key in records, which never contain the key: its first characters, or the id of a
   * token.
   */
  readonly id: string;
  readonly projectId: ProjectId;
  readonly organizationId: OrganizationId;
  /** The person who created the organization; absent when no person did. */
  readonly creatorId?: string | undefined;
  readonly scopes: ReadonlySet<Scope>;
  readonly ipPolicy: IpPolicy;
  readonly timezone: string;
  /** Shard of the project at the time of the lookup; absent while there is only one. */
  readonly shard?: number;
  /** Which events the project lets in; absent when all. */
  readonly rules?: IngestRules;
  /** Whether the project refuses the protocols of other SDKs. */
  readonly refusesOtherSdks?: boolean;
  /** Whether the monthly event quota of its organization is exceeded. */
  readonly isOverAllowance?: boolean;
  /** Person of a personal token; absent for keys and service tokens. */
  readonly personId?: string;
  /** Role of that person in the organization, at the time of the lookup. */
  readonly role?: Role;
}

/** Rate-limit key of a credential. */
const rateKeyOf = (credential: Credential): string => `${credential.projectId}:${credential.id}`;

/** The person who created the organization, or the organization without one. */
export const ownerIdOf = ({ creatorId, organizationId }: Pick<Credential, 'creatorId' | 'organizationId'>): string =>
  creatorId ?? organizationId;

/** All rate-limit subjects of a credential. */
export const rateSubjectsOf = (credential: Credential) => ({
  key: rateKeyOf(credential),
  project: credential.projectId,
  person: ownerIdOf(credential),
});

type AnyCredential = Credential | AdminCredential;

const CACHED_KEYS_MAX = 10_000;
// A separate cache, so that a flood of unknown keys cannot evict valid ones.
const UNKNOWN_KEYS_MAX = 1000;
const UNKNOWN_FOR_MS_MAX = 1000;
// How long a valid key keeps working while PostgreSQL is unavailable, so that events are still
// accepted.
const STALE_ON_ERROR_MS = 15 * 60_000;
// A PostgreSQL that accepts a query but never replies counts as unavailable.
const ANSWER_TIMEOUT_MS = 2000;
/** Of a key without a remembered answer: after it the request is refused. */
const FIRST_ANSWER_TIMEOUT_MS = 10_000;

interface Remembered extends Found {
  readonly at: number;
}

export interface CredentialStore {
  /** Undefined for an unknown key. Throws when PostgreSQL is unavailable and nothing is cached. */
  find(key: string): Promise<AnyCredential | undefined>;
}

export function createCredentialStore(
  postgres: Postgres,
  options: { cacheMs: number; eventsPerMonthMax?: number | undefined; log: Logger; now?: () => number },
): CredentialStore {
  const now = options.now ?? Date.now;
  const remembered = new LRUCache<string, Remembered>({ max: CACHED_KEYS_MAX });
  /** Time of the lookup of an unknown key. */
  const unknown = new LRUCache<string, number>({ max: UNKNOWN_KEYS_MAX });
  const unknownForMs = Math.min(options.cacheMs, UNKNOWN_FOR_MS_MAX);
  // Concurrent requests with the same key share one lookup.
  const pending = new Map<string, Promise<Found>>();
  const warnOfLookup = createRepeatedWarning({
    log: options.log,
    message: 'credential lookup failed; the remembered answer stands',
  });

  /** A clock that was set back must not keep a revoked key valid until it has caught up. */
  const isWithin = (ms: number, at = Number.NEGATIVE_INFINITY): boolean => Math.abs(now() - at) < ms;

  async function lookUp(key: string): Promise<Found> {
    const before = remembered.get(key);
    // The age of a result counts from the start of the lookup, so a key revoked meanwhile is not
    // cached longer.
    const at = now();
    try {
      const lookup = findCredential({ postgres, eventsPerMonthMax: options.eventsPerMonthMax }, key);
      const found = await withTimeout(before === undefined ? FIRST_ANSWER_TIMEOUT_MS : ANSWER_TIMEOUT_MS, lookup);
      remember(key, found, at);
      if (found.isUseDue) noteUse(key);
      return found;
    } catch (cause) {
      if (before === undefined || !isWithin(STALE_ON_ERROR_MS, before.at)) {
        throw new PublicError('unavailable', 'keys cannot be verified right now; try again', { cause });
      }
      warnOfLookup(cause);
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
      // Not cached: such texts have any length and unlimited variety.
      if (keyKindOf(key) === undefined) return undefined;
      const hit = remembered.get(key);
      if (hit !== undefined && isWithin(options.cacheMs, hit.at)) return unexpired(hit, now());
      if (isWithin(unknownForMs, unknown.get(key))) return undefined;
      let lookup = pending.get(key);
      if (lookup === undefined) {
        if (hit === undefined && pending.size >= BOUNDS.keyLookups) {
          throw new PublicError('unavailable', 'too many keys are being verified; try again');
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
