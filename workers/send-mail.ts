// Consumer of the mail queue: sends mails over SMTP. A mail that the server rejects permanently
// becomes a dead letter.
import { UnrecoverableError, Worker } from 'bullmq';
import { MAIL_QUEUE, type MailJob, tryReadContent } from '../src/mail/queue.js';
import { logErrors } from '../src/platform/redis/log-errors.js';
import type { Needs, RunningJob } from './runtime.js';

const TIMEOUT_MS = 30_000;

type MailNeeds = Needs<'redis' | 'log', 'SMTP_URL' | 'MAIL_FROM' | 'SECRET_KEY_BASE'>;

export async function startMailWorker({ config, redis, log }: MailNeeds): Promise<RunningJob> {
  // Without SMTP_URL the queue stays empty.
  if (config.SMTP_URL === undefined) return { close: async () => {} };
  // Loaded only when needed: a tenth of the worker's code.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport(
    { url: config.SMTP_URL, connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS },
    { from: config.MAIL_FROM },
  );
  const worker = new Worker<MailJob, void>(
    MAIL_QUEUE,
    async ({ data }) => {
      const { to, subject, id, unsubscribeUrl } = data;
      const content = tryReadContent(data, config.SECRET_KEY_BASE);
      if (content === undefined)
        throw new UnrecoverableError('the text cannot be decrypted: SECRET_KEY_BASE has changed');
      try {
        const messageId = id === undefined ? {} : { messageId: `<${id}@alerts.invalid>` };
        await transport.sendMail({
          to: { name: '', address: to },
          subject,
          ...content,
          ...messageId,
          headers: unsubscribeHeaders(unsubscribeUrl),
        });
      } catch (error) {
        if (isRefusal(error)) throw Object.assign(new UnrecoverableError(String(error)), { cause: error });
        throw error;
      }
    },
    { connection: redis.duplicate(), removeOnComplete: { count: 0 } },
  );
  // Neither address nor text: what a server says about a mail may quote them.
  worker.on('failed', (job, err) => log.warn({ ...describeFailure(err), job: job?.id }, 'a mail could not be sent'));
  logErrors(worker, { log, message: 'the mail worker lost touch with redis' });
  return {
    async close() {
      await worker.close();
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
