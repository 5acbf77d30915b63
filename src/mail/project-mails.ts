// Mails that a project causes: those of its alerts and reports. Its members choose the addresses,
// which need not agree, so the mails are limited per day.
import { digestKey } from '../access/keys.js';
import { findProjectOwner } from '../access/membership.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import { PublicError } from '../platform/errors.js';
import type { ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';

export interface ProjectMail {
  readonly projectId: ProjectId;
  /** The address in canonical form. */
  readonly address: string;
}

/** Counts the mail. Undefined when it may be sent now, otherwise the limit that is used up. */
export type TakeProjectMail = (mail: ProjectMail) => Promise<string | undefined>;

export const createProjectMails =
  (postgres: Postgres, limit: LayeredRateLimit): TakeProjectMail =>
  async ({ projectId, address }) => {
    const person = await findProjectOwner(postgres, projectId);
    const digest = digestKey(address).toString('base64url');
    const subjects = { project: projectId, person, personAndAddress: `${person} ${digest}`, address: digest };
    try {
      await limit.take({ ...subjects, installation: 'all' });
      return undefined;
    } catch (error) {
      if (error instanceof PublicError && error.kind === 'rate_limited') return error.message;
      throw error;
    }
  };
