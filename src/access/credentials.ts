// From the text of a key to who may do what: looked up in PostgreSQL, remembered for a second, so that a revoked key
// stops within one and a busy key costs one lookup a second.
import { LRUCache } from 'lru-cache';
import { type OrganizationId, type ProjectId, toOrganizationId, toProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import { digestKey, keyKindOf, shownPrefix } from './keys.js';

export type Scope = 'track' | 'query' | 'dashboards' | 'admin';
export type IpPolicy = 'anonymize' | 'full' | 'drop';

/** A key that names a project. The tenant of a request comes from here and from nowhere else. */
export interface Credential {
  readonly kind: 'public' | 'secret' | 'token';
  /** How records name it, which never hold the key itself: the first characters of a key, the id of a token. */
  readonly id: string;
  readonly projectId: ProjectId;
  readonly organizationId: OrganizationId;
  readonly scopes: ReadonlySet<Scope>;
  readonly ipPolicy: IpPolicy;
  readonly timezone: string;
}

/** What the requests of a credential are counted under. */
export const rateKeyOf = (credential: Credential): string => `${credential.projectId}:${credential.id}`;

interface ProjectRow {
  id: string;
  secret_key_prefix: string;
  organization_id: string;
  ip_policy: IpPolicy;
  timezone: string;
}

const PUBLIC_SCOPES: ReadonlySet<Scope> = new Set<Scope>(['track']);
const SECRET_SCOPES: ReadonlySet<Scope> = new Set<Scope>(['track', 'query', 'dashboards', 'admin']);
const PROJECT_COLUMNS = ['id', 'secret_key_prefix', 'organization_id', 'ip_policy', 'timezone'] as const;

const CACHED_KEYS_MAX = 10_000;
// How long a key that was valid goes on working while PostgreSQL cannot be asked: events keep being accepted.
const STALE_ON_ERROR_MS = 15 * 60_000;

interface Remembered {
  readonly credential: Credential | undefined;
  readonly at: number;
}

export interface CredentialStore {
  /** Undefined when the key names nothing. Throws when PostgreSQL cannot be asked and nothing is remembered. */
  find(key: string): Promise<Credential | undefined>;
}

export function createCredentialStore(
  postgres: Postgres,
  options: { cacheMs: number; log: Logger; now?: () => number },
): CredentialStore {
  const now = options.now ?? Date.now;
  const remembered = new LRUCache<string, Remembered>({ max: CACHED_KEYS_MAX });
  // Requests that arrive while a key is being looked up wait for that lookup instead of starting their own.
  const pending = new Map<string, Promise<Credential | undefined>>();

  async function lookUp(key: string): Promise<Credential | undefined> {
    const before = remembered.get(key);
    try {
      const credential = await findCredential(postgres, key);
      remembered.set(key, { credential, at: now() });
      return credential;
    } catch (cause) {
      if (before?.credential === undefined || now() - before.at > STALE_ON_ERROR_MS) throw cause;
      options.log.warn({ err: cause }, 'credential lookup failed; the remembered answer stands');
      return before.credential;
    }
  }

  return {
    async find(key) {
      const hit = remembered.get(key);
      if (hit !== undefined && now() - hit.at < options.cacheMs) return hit.credential;
      let lookup = pending.get(key);
      if (lookup === undefined) {
        lookup = lookUp(key).finally(() => pending.delete(key));
        pending.set(key, lookup);
      }
      return lookup;
    },
  };
}

async function findCredential(postgres: Postgres, key: string): Promise<Credential | undefined> {
  switch (keyKindOf(key)) {
    case 'public': {
      const row = await findProject(postgres, { public_key: key });
      return row && toCredential({ kind: 'public', id: shownPrefix(key), scopes: PUBLIC_SCOPES }, row);
    }
    case 'secret': {
      // Looked up by digest: an index probe of a hash of random text says nothing about the text by its timing.
      const row = await findProject(postgres, { secret_key_digest: digestKey(key) });
      return row && toCredential({ kind: 'secret', id: row.secret_key_prefix, scopes: SECRET_SCOPES }, row);
    }
    default:
      return undefined;
  }
}

const findProject = (postgres: Postgres, by: Record<string, string | Buffer>): Promise<ProjectRow | undefined> =>
  postgres('projects')
    .where(by)
    .whereNull('deleted_at')
    .first(...PROJECT_COLUMNS);

const toCredential = (own: Pick<Credential, 'kind' | 'id' | 'scopes'>, row: ProjectRow): Credential => ({
  ...own,
  projectId: toProjectId(row.id),
  organizationId: toOrganizationId(row.organization_id),
  ipPolicy: row.ip_policy,
  timezone: row.timezone,
});
