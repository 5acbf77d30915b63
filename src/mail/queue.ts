// The mail queue: job payload and enqueue; workers/send-mail.ts is the consumer. Mails contain
// secret links, so their text is encrypted in the queue.
import type { Queue } from 'bullmq';
import { encryptSecret, tryDecryptSecret } from '../access/keys.js';
import type { Redis } from '../platform/redis/client.js';
import { openQueue } from '../platform/redis/open-queue.js';

export const MAIL_QUEUE = 'mail';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same as `text` for mail programs that show HTML. */
  readonly html?: string;
  /** For the button of mail programs (RFC 8058): a POST to it unsubscribes. */
  readonly unsubscribeUrl?: string;
}

export interface MailJob {
  readonly version: 1;
  readonly to: string;
  readonly subject: string;
  /** Base64. */
  readonly encryptedText: string;
  /** Base64; since 2026-11. */
  readonly encryptedHtml?: string;
  /** Left part of the Message-ID. */
  readonly id?: string;
  readonly unsubscribeUrl?: string;
}

// Retries for about two days: longer than a usual outage of a mail server, shorter than an
// invitation is valid.
const ATTEMPTS = 16;
const BACKOFF = { type: 'exponential', delay: 5000 } as const;
const FAILED_KEPT_SECONDS = 7 * 24 * 60 * 60;

export type MailQueue = Queue<MailJob, void, 'mail'>;

export const createMailQueue = (redis: Redis): MailQueue =>
  openQueue(MAIL_QUEUE, redis, {
    attempts: ATTEMPTS,
    backoff: BACKOFF,
    removeOnComplete: true,
    removeOnFail: { age: FAILED_KEPT_SECONDS },
  });

/**
 * Resolves when Redis has stored the mail. While a mail with the same `id` waits, nothing is added;
 * a mail that is sent twice has the same Message-ID, so that mailboxes can show it once.
 */
export async function enqueueMail(
  queue: MailQueue,
  { text, html, ...mail }: Mail,
  secretKeyBase: string,
  id?: string,
): Promise<void> {
  const encrypt = (content: string): string => encryptSecret(content, secretKeyBase).toString('base64');
  const job: MailJob = {
    ...{ version: 1, ...mail, encryptedText: encrypt(text) },
    ...(html !== undefined && { encryptedHtml: encrypt(html) }),
    ...(id !== undefined && { id }),
  };
  await queue.add('mail', job, id === undefined ? {} : { jobId: id });
}

/** Undefined when SECRET_KEY_BASE has changed since the mail was queued. */
export function tryReadContent(job: MailJob, secretKeyBase: string): Pick<Mail, 'text' | 'html'> | undefined {
  const decrypt = (content: string) => tryDecryptSecret(Buffer.from(content, 'base64'), secretKeyBase);
  const text = decrypt(job.encryptedText);
  const html = job.encryptedHtml === undefined ? undefined : decrypt(job.encryptedHtml);
  return text === undefined ? undefined : { text, ...(html !== undefined && { html }) };
}
