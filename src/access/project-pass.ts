// Project pass: a signed header by which `web` authorizes a signed-in person's query in the query
// process, for one project, one person and half a minute. Signed with a key derived from
// SECRET_KEY_BASE, so outsiders cannot forge it.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type ProjectId, toProjectId } from '../platform/ids.js';

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
  const key = Buffer.from(hkdfSync('sha256', secretKeyBase, '', 'event-analytics: project passes', 32));
  const sign = (claim: string) => createHmac('sha256', key).update(claim).digest();
  return {
    issue({ projectId, personId, timezone = 'UTC' }, now) {
      const claim = `${projectId}.${personId}.${timezone}.${now + LIFETIME_MS}`;
      return `${claim}.${sign(claim).toString('base64url')}`;
    },
    tryRead(pass, now) {
      const [projectId = '', personId = '', timezone = '', expiresAt = '', signature = ''] = pass.split('.');
      const expected = sign(`${projectId}.${personId}.${timezone}.${expiresAt}`);
      const given = Buffer.from(signature, 'base64url');
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      return Number(expiresAt) > now ? { projectId: toProjectId(projectId), personId, timezone } : undefined;
    },
  };
}
