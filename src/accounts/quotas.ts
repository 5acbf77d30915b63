// Quotas of what a person, an organization and a project may own, so that limits per key, project
// and organization cannot be multiplied by creating more of them. Each count is taken under a row
// lock, so that two concurrent requests cannot both use the last place.
import type { TokenKind } from '../access/roles.js';
import type { Config } from '../platform/config.js';
import { PublicError } from '../platform/errors.js';
import type { OrganizationId, ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';

export type Quotas = Pick<
  Config,
  | 'ORGANIZATIONS_PER_PERSON_MAX'
  | 'PROJECTS_PER_ORGANIZATION_MAX'
  | 'DOMAINS_PER_ORGANIZATION_MAX'
  | 'TOKENS_PER_PROJECT_MAX'
  | 'TOKENS_PER_PERSON_MAX'
  | 'DASHBOARDS_PER_PROJECT_MAX'
  | 'DASHBOARDS_PER_PERSON_MAX'
  | 'ALERTS_PER_PROJECT_MAX'
>;

type Quota = keyof Quotas;

/** Needs a transaction, whose end releases the lock. */
type Transaction = Postgres;

export async function requireOrganizationQuota(transaction: Transaction, quotas: Quotas, personId: string) {
  if (await mayCreateOrganization(transaction, quotas, personId)) return;
  throw quotaExceeded(quotas, 'ORGANIZATIONS_PER_PERSON_MAX', 'a person creates at most', 'organizations');
}

/**
 * Counts the organizations that the person created, also those with other owners now. A deleted one
 * counts until the data of its projects is deleted.
 */
export async function mayCreateOrganization(transaction: Transaction, quotas: Quotas, personId: string) {
  await lock(transaction, 'people', personId);
  const created = transaction('organizations')
    .where({ created_by: personId })
    .whereRaw(
      `(removed_at IS NULL
        OR EXISTS (SELECT FROM projects WHERE organization_id = organizations.id AND data_deleted_at IS NULL))`,
    );
  return (await countOf(created)) < quotas.ORGANIZATIONS_PER_PERSON_MAX;
}

/**
 * A deleted project counts until its data is deleted, so that alternating creation and deletion
 * cannot cause unlimited work.
 */
export async function requireProjectQuota(transaction: Transaction, quotas: Quotas, organizationId: OrganizationId) {
  // The lock of `lock`, which reads the organization at once.
  const { removed_at: removedAt } = await transaction('organizations')
    .where({ id: organizationId })
    .forNoKeyUpdate()
    .first('removed_at');
  if (removedAt !== null) throw new PublicError('forbidden', 'this organization was deleted');
  const projects = transaction('projects').where({ organization_id: organizationId }).whereNull('data_deleted_at');
  if ((await countOf(projects)) < quotas.PROJECTS_PER_ORGANIZATION_MAX) return;
  const what = 'projects (deleted ones count until their data is gone)';
  throw quotaExceeded(quotas, 'PROJECTS_PER_ORGANIZATION_MAX', 'an organization has at most', what);
}

/** `domain` itself does not count: claiming it again adds none. */
export async function requireDomainQuota(
  transaction: Transaction,
  quotas: Quotas,
  { organizationId, domain }: { organizationId: OrganizationId; domain: string },
) {
  await lock(transaction, 'organizations', organizationId);
  const others = transaction('domains').where({ organization_id: organizationId }).whereNot({ domain });
  if ((await countOf(others)) < quotas.DOMAINS_PER_ORGANIZATION_MAX) return;
  throw quotaExceeded(quotas, 'DOMAINS_PER_ORGANIZATION_MAX', 'an organization has at most', 'domains');
}

/**
 * Counts valid tokens. Personal ones count for their person in all projects, so that others cannot
 * use up that limit.
 */
export async function requireTokenQuota(
  transaction: Transaction,
  quotas: Quotas,
  token: { projectId: ProjectId; personId: string; kind: TokenKind },
) {
  const active = () =>
    transaction('access_tokens').whereNull('revoked_at').where('expires_at', '>', transaction.fn.now());
  await lock(transaction, 'projects', token.projectId);
  if ((await countOf(active().where({ project_id: token.projectId }))) >= quotas.TOKENS_PER_PROJECT_MAX) {
    throw quotaExceeded(quotas, 'TOKENS_PER_PROJECT_MAX', 'a project has at most', 'active tokens; revoke one first');
  }
  if (token.kind === 'service') return;
  await lock(transaction, 'people', token.personId);
  const personal = active().where({ created_by: token.personId, kind: 'personal' });
  if ((await countOf(personal)) >= quotas.TOKENS_PER_PERSON_MAX) {
    const what = 'active personal tokens; revoke one first';
    throw quotaExceeded(quotas, 'TOKENS_PER_PERSON_MAX', 'a person has at most', what);
  }
}

/**
 * `personId`: of the owner of a personal dashboard; without it, the dashboard is one of the
 * project.
 */
export async function requireDashboardQuota(
  transaction: Transaction,
  quotas: Quotas,
  { projectId, personId }: { projectId: ProjectId; personId: string | undefined },
) {
  if (personId === undefined) {
    await lock(transaction, 'projects', projectId);
    const shared = transaction('dashboards').where({ visibility: 'project', project_id: projectId });
    if ((await countOf(shared)) < quotas.DASHBOARDS_PER_PROJECT_MAX) return;
    throw quotaExceeded(quotas, 'DASHBOARDS_PER_PROJECT_MAX', 'a project has at most', 'dashboards; delete one first');
  }
  await lock(transaction, 'people', personId);
  const own = transaction('dashboards').where({ visibility: 'personal', owner_id: personId });
  if ((await countOf(own)) < quotas.DASHBOARDS_PER_PERSON_MAX) return;
  const what = 'dashboards of their own; delete one first';
  throw quotaExceeded(quotas, 'DASHBOARDS_PER_PERSON_MAX', 'a person has at most', what);
}

/** `count`: alerts and reports that the document has after the change; null: the definitions. */
export async function requireAlertQuota(
  transaction: Transaction,
  quotas: Quotas,
  { projectId, dashboardId, count }: { projectId: ProjectId; dashboardId: string | null; count: number },
) {
  if (count === 0) return;
  await lock(transaction, 'projects', projectId);
  const others = transaction('alerts')
    .where({ project_id: projectId })
    .whereRaw('dashboard_id IS DISTINCT FROM ?', [dashboardId]);
  if ((await countOf(others)) + count <= quotas.ALERTS_PER_PROJECT_MAX) return;
  throw quotaExceeded(
    quotas,
    'ALERTS_PER_PROJECT_MAX',
    'a project has at most',
    'alerts and reports; delete one first',
  );
}

const quotaExceeded = (quotas: Quotas, quota: Quota, who: string, what: string) =>
  new PublicError('forbidden', `${who} ${quotas[quota]} ${what} (setting ${quota})`);

/** Not FOR UPDATE, which would block rows that reference this one. */
async function lock(transaction: Transaction, table: 'people' | 'organizations' | 'projects', id: string) {
  await transaction(table).where({ id }).forNoKeyUpdate().first('id');
}

async function countOf(rows: { count(): PromiseLike<{ count?: string | number }[]> }): Promise<number> {
  return Number((await rows.count())[0]?.count);
}
