// PostgreSQL lookups of keys, without cache (credentials.ts caches). Keys are found by digest, so
// that the timing of the index lookup reveals nothing about the key.
import type { IngestRules } from '../ingest/drop/rules.js';
import { FIRST_SHARD } from '../platform/clickhouse/shards.js';
import { toOrganizationId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { eventsThisMonth } from '../usage/store.js';
import type { AdminCredential, Credential, IpPolicy } from './credentials.js';
import { digestKey, keyKindOf, shownPrefix } from './keys.js';
import { type Role, SCOPES, type Scope, type TokenKind, tokenScopesOf } from './roles.js';

export interface Found {
  readonly credential: Credential | AdminCredential | undefined;
  /** Expiry in epoch milliseconds, also checked for cached tokens. */
  readonly expiresAt?: number;
  /** last_used_at is older than a minute. */
  readonly isUseDue?: boolean;
}

const NOTHING: Found = { credential: undefined };
const PUBLIC_SCOPES: ReadonlySet<Scope> = new Set(['track']);
const SECRET_SCOPES: ReadonlySet<Scope> = new Set(SCOPES);

export interface FindDeps {
  readonly postgres: Postgres;
  /** Unlimited when undefined. */
  readonly eventsPerMonthMax: number | undefined;
}

export async function findCredential(deps: FindDeps, key: string): Promise<Found> {
  const { postgres } = deps;
  switch (keyKindOf(key)) {
    case 'public': {
      const row = await findProject(postgres, { public_key: key });
      return row === undefined
        ? NOTHING
        : {
            credential: { kind: 'public', id: shownPrefix(key), scopes: PUBLIC_SCOPES, ...(await tenantOf(deps, row)) },
          };
    }
    case 'secret': {
      const row = await findProject(postgres, { secret_key_digest: digestKey(key) });
      return row === undefined
        ? NOTHING
        : {
            credential: {
              kind: 'secret',
              id: row.secret_key_prefix,
              scopes: SECRET_SCOPES,
              ...(await tenantOf(deps, row)),
            },
          };
    }
    case 'token':
      return findToken(deps, key);
    case 'admin':
      return findAdmin(postgres, key);
    default:
      return NOTHING;
  }
}

interface ProjectRow {
  id: string;
  secret_key_prefix: string;
  organization_id: string;
  created_by: string | null;
  ip_policy: IpPolicy;
  timezone: string;
  other_sdks: boolean;
  rules: IngestRules | null;
  /** Shard of its placement, which a project on the first shard may lack. */
  shard: number | null;
  /** Null while there is only one shard. */
  second_shard: number | null;
}

const SECOND_SHARD = FIRST_SHARD + 1;

const findProject = (postgres: Postgres, by: Record<string, string | Buffer>): Promise<ProjectRow | undefined> =>
  postgres('projects')
    .join('organizations', 'organizations.id', 'organization_id')
    .leftJoin('definitions', 'definitions.project_id', 'projects.id')
    .leftJoin('project_placements', 'project_placements.project_id', 'projects.id')
    .leftJoin('shards AS second', (on) => on.onVal('second.id', SECOND_SHARD))
    .where(by)
    .whereNull('deleted_at')
    .first(
      ...['projects.id', 'secret_key_prefix', 'organization_id', 'created_by', 'ip_policy'],
      ...['timezone', 'other_sdks', 'rules'],
      ...['project_placements.shard', 'second.id AS second_shard'],
    );

async function tenantOf(deps: FindDeps, row: Omit<ProjectRow, 'secret_key_prefix'>) {
  return {
    projectId: toProjectId(row.id),
    organizationId: toOrganizationId(row.organization_id),
    creatorId: row.created_by ?? undefined,
    ipPolicy: row.ip_policy,
    timezone: row.timezone,
    ...(row.rules !== null && { rules: row.rules }),
    // Absent with one shard, where every project lives on it.
    ...(row.second_shard && { shard: row.shard ?? FIRST_SHARD }),
    ...(!row.other_sdks && { refusesOtherSdks: true }),
    isOverAllowance: await isOverAllowance(deps, row.organization_id),
  };
}

/**
 * Based on rolled-up usage: an organization may exceed the quota by the events of one rollup
 * interval.
 */
async function isOverAllowance({ postgres, eventsPerMonthMax }: FindDeps, organizationId: string): Promise<boolean> {
  if (eventsPerMonthMax === undefined) return false;
  return (await eventsThisMonth(postgres, organizationId)) >= eventsPerMonthMax;
}

interface TokenRow extends Omit<ProjectRow, 'secret_key_prefix'> {
  token_id: string;
  kind: TokenKind;
  scopes: Scope[];
  token_created_by: string | null;
  expires_at: Date;
  is_use_due: boolean;
  role: Role | null;
}

async function findToken(deps: FindDeps, token: string): Promise<Found> {
  const { rows } = await deps.postgres.raw<{ rows: TokenRow[] }>(
    `SELECT access_tokens.id AS token_id, kind, scopes, access_tokens.created_by AS token_created_by, expires_at, members.role,
       coalesce(last_used_at < now() - interval '1 minute', true) AS is_use_due,
       projects.id, projects.organization_id, organizations.created_by, ip_policy, timezone, other_sdks, rules,
       project_placements.shard, second.id AS second_shard
     FROM access_tokens
     JOIN projects ON projects.id = access_tokens.project_id AND projects.deleted_at IS NULL
     JOIN organizations ON organizations.id = projects.organization_id
     LEFT JOIN definitions ON definitions.project_id = projects.id
     LEFT JOIN project_placements ON project_placements.project_id = projects.id
     LEFT JOIN shards AS second ON second.id = ${SECOND_SHARD}
     LEFT JOIN members
       ON members.organization_id = projects.organization_id AND members.person_id = access_tokens.created_by
     WHERE digest = ? AND revoked_at IS NULL AND expires_at > now()`,
    [digestKey(token)],
  );
  const row = rows[0];
  if (row === undefined) return NOTHING;
  const scopes = scopesLeft(row);
  if (scopes === undefined) return NOTHING;
  const tenant = await tenantOf(deps, row);
  const own = { kind: 'token', id: row.token_id, scopes: new Set(scopes), ...tenant } as const;
  const { kind, token_created_by: personId, role } = row;
  return {
    credential: kind === 'personal' && personId !== null && role !== null ? { ...own, personId, role } : own,
    expiresAt: row.expires_at.getTime(),
    isUseDue: row.is_use_due,
  };
}

/**
 * A personal token has the current rights of its person: none after they left, fewer after a
 * demotion.
 */
function scopesLeft({ kind, scopes, role }: TokenRow): readonly Scope[] | undefined {
  if (kind === 'service') return scopes;
  if (role === null) return undefined;
  const allowed = tokenScopesOf(role);
  return scopes.filter((scope) => allowed.includes(scope));
}

async function findAdmin(postgres: Postgres, key: string): Promise<Found> {
  const row = await postgres('organizations')
    .where({ admin_key_digest: digestKey(key) })
    .first('id', 'admin_key_prefix', 'created_by');
  if (row === undefined) return NOTHING;
  const organizationId = toOrganizationId(row.id);
  return {
    credential: { kind: 'admin', id: row.admin_key_prefix, organizationId, creatorId: row.created_by ?? undefined },
  };
}

export async function noteTokenUse(postgres: Postgres, token: string): Promise<void> {
  await postgres('access_tokens')
    .where({ digest: digestKey(token) })
    .update({ last_used_at: postgres.fn.now() });
}
