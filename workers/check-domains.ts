// Scheduled check of verified domains, daily, or hourly while the record is missing. PostgreSQL
// stores when each is due; the query every 15 s reads few rows.
import { checkDueDomains } from '../src/accounts/domain-checks.js';
import { toDomainMail } from '../src/accounts/domain-mail.js';
import { createTxtLookup } from '../src/accounts/txt-records.js';
import { createMailQueue, enqueueMail } from '../src/mail/queue.js';
import type { RunningJob, WorkerDeps } from './runtime.js';
import { startScheduledJob } from './scheduled-job.js';

const QUEUE = 'check-domains';
const EVERY_MS = 15_000;

export function startDomainChecks({ config, postgres, redis, log }: WorkerDeps): Promise<RunningJob> {
  const mailQueue = config.SMTP_URL === undefined ? undefined : createMailQueue(redis);
  const findTxtRecords = createTxtLookup(config.DNS_SERVERS?.split(','));
  const checks = {
    ...{ postgres, findTxtRecords, log },
    mailOwner:
      mailQueue && ((email, missing) => enqueueMail(mailQueue, toDomainMail(email, missing), config.SECRET_KEY_BASE)),
  } satisfies Parameters<typeof checkDueDomains>[0];
  return startScheduledJob(
    { redis, log },
    {
      queue: QUEUE,
      schedules: [{ name: QUEUE, everyMs: EVERY_MS }],
      run: ({ signal }) => checkDueDomains(checks, signal),
      close: async () => mailQueue?.close(),
    },
  );
}
