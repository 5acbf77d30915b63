// The mail queue: what a job holds and how it is put in. workers/send-mail.ts takes it out.
import { Queue } from 'bullmq';
import type { Redis } from '../platform/redis/client.js';

export const MAIL_QUEUE = 'mail';

export interface MailJob {
  readonly version: 1;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

// Over about two days: longer than a mail server is away, shorter than an invitation is valid.
const ATTEMPTS = 16;
const BACKOFF = { type: 'exponential', delay: 5000 } as const;
const FAILED_KEPT_SECONDS = 7 * 24 * 60 * 60;

export type MailQueue = Queue<MailJob, void, 'mail'>;

export function createMailQueue(redis: Redis): MailQueue {
  const queue = new Queue<MailJob, void, 'mail'>(MAIL_QUEUE, {
    connection: redis,
    streams: { events: { maxLen: 100 } },
    skipMetasUpdate: true,
    defaultJobOptions: {
      attempts: ATTEMPTS,
      backoff: BACKOFF,
      removeOnComplete: true,
      removeOnFail: { age: FAILED_KEPT_SECONDS },
    },
  });
  // Whoever owns the connection logs its errors; without a listener, BullMQ prints each once more.
  queue.on('error', () => {});
  return queue;
}

/** Resolves once Redis holds the mail. */
export async function enqueueMail(queue: MailQueue, mail: Omit<MailJob, 'version'>): Promise<void> {
  await queue.add('mail', { version: 1, ...mail });
}
