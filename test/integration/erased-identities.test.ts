// Erased people in PostgreSQL whose earlier calls are imported or replayed later.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { applyBatches } from '../../src/identity/apply.js';
import { createIdentifyQueue, type Identification, type IdentifyJob, renumberBatch } from '../../src/identity/queue.js';
import { releaseSequence, takeSequence } from '../../src/identity/sequence.js';
import { newUuidV7, toOrganizationId, toProjectId } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createIdHash } from '../../src/privacy/id-hash.js';
import { forgetIdentity } from '../../src/privacy/identities.js';
import { createErasure, type Erasure } from '../../src/privacy/store.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let postgres: Postgres;
let redis: Redis;
let project: string;
const hashId = createIdHash('a secret');

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  redis = createRedis(databases.config);
});

afterAll(async () => {
  await postgres?.destroy();
  redis?.disconnect();
  await databases?.close();
});

beforeEach(() => {
  project = randomUUID();
});

/** A batch of calls with sequence numbers, not yet applied. */
async function accept(...calls: Omit<Identification, 'project'>[]): Promise<IdentifyJob> {
  const batch = randomUUID();
  const first = await takeSequence(redis, { member: batch, count: calls.length });
  return { version: 1, batch, operations: calls.map((call, index) => ({ project, ...call, seq: first + index })) };
}

const apply = (...batches: IdentifyJob[]) => applyBatches(batches, { postgres, redis, hashId });
const set = (user: string, a: number): Omit<Identification, 'project'> => ({ user, ops: { set: { a } } });
const on = (device: string, user: string): Omit<Identification, 'project'> => ({ user, device, ops: {} });
const imported = (call: Omit<Identification, 'project'>, timeMs: number) => ({ ...call, at: timeMs * 1000 });
const T = Date.UTC(2020, 0, 1);

const profileOf = (user: string) => postgres('profiles').where({ project_id: project, user_id: user }).first();
const mappingsOf = async (device: string): Promise<string[]> =>
  (await postgres('device_mappings').where({ project_id: project, device_id: device }).orderBy('seq')).map(
    (row) => row.user_id,
  );

async function requestErasure(userId: string, throughSeq: number): Promise<Erasure> {
  const erasure = {
    ...{ id: newUuidV7(), projectId: toProjectId(project), organizationId: toOrganizationId(randomUUID()), userId },
    ...{ userHash: hashId({ projectId: project, kind: 'user', id: userId }), deviceIds: undefined },
    ...{ erasedThroughMs: Math.floor(throughSeq / 1000), erasedThroughSeq: throughSeq },
    requestedBy: { kind: 'secret', id: 'sk' },
  };
  await createErasure(postgres, { ...erasure, purgeBy: new Date() });
  return erasure;
}

test('an erased person does not return by an import of older records', async () => {
  await requestErasure('gone', T * 1000);
  const calls = [imported(on('d', 'gone'), T - 1), imported(set('gone', 1), T), imported(on('d', 'other'), T - 2)];
  await apply(await accept(...calls));
  expect([await profileOf('gone'), await mappingsOf('d')]).toEqual([undefined, ['other']]);
  const tombstone = {
    project_id: project,
    kind: 'device',
    id_hash: hashId({ projectId: project, kind: 'device', id: 'e' }),
  };
  await postgres('erasure_tombstones').insert({ ...tombstone, erased_through_ms: T });
  await apply(await accept(imported(on('e', 'other'), T), imported(set('gone', 2), T + 1)));
  expect([await profileOf('gone'), await mappingsOf('e')]).toMatchObject([{ properties: { a: 2 } }, []]);
});

test('an erased person does not return by a dead letter that is replayed before the erasure is carried out', async () => {
  const queue = createIdentifyQueue(redis);
  try {
    const accepted = await accept(set('gone', 1), set('stays', 1));
    await requestErasure('gone', (accepted.operations[0]?.seq ?? 0) + 1000);
    await releaseSequence(redis, accepted.batch);
    const job = await queue.add('batch', accepted, { jobId: accepted.batch });
    // Twice: a call that fails again is replayed again.
    await renumberBatch(redis, job);
    await renumberBatch(redis, job);
    await apply(job.data);
    expect(await profileOf('gone')).toBeUndefined();
    expect(await profileOf('stays')).toMatchObject({ properties: { a: 1 } });
    await apply(await accept(set('gone', 2)));
    expect(await profileOf('gone')).toMatchObject({ properties: { a: 2 } });
    await job.remove();
  } finally {
    await queue.close();
  }
});

test('a purge keeps the profile of a person who was imported again after their erasure', async () => {
  const throughSeq = T * 1000;
  await apply(await accept(imported(set('u', 1), T - 1)));
  const erasure = await requestErasure('u', throughSeq);
  const version = await forgetIdentity(postgres, erasure);
  expect(await profileOf('u')).toBeUndefined();
  await apply(await accept(imported(set('u', 2), T + 1)));
  expect(await forgetIdentity(postgres, erasure)).toBe(version);
  expect(await profileOf('u')).toMatchObject({ properties: { a: 2 } });
  await postgres('profiles').where({ project_id: project }).delete();
  await forgetIdentity(postgres, erasure);
  expect(await profileOf('u')).toBeUndefined();
});
