// Consumer of the mail queue: sends mails over SMTP, several at once. A mail that the server
// rejects permanently becomes a dead letter.
import { DelayedError, type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import { MAIL_QUEUE, type MailJob, tryReadContent } from '../src/mail/queue.js';
import { SlowDomains } from '../src/mail/slow-domains.js';
import { BOUNDS } from '../src/platform/flow/bounds.js';
import { orAborted } from '../src/platform/flow/or-aborted.js';
import { DURABLE_WORKER_OPTIONS } from '../src/platform/redis/durable-job-options.js';
import { logErrors } from '../src/platform/redis/log-errors.js';
import type { Needs, RunningJob } from './runtime.js';

interface MailTimes {
  /** How long an attempt waits for each answer of the mail server. */
  readonly timeoutMs: number;
  /** Between two attempts of a domain that timed out. */
  readonly slowDomainMs: number;
  /** How long an attempt may go on when the process stops. */
  readonly stopMs: number;
}
const TIMES: MailTimes = { timeoutMs: 30_000, slowDomainMs: 60_000, stopMs: 10_000 };

type MailNeeds = Needs<'redis' | 'log', 'SMTP_URL' | 'MAIL_FROM' | 'SECRET_KEY_BASE'>;

export async function startMailWorker({ config, redis, log }: MailNeeds, times = TIMES): Promise<RunningJob> {
  // Without SMTP_URL the queue stays empty.
  if (config.SMTP_URL === undefined) return { close: async () => {} };
  // Loaded only when needed: a tenth of the worker's code.
  const { createTransport } = await import('nodemailer');
  const { timeoutMs } = times;
  const timeouts = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const transport = createTransport({ url: config.SMTP_URL, ...timeouts }, { from: config.MAIL_FROM });
  const slowDomains = new SlowDomains(times.slowDomainMs);
  const stopping = new AbortController();
  async function send({ data }: Job<MailJob, void>): Promise<void> {
    const { to, subject, id, unsubscribeUrl } = data;
    const content = tryReadContent(data, config.SECRET_KEY_BASE);
    if (content === undefined)
      throw new UnrecoverableError('the text cannot be decrypted: SECRET_KEY_BASE has changed');
    const messageId = id === undefined ? {} : { messageId: `<${id}@alerts.invalid>` };
    const mail = { to: { name: '', address: to }, subject, ...content, ...messageId };
    try {
      const sent = transport.sendMail({ ...mail, headers: unsubscribeHeaders(unsubscribeUrl) });
      await orAborted(sent, stopping.signal);
      slowDomains.answered(to);
    } catch (error) {
      if (error instanceof Error && codeOf(error) === 'ETIMEDOUT') slowDomains.timedOut(to);
      else slowDomains.answered(to);
      if (isRefusal(error)) throw Object.assign(new UnrecoverableError(String(error)), { cause: error });
      throw error;
    }
  }
  const worker = new Worker<MailJob, void>(
    MAIL_QUEUE,
    async (job, token = '') => {
      const waitMs = slowDomains.takeTurn(job.data.to);
      if (waitMs !== undefined) {
        await job.moveToDelayed(Date.now() + Math.ceil(waitMs), token);
        throw new DelayedError();
      }
      await send(job).catch(async (error: unknown) => {
        if (error !== stopping.signal.reason) throw error;
        // Another process sends it; if this attempt succeeds as well, both have one Message-ID.
        await job.moveToWait(token);
        throw new WaitingError();
      });
    },
    {
      ...{ connection: redis.duplicate(), concurrency: BOUNDS.mails, removeOnComplete: { count: 0 } },
      maxStalledCount: DURABLE_WORKER_OPTIONS.maxStalledCount,
    },
  );
  // Neither address nor text: what a server says about a mail may quote them.
  worker.on('failed', (job, err) => log.warn({ ...describeFailure(err), job: job?.id }, 'a mail could not be sent'));
  logErrors(worker, { log, message: 'the mail worker lost touch with redis' });
  return {
    async close() {
      const late = setTimeout(() => stopping.abort(), times.stopMs);
      await worker.close();
      clearTimeout(late);
      transport.close();
    },
  };
}

const unsubscribeHeaders = (url: string | undefined): Record<string, string> =>
  url === undefined ? {} : { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };

// nodemailer's codes for a rejected sender, recipient or message. A 5xx at login (EAUTH) is a wrong
// setting of the service, as is a rejected sender: the mail stays queued until it is corrected.
const ABOUT_THE_MAIL: readonly unknown[] = ['EENVELOPE', 'EMESSAGE'];
const LOGIN_REQUIRED = 530;

/** The sender is MAIL_FROM, and the server knows nothing else of the mail yet. */
const isAboutTheSender = (error: Error): boolean => 'command' in error && error.command === 'MAIL FROM';

/** The server rejected this mail permanently (5xx). */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error &&
  ABOUT_THE_MAIL.includes(codeOf(error)) &&
  !isAboutTheSender(error) &&
  'responseCode' in error &&
  typeof error.responseCode === 'number' &&
  error.responseCode >= 500 &&
  error.responseCode !== LOGIN_REQUIRED;

/** The message is about the server, such as a refused connection, certificate or password. */
const describeFailure = (error: Error) => ({
  code: codeOf(error),
  ...answerOf(error.cause instanceof Error ? error.cause : error),
  ...((isAboutTheServer(codeOf(error)) || isAboutTheSender(error)) && { reason: error.message }),
});

/** The reply of the server and the command that it answers. */
const answerOf = (error: Error) => ({
  ...('responseCode' in error && { response: error.responseCode }),
  ...('command' in error && { command: error.command }),
});

const isAboutTheServer = (code: unknown): boolean => typeof code === 'string' && /^E(?!ENVELOPE|MESSAGE)/.test(code);

const codeOf = (error: Error): unknown => ('code' in error ? error.code : error.name);
