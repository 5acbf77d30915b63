// Mails to recipients about whom the mail server never answers do not hold up those to others, and
// are not lost when the process ends.
import { Worker } from 'bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createMailQueue, enqueueMail, type MailQueue } from '../../src/mail/queue.js';
import { BOUNDS } from '../../src/platform/flow/bounds.js';
import { createLogger } from '../../src/platform/log.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import type { RunningJob } from '../../workers/runtime.js';
import { startMailWorker } from '../../workers/send-mail.js';
import { eventually } from '../support/eventually.js';
import { HANGING_DOMAIN, startMailServer, type TestMailServer } from '../support/mail-server.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let smtp: TestMailServer;
let redis: Redis;
let queue: MailQueue;

const log = createLogger({ process: 'test', level: 'silent' });

beforeAll(async () => {
  smtp = await startMailServer();
  databases = await createTestDatabases({ SMTP_URL: smtp.url });
  redis = createRedis(databases.config);
  queue = createMailQueue(redis);
});

beforeEach(() => queue.obliterate({ force: true }));

afterAll(async () => {
  await queue?.close();
  redis?.disconnect();
  await databases?.close();
  smtp?.close();
});

let worker: RunningJob | undefined;

async function start(times: Parameters<typeof startMailWorker>[1]): Promise<RunningJob> {
  worker = await startMailWorker({ config: databases.config, redis, log }, times);
  return worker;
}

afterEach(() => worker?.close());

const mail = (to: string) =>
  enqueueMail(queue, { to, subject: 'Sign in', text: 'text' }, databases.config.SECRET_KEY_BASE);

test('one mail at a time tries a domain that has timed out, while others are sent', async () => {
  for (let n = 0; n < 3 * BOUNDS.mails; n++) await mail(`person-${n}@${HANGING_DOMAIN}`);
  await mail('first@example.com');
  await start({ timeoutMs: 2_000, slowDomainMs: 3_600_000, stopMs: 0 });
  await smtp.mailTo('first@example.com');
  expect(smtp.hanging).toHaveLength(BOUNDS.mails);
  await mail('second@example.com');
  await smtp.mailTo('second@example.com');
  expect(smtp.hanging).toHaveLength(BOUNDS.mails);
  expect(await queue.getDelayedCount()).toBe(3 * BOUNDS.mails);
});

test('a process that stops returns the mails that hang to the queue', async () => {
  const { close } = await start({ timeoutMs: 60_000, slowDomainMs: 60_000, stopMs: 100 });
  const before = smtp.hanging.length;
  await mail(`stopped@${HANGING_DOMAIN}`);
  await eventually(() => expect(smtp.hanging.length).toBeGreaterThan(before));
  await close();
  expect(await queue.getWaiting()).toMatchObject([{ attemptsMade: 0 }]);
});

test('a mail is sent after any number of processes were killed while they sent it', async () => {
  await mail('killed@example.com');
  const killed = new Worker(queue.name, null, { connection: redis.duplicate(), lockDuration: 1 });
  const job = await killed.getNextJob('gone');
  await killed.close();
  // What two killed processes leave: the next one finds that the lock is over.
  const key = queue.toKey(String(job?.id));
  await redis.hset(key, 'stc', 2);
  await redis.sadd(queue.toKey('stalled'), String(job?.id));
  await start({ timeoutMs: 60_000, slowDomainMs: 60_000, stopMs: 100 });
  await smtp.mailTo('killed@example.com');
});
