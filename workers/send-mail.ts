// Mail jobs → the mail server. A mail is sent once the server has taken it; one that it refuses for good is kept.
import { UnrecoverableError, Worker } from 'bullmq';
import { createTransport } from 'nodemailer';
import { MAIL_QUEUE, type MailJob, tryReadText } from '../src/mail/queue.js';
import type { RunningJob, WorkerDeps } from './runtime.js';

const TIMEOUT_MS = 30_000;

export function startMailWorker({ config, redis, log }: WorkerDeps): RunningJob {
  // Without a mail server nothing is put into the queue.
  if (config.SMTP_URL === undefined) return { close: async () => {} };
  const transport = createTransport(
    { url: config.SMTP_URL, connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS },
    { from: config.MAIL_FROM },
  );
  const worker = new Worker<MailJob, void>(
    MAIL_QUEUE,
    async ({ data }) => {
      const { to, subject } = data;
      const text = tryReadText(data, config.SECRET_KEY_BASE);
      if (text === undefined) throw new UnrecoverableError('the text cannot be decrypted: SECRET_KEY_BASE has changed');
      try {
        await transport.sendMail({ to, subject, text });
      } catch (error) {
        if (isRefusal(error)) throw new UnrecoverableError(String(error));
        throw error;
      }
    },
    { connection: redis.duplicate(), removeOnComplete: { count: 0 } },
  );
  // Neither the address nor the text: what the server said is enough to act on.
  worker.on('failed', (job, err) => log.warn({ code: codeOf(err), job: job?.id }, 'a mail could not be sent'));
  worker.on('error', (err) => log.warn({ err }, 'the mail worker lost touch with redis'));
  return {
    async close() {
      await worker.close();
      transport.close();
    },
  };
}

// What nodemailer calls a refusal of the sender, the recipient or the text. A 5xx to signing in (EAUTH) is about the
// settings of the service: the mail waits until they are right.
const ABOUT_THE_MAIL: readonly unknown[] = ['EENVELOPE', 'EMESSAGE'];

/** A permanent answer (5xx) of the server to this mail. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error &&
  ABOUT_THE_MAIL.includes(codeOf(error)) &&
  'responseCode' in error &&
  typeof error.responseCode === 'number' &&
  error.responseCode >= 500;

const codeOf = (error: Error): unknown => ('code' in error ? error.code : error.name);
