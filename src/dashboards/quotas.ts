// Quotas of dashboards: of a project, and of a person's own in all projects. Counted under a row lock, so that concurrent
// requests cannot exceed a quota together.
import type { Config } from '../platform/config.js';
import { PublicError } from '../platform/errors.js';
import type { ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Visibility } from './schema.js';

export type DashboardQuotas = Pick<Config, 'DASHBOARDS_PER_PROJECT_MAX' | 'DASHBOARDS_PER_PERSON_MAX'>;

interface Place {
  readonly visibility: Visibility;
  readonly projectId: ProjectId;
  readonly personId: string | undefined;
}

/** Throws forbidden when there is no room for another dashboard. The end of the transaction releases the lock. */
export async function requireDashboardQuota(
  transaction: Postgres,
  quotas: DashboardQuotas,
  { visibility, projectId, personId }: Place,
): Promise<void> {
  const isPersonal = visibility === 'personal' && personId !== undefined;
  const quota = isPersonal ? 'DASHBOARDS_PER_PERSON_MAX' : 'DASHBOARDS_PER_PROJECT_MAX';
  const holder = isPersonal
    ? transaction('people').where({ id: personId })
    : transaction('projects').where({ id: projectId });
  await holder.forNoKeyUpdate().first('id');
  const [row] = await transaction('dashboards')
    .where(isPersonal ? { visibility, owner_id: personId } : { visibility, project_id: projectId })
    .count<{ count: string }[]>();
  if (Number(row?.count) < quotas[quota]) return;
  const what = isPersonal ? 'a person has at most' : 'a project has at most';
  const which = isPersonal ? 'dashboards of their own' : 'dashboards';
  throw new PublicError('forbidden', `${what} ${quotas[quota]} ${which}; delete one first (setting ${quota})`);
}
