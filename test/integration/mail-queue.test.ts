// The mail queue of a real Redis, without a worker: erasures, while Redis fails or a mail is sent.
import { randomUUID } from 'node:crypto';
import { Job } from 'bullmq';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  createMailQueue,
  enqueueOutboxMail,
  forgetRowsOfMails,
  type MailJob,
  type MailQueue,
  mailJobId,
  tryReadContent,
} from '../../src/mail/queue.js';
import { toProjectId } from '../../src/platform/ids.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const SECRET = 's'.repeat(64);

let databases: TestDatabases;
let redis: Redis;
let queue: MailQueue;

beforeAll(async () => {
  databases = await createTestDatabases();
  redis = createRedis(databases.config);
  queue = createMailQueue(redis);
});

afterEach(() => void vi.restoreAllMocks());

afterAll(async () => {
  await queue?.close();
  redis?.disconnect();
  await databases?.close();
});

async function addMail() {
  const mail = { id: randomUUID(), projectId: toProjectId(randomUUID()) };
  const content = { to: 'a@example.com', subject: 'S', text: 'with rows', withoutRows: { text: 'without rows' } };
  await enqueueOutboxMail(queue, { ...mail, ...content }, SECRET);
  const textOf = async () => {
    const job = await queue.getJob(mailJobId(mail));
    return job && tryReadContent(job.data, SECRET)?.text;
  };
  return { ...mail, textOf };
}

test('an erasure removes the rows of the mails of its project alone', async () => {
  const [own, other] = [await addMail(), await addMail()];
  await forgetRowsOfMails(queue, own.projectId);
  expect([await own.textOf(), await other.textOf()]).toEqual(['without rows', 'with rows']);
});

test('an erasure fails while a mail keeps its rows, and not when the mail was sent meanwhile', async () => {
  const mail = await addMail();
  vi.spyOn(Job.prototype, 'updateData').mockRejectedValueOnce(new Error('no answer'));
  await expect(forgetRowsOfMails(queue, mail.projectId)).rejects.toThrow('no answer');
  expect(await mail.textOf()).toBe('with rows');
  vi.spyOn(Job.prototype, 'updateData').mockImplementationOnce(async function (this: Job<MailJob>) {
    await this.remove();
    throw new Error('missing key for job');
  });
  await forgetRowsOfMails(queue, mail.projectId);
  expect(await mail.textOf()).toBeUndefined();
});
