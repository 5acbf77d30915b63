// The queue of demo projects on a real Redis: what a reader sees while jobs fail, and what becomes
// of a project that a killed worker has left.
import { randomUUID } from 'node:crypto';
import { UnrecoverableError, Worker } from 'bullmq';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createOrganization, createProject } from '../../src/accounts/store.js';
import { createDemoQueue, DEMO_QUEUE, type DemoJob, enqueueDemo, findDemoJob } from '../../src/demo/queue.js';
import type { OrganizationId } from '../../src/platform/ids.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { readNow } from '../../src/platform/postgres/read-now.js';
import { createRedis } from '../../src/platform/redis/client.js';
import { startDemoWorker } from '../../workers/load-demo.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases } from '../support/stack.js';

const JOBS = 200;
const REASON = 'the shop is closed';

test('a failed job is never read without its reason', async () => {
  const databases = await createTestDatabases();
  const redis = createRedis(databases.config);
  const connection = redis.duplicate();
  const queue = createDemoQueue(redis);
  const refuse = async (): Promise<void> => {
    throw new UnrecoverableError(REASON);
  };
  const worker = new Worker<DemoJob, void>(DEMO_QUEUE, refuse, { connection });
  try {
    const reasons = new Set<string | null>();
    for (let count = 0; count < JOBS; count += 1) {
      const organizationId = randomUUID() as OrganizationId;
      await enqueueDemo(queue, { version: 1, organizationId, personId: '', url: '' });
      let state = await findDemoJob(queue, organizationId);
      while (state?.status !== 'failed') state = await findDemoJob(queue, organizationId);
      reasons.add(state.error);
    }
    expect([...reasons]).toEqual([REASON]);
  } finally {
    await worker.close();
    await queue.close();
    redis.disconnect();
    await databases.close();
  }
});

test('what a killed worker has left is removed, although the clock of web is ahead', async () => {
  const databases = await createTestDatabases();
  const { config } = databases;
  const [postgres, redis] = [createPostgres(config), createRedis(config)];
  const queue = createDemoQueue(redis);
  const { id: organizationId } = await createOrganization(postgres, { name: 'Shell' });
  const job = { version: 1, organizationId, personId: randomUUID(), url: 'http://127.0.0.1:1' } as const;
  await enqueueDemo(queue, { ...job, askedAtMs: await readNow(postgres) });
  // As after a first run, whose worker was killed.
  await redis.hset(`bull:${DEMO_QUEUE}:${organizationId}`, { timestamp: Date.now() + 3_600_000, ats: 1 });
  const { id } = await createProject(postgres, { organizationId, name: 'Demo', secretKeyBase: config.SECRET_KEY_BASE });
  await postgres('projects').where({ id }).update({ is_demo: true });
  const worker = startDemoWorker({ config, postgres, redis, log: pino({ level: 'silent' }) });
  try {
    await eventually(async () => expect((await findDemoJob(queue, organizationId))?.status).toBe('failed'));
    expect(await postgres('projects').where({ id }).first('deleted_at')).toEqual({ deleted_at: expect.any(Date) });
  } finally {
    await worker.close();
    await queue.close();
    redis.disconnect();
    await postgres.destroy();
    await databases.close();
  }
});
