// Owners of projects, for the fair order of queries: the person who created the organization, or
// the organization without one. Read from PostgreSQL and kept for a minute.
import { LRUCache } from 'lru-cache';
import { withTimeout } from '../platform/flow/with-timeout.js';
import type { ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';

const PROJECTS_MAX = 10_000;
const KEPT_MS = 60_000;
const ANSWER_TIMEOUT_MS = 2_000;

/** Never rejects: a project whose owner cannot be read counts as its own owner. */
export type ProjectOwners = (projectId: ProjectId) => Promise<string>;

export function createProjectOwners(postgres: Postgres, log: Logger): ProjectOwners {
  const kept = new LRUCache<ProjectId, Promise<string>>({ max: PROJECTS_MAX, ttl: KEPT_MS });
  const read = async (projectId: ProjectId): Promise<string> => {
    try {
      return await withTimeout(ANSWER_TIMEOUT_MS, readOwner(postgres, projectId));
    } catch (err) {
      kept.delete(projectId);
      log.warn({ err, projectId }, 'the owner of a project could not be read');
      return projectId;
    }
  };
  return (projectId) => {
    const known = kept.get(projectId);
    if (known !== undefined) return known;
    const owner = read(projectId);
    kept.set(projectId, owner);
    return owner;
  };
}

async function readOwner(postgres: Postgres, projectId: ProjectId): Promise<string> {
  const row: { created_by: string | null; id: string } | undefined = await postgres('projects')
    .join('organizations', 'organizations.id', 'projects.organization_id')
    .where('projects.id', projectId)
    .first('organizations.created_by', 'organizations.id');
  return row === undefined ? projectId : (row.created_by ?? row.id);
}
