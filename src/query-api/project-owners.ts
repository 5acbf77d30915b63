// Owners of projects, for the fair order of queries. Each is read from PostgreSQL once, because the
// creator of an organization does not change.
import { LRUCache } from 'lru-cache';
import { findProjectOwner } from '../access/membership.js';
import { withTimeout } from '../platform/flow/with-timeout.js';
import type { ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import { createRepeatedWarning } from '../platform/repeated-warning.js';

const PROJECTS_MAX = 10_000;
const ANSWER_TIMEOUT_MS = 2_000;

/** Never rejects: a project whose owner cannot be read counts as its own owner. */
export type ProjectOwners = (projectId: ProjectId) => Promise<string>;

export function createProjectOwners(postgres: Postgres, log: Logger): ProjectOwners {
  const warn = createRepeatedWarning({ log, message: 'the owner of a project could not be read' });
  const kept = new LRUCache<ProjectId, Promise<string>>({ max: PROJECTS_MAX });
  const read = async (projectId: ProjectId): Promise<string> => {
    try {
      return await withTimeout(ANSWER_TIMEOUT_MS, findProjectOwner(postgres, projectId));
    } catch (err) {
      kept.delete(projectId);
      warn(err, { projectId });
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
