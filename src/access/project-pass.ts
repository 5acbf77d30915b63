// What `web` shows the query process for a person who is signed in: this project, decided just now. Signed with a key that
// only the processes of the service have, so the header of an outsider is worth nothing wherever it arrives.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type ProjectId, toProjectId } from '../platform/ids.js';

export const PASS_HEADER = 'x-project-pass';

// From one process to the next, clocks of two machines included.
const LIFETIME_MS = 30_000;

export interface ProjectPasses {
  issue(projectId: ProjectId, now: number): string;
  /** Undefined for what was not issued with the same SECRET_KEY_BASE, or longer ago than half a minute. */
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
