// Project pass: a signed header by which `web` authorizes a signed-in person's query in the query
// process, for one project, one person and half a minute. Signed with a key derived from
// SECRET_KEY_BASE, so outsiders cannot forge it.
import { type ProjectId, toProjectId } from '../platform/ids.js';
import { createSignedClaims } from './signed-claims.js';

export const PASS_HEADER = 'x-project-pass';

// Transit time between processes, including clock differences.
const LIFETIME_MS = 30_000;

/** Whom a pass admits, and to which project, with its time zone. */
export interface Admitted {
  readonly projectId: ProjectId;
  readonly personId: string;
  /** IANA name, for queries that name none; default UTC. */
  readonly timezone?: string;
}

export interface ProjectPasses {
  issue(admitted: Admitted, now: number): string;
  /** Undefined for a forged or expired pass. */
  tryRead(pass: string, now: number): Admitted | undefined;
}

export function createProjectPasses(secretKeyBase: string): ProjectPasses {
  const claims = createSignedClaims(secretKeyBase, 'project passes');
  return {
    issue({ projectId, personId, timezone = 'UTC' }, now) {
      return claims.sign(`${projectId}.${personId}.${timezone}.${now + LIFETIME_MS}`);
    },
    tryRead(pass, now) {
      const claim = claims.tryRead(pass);
      if (claim === undefined) return undefined;
      const [projectId = '', personId = '', timezone = '', expiresAt = ''] = claim.split('.');
      return Number(expiresAt) > now ? { projectId: toProjectId(projectId), personId, timezone } : undefined;
    },
  };
}
