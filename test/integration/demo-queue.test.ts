// The queue of demo projects on a real Redis: what a reader sees while jobs fail.
import { randomUUID } from 'node:crypto';
import { UnrecoverableError, Worker } from 'bullmq';
import { expect, test } from 'vitest';
import { createDemoQueue, DEMO_QUEUE, type DemoJob, enqueueDemo, findDemoJob } from '../../src/demo/queue.js';
import type { OrganizationId } from '../../src/platform/ids.js';
import { createRedis } from '../../src/platform/redis/client.js';
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
