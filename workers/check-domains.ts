// Scheduled check of verified domains, daily, or hourly while the record is missing. PostgreSQL
// stores when each is due; the query every 15 s reads few rows.
import { checkDueDomains, type DomainCheckDeps } from '../src/accounts/domain-checks.js';
import { toDomainMail } from '../src/accounts/domain-mail.js';
import { createTxtLookup } from '../src/accounts/txt-records.js';
import { createMailQueue, enqueueMail } from '../src/mail/queue.js';
import type { Needs } from './runtime.js';
import { defineScheduledJob } from './scheduled-job.js';

type DomainCheckNeeds = Needs<'postgres' | 'redis' | 'log', 'SMTP_URL' | 'DNS_SERVERS' | 'SECRET_KEY_BASE'>;

export const startDomainChecks = defineScheduledJob({
  name: 'check-domains',
  everyMs: 15_000,
  open({ config, postgres, redis, log }: DomainCheckNeeds, signal) {
    const mailQueue = config.SMTP_URL === undefined ? undefined : createMailQueue(redis);
    const checks: DomainCheckDeps = {
      ...{ postgres, log },
      findTxtRecords: createTxtLookup(config.DNS_SERVERS),
      mailOwner:
        mailQueue && ((email, missing) => enqueueMail(mailQueue, toDomainMail(email, missing), config.SECRET_KEY_BASE)),
    };
    return { run: () => checkDueDomains(checks, signal), close: async () => mailQueue?.close() };
  },
});
