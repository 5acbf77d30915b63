// Project pass: a signed header by which `web` authorizes a signed-in person's query in the query process, for one project and
// half a minute. Signed with a key derived from SECRET_KEY_BASE, so outsiders cannot forge it.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type ProjectId, toProjectId } from '../platform/ids.js';

export const PASS_HEADER = 'x-project-pass';

// Transit time between processes, including clock differences.
const LIFETIME_MS = 30_000;

export interface ProjectPasses {
  issue(projectId: ProjectId, now: number): string;
  /** Undefined for a forged or expired pass. */
  tryRead(pass: string, now: number): ProjectId | undefined;
}

export function createProjectPasses(secretKeyBase: string): ProjectPasses {
  const key = Buffer.from(hkdfSync('sha256', secretKeyBase, '', 'event-analytics: project passes', 32));
  const sign = (claim: string) => createHmac('sha256', key).update(claim).digest();
  return {
    issue(projectId, now) {
      const claim = `${projectId}.${now + LIFETIME_MS}`;
      return `${claim}.${sign(claim).toString('base64url')}`;
    },
    tryRead(pass, now) {
      const [projectId = '', expiresAt = '', signature = ''] = pass.split('.');
      const expected = sign(`${projectId}.${expiresAt}`);
      const given = Buffer.from(signature, 'base64url');
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      return Number(expiresAt) > now ? toProjectId(projectId) : undefined;
    },
  };
}
