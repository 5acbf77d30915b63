// Scheduled checks of alerts, runs of reports, and the delivery of their messages. PostgreSQL
// stores what is due, so that several workers share the work, and a restart loses nothing.
import { createProjectPasses } from '../src/access/project-pass.js';
import { createHostLookup } from '../src/alerts/addresses.js';
import { type CheckDeps, checkDueAlerts } from '../src/alerts/check-due.js';
import { claimSecondsOf } from '../src/alerts/claims.js';
import { createAlertQueries } from '../src/alerts/run-query.js';
import { type SendDeps, sendDueMessages } from '../src/alerts/send-due.js';
import { createUnsubscribeLinks } from '../src/alerts/unsubscribe.js';
import { createWebhookSecrets } from '../src/alerts/webhook-secret.js';
import { createProjectMails } from '../src/mail/project-mails.js';
import { createMailQueue, enqueueOutboxMail } from '../src/mail/queue.js';
import { BOUNDS } from '../src/platform/flow/bounds.js';
import { publicUrlOf } from '../src/platform/public-url.js';
import { runDueReports } from '../src/reports/run-due.js';
import { joinJobs, type Needs, type RunningJob } from './runtime.js';
import { defineScheduledJob } from './scheduled-job.js';

type AlertNeeds = Needs<
  'postgres' | 'redis' | 'log',
  | 'SECRET_KEY_BASE'
  | 'QUERY_URL'
  | 'SERVICE_URL'
  | 'PUBLIC_URL'
  | 'HOST'
  | 'PORT'
  | 'QUERY_WAIT_MS'
  | 'QUERY_TIMEOUT_MS'
  | 'SMTP_URL'
  | 'MAILS_PER_PROJECT_PER_DAY_MAX'
  | 'MAILS_PER_ADDRESS_PER_DAY_MAX'
  | 'MAILS_OF_PROJECTS_PER_DAY_MAX'
  | 'RATE_LIMIT_PERSON_FACTOR'
  | 'DNS_SERVERS'
  | 'WEBHOOK_PRIVATE_ADDRESSES'
>;

const startChecks = defineScheduledJob({
  name: 'check-alerts',
  everyMs: 5_000,
  open(needs: AlertNeeds, signal) {
    const deps = toRunDeps(needs);
    return { run: () => checkDueAlerts(deps, signal) };
  },
});

/** Apart from the checks, because a report takes minutes where a check takes seconds. */
const startReports = defineScheduledJob({
  name: 'run-reports',
  everyMs: 10_000,
  open(needs: AlertNeeds, signal) {
    const deps = toRunDeps(needs);
    return { run: () => runDueReports(deps, signal) };
  },
});

function toRunDeps({ config, postgres, log }: AlertNeeds): CheckDeps {
  const publicUrl = publicUrlOf(config);
  const queryTimeoutMs = config.QUERY_WAIT_MS + config.QUERY_TIMEOUT_MS;
  const runQuery = createAlertQueries({
    passes: createProjectPasses(config.SECRET_KEY_BASE),
    queryUrl: () => config.QUERY_URL ?? config.SERVICE_URL ?? publicUrl.href,
    queryTimeoutMs,
    log,
  });
  return { postgres, runQuery, publicUrl, claimSeconds: claimSecondsOf(queryTimeoutMs), log };
}

const startDeliveries = defineScheduledJob({
  name: 'send-alerts',
  everyMs: 5_000,
  open({ config, postgres, redis, log }: AlertNeeds, signal) {
    const mailQueue = config.SMTP_URL === undefined ? undefined : createMailQueue(redis);
    const deps: SendDeps = {
      ...{ postgres, log },
      secrets: createWebhookSecrets(postgres, config.SECRET_KEY_BASE),
      webhooks: {
        allowed: config.WEBHOOK_PRIVATE_ADDRESSES,
        resolve: createHostLookup(config.DNS_SERVERS),
        timeoutMs: BOUNDS.webhookMs,
        nowSeconds: () => Math.floor(Date.now() / 1000),
      },
      takeMail: createProjectMails(postgres, redis, config),
      unsubscribeLinks: createUnsubscribeLinks(config.SECRET_KEY_BASE, publicUrlOf(config)),
      sendMail: mailQueue && ((mail) => enqueueOutboxMail(mailQueue, mail, config.SECRET_KEY_BASE)),
    };
    return { run: () => sendDueMessages(deps, signal), close: async () => mailQueue?.close() };
  },
});

export const startAlerts = (deps: AlertNeeds): Promise<RunningJob> =>
  joinJobs(startChecks(deps), startReports(deps), startDeliveries(deps));
