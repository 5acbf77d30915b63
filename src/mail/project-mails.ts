// Mails that a project causes: those of its alerts and reports. Its members choose the addresses,
// which need not agree, so the mails are limited per day. One person reaches half of the limit of
// an address, so that others can still write to it.
import { digestKey } from '../access/keys.js';
import { findProjectOwner } from '../access/membership.js';
import { describeLimit } from '../access/rate-limits.js';
import type { Config } from '../platform/config.js';
import type { ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';

export interface ProjectMail {
  /** The same for each attempt to send it. */
  readonly id: string;
  readonly projectId: ProjectId;
  /** The address in canonical form. */
  readonly address: string;
}

/** Counts the mail. Undefined when it may be sent now, otherwise the limit that is used up. */
export type TakeProjectMail = (mail: ProjectMail) => Promise<string | undefined>;

type MailLimits = Pick<
  Config,
  | 'MAILS_PER_PROJECT_PER_DAY_MAX'
  | 'MAILS_PER_ADDRESS_PER_DAY_MAX'
  | 'MAILS_OF_PROJECTS_PER_DAY_MAX'
  | 'RATE_LIMIT_PERSON_FACTOR'
>;

const DAY_SECONDS = 86_400;

/**
 * Counts a mail for all limits, or for none when one is used up. In one step, and with a key for
 * the mail, so that it counts once although its process is killed before the mail is queued.
 */
const TAKE = `
  if redis.call('exists', KEYS[1]) == 1 then return 0 end
  for i = 2, #KEYS do
    if tonumber(redis.call('get', KEYS[i]) or 0) >= tonumber(ARGV[i]) then return i - 1 end
  end
  for i = 2, #KEYS do
    redis.call('set', KEYS[i], 0, 'EX', ARGV[1], 'NX')
    redis.call('incr', KEYS[i])
  end
  redis.call('set', KEYS[1], '', 'EX', ARGV[1])
  return 0`;

export function createProjectMails(postgres: Postgres, redis: Redis, settings: MailLimits): TakeProjectMail {
  const ofProject = settings.MAILS_PER_PROJECT_PER_DAY_MAX;
  const toAddress = settings.MAILS_PER_ADDRESS_PER_DAY_MAX;
  return async ({ id, projectId, address }) => {
    const person = await findProjectOwner(postgres, projectId);
    const digest = digestKey(address).toString('base64url');
    const limits = [
      { subject: 'project', of: projectId, max: ofProject },
      { subject: 'person', of: person, max: ofProject * settings.RATE_LIMIT_PERSON_FACTOR },
      { subject: 'personAndAddress', of: `${person} ${digest}`, max: Math.ceil(toAddress / 2) },
      { subject: 'address', of: digest, max: toAddress },
      { subject: 'installation', of: 'all', max: settings.MAILS_OF_PROJECTS_PER_DAY_MAX },
    ] as const;
    const keys = [`project-mail:${id}`, ...limits.map(({ subject, of }) => `limit:project-mail:${subject}:${of}`)];
    const used = Number(await redis.eval(TAKE, keys.length, ...keys, DAY_SECONDS, ...limits.map(({ max }) => max)));
    const limit = limits[used - 1];
    return limit && `too many mails; the limit is ${describeLimit(limit.subject, limit.max, DAY_SECONDS)}`;
  };
}
