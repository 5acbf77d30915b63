// The mail queue: job payload and enqueue; workers/send-mail.ts is the consumer. Mails contain
// secret links, so their text is encrypted in the queue. The job of an alert's or report's mail
// names its project in its id, so that erasures and project deletions find it.
import type { Queue } from 'bullmq';
import { encryptSecret, tryDecryptSecret } from '../access/keys.js';
import { newUuidV7, type ProjectId } from '../platform/ids.js';
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

type Content = Pick<Mail, 'text' | 'html'>;

/** A mail of an alert or a report. */
export interface OutboxMail extends Mail {
  /** The id of the mail, the same for each attempt. */
  readonly id: string;
  readonly projectId: ProjectId;
  /** The content without rows of answers, which is sent after an erasure. */
  readonly withoutRows: Content;
}

interface EncryptedContent {
  /** Base64. */
  readonly encryptedText: string;
  /** Base64; since 2026-11. */
  readonly encryptedHtml?: string;
}

export interface MailJob extends EncryptedContent {
  readonly version: 1;
  readonly to: string;
  readonly subject: string;
  /** Left part of the Message-ID. Missing in invitations queued before December 2026. */
  readonly id?: string;
  readonly unsubscribeUrl?: string;
  /** Missing when the content has no rows of answers, or has lost them. */
  readonly withoutRows?: EncryptedContent;
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

function encryptContent({ text, html }: Content, secretKeyBase: string): EncryptedContent {
  const encrypt = (content: string): string => encryptSecret(content, secretKeyBase).toString('base64');
  return { encryptedText: encrypt(text), ...(html !== undefined && { encryptedHtml: encrypt(html) }) };
}

function toJob(mail: Mail & Pick<MailJob, 'id'>, secretKeyBase: string): MailJob {
  const { text, html, ...rest } = mail;
  return { version: 1, ...rest, ...encryptContent(mail, secretKeyBase) };
}

/** Resolves when Redis has stored the mail. Each attempt to send it has the same Message-ID. */
export async function enqueueMail(queue: MailQueue, mail: Mail, secretKeyBase: string): Promise<void> {
  await queue.add('mail', toJob({ ...mail, id: newUuidV7() }, secretKeyBase));
}

export const mailJobId = ({ projectId, id }: Pick<OutboxMail, 'projectId' | 'id'>): string => `${projectId}-${id}`;

/**
 * Resolves when Redis has stored the mail. While a mail with the same `id` waits, nothing is added;
 * a mail that is sent twice has the same Message-ID, so that mailboxes can show it once.
 */
export async function enqueueOutboxMail(
  queue: MailQueue,
  { projectId, withoutRows, ...mail }: OutboxMail,
  secretKeyBase: string,
): Promise<void> {
  const job = { ...toJob(mail, secretKeyBase), withoutRows: encryptContent(withoutRows, secretKeyBase) };
  await queue.add('mail', job, { jobId: mailJobId({ projectId, id: mail.id }) });
}

const STATES = ['waiting', 'prioritized', 'delayed', 'active', 'failed'] as const;

/** Jobs of all states at one moment: one that changes its state meanwhile is not missed. */
async function listJobIds(queue: MailQueue, projectId: ProjectId): Promise<string[]> {
  const ids = await queue.getRanges([...STATES], 0, -1);
  return ids.filter((id) => id.startsWith(mailJobId({ projectId, id: '' })));
}

/**
 * Removes the rows of answers from the project's mails, dead letters included, because they may
 * contain an erased person. An attempt that has begun is not interrupted; the next one sends the
 * mail without rows.
 */
export async function forgetRowsOfMails(queue: MailQueue, projectId: ProjectId): Promise<void> {
  for (const id of await listJobIds(queue, projectId)) {
    const job = await queue.getJob(id);
    if (job?.data.withoutRows === undefined) continue;
    const { withoutRows, encryptedText, encryptedHtml, ...data } = job.data;
    await job.updateData({ ...data, ...withoutRows }).catch(async (error: unknown) => {
      // The mail may have been sent meanwhile.
      if ((await queue.getJob(id)) !== undefined) throw error;
    });
  }
}

/**
 * Removes the mails of a deleted project. Resolves with the number of those found: one that is
 * being sent stays until its attempt ends.
 */
export async function removeMailsOf(queue: MailQueue, projectId: ProjectId): Promise<number> {
  const ids = await listJobIds(queue, projectId);
  for (const id of ids) await queue.remove(id);
  return ids.length;
}

/** Undefined when SECRET_KEY_BASE has changed since the mail was queued. */
export function tryReadContent(job: MailJob, secretKeyBase: string): Content | undefined {
  const decrypt = (content: string) => tryDecryptSecret(Buffer.from(content, 'base64'), secretKeyBase);
  const text = decrypt(job.encryptedText);
  const html = job.encryptedHtml === undefined ? undefined : decrypt(job.encryptedHtml);
  return text === undefined ? undefined : { text, ...(html !== undefined && { html }) };
}
