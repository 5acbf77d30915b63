// Erased people in PostgreSQL whose earlier calls are imported or replayed later.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createIdentifyQueue, renumberBatch } from '../../src/identity/queue.js';
import { releaseSequence, takeSequence } from '../../src/identity/sequence.js';
import { newUuidV7, toOrganizationId, toProjectId } from '../../src/platform/ids.js';
import { findIdentities, forgetIdentity } from '../../src/privacy/identities.js';
import { createErasure, type Erasure } from '../../src/privacy/store.js';
import { IdentityStore, imported, on, set } from '../support/identity-store.js';

let store: IdentityStore;

beforeAll(async () => {
  store = await IdentityStore.open();
});

afterAll(() => store?.close());

beforeEach(() => {
  store.project = randomUUID();
});

const T = Date.UTC(2020, 0, 1);

async function requestErasure(userId: string, throughSeq: number): Promise<Erasure> {
  const erasure = {
    ...{
      id: newUuidV7(),
      projectId: toProjectId(store.project),
      organizationId: toOrganizationId(randomUUID()),
      userId,
    },
    ...{ userHash: store.hashId({ projectId: store.project, kind: 'user', id: userId }), deviceIds: undefined },
    ...{ erasedThroughMs: Math.floor(throughSeq / 1000), erasedThroughSeq: throughSeq },
    requestedBy: { kind: 'secret', id: 'sk' },
  };
  await createErasure(store.postgres, { ...erasure, purgeBy: new Date() });
  return erasure;
}

test('an erased person does not return by an import of older records', async () => {
  await requestErasure('gone', T * 1000);
  const calls = [imported(on('d', 'gone'), T - 1), imported(set('gone', 1), T), imported(on('d', 'other'), T - 2)];
  await store.apply(await store.accept(...calls));
  expect([await store.profileOf('gone'), await store.mappingsOf('d')]).toEqual([undefined, ['other']]);
  const tombstone = {
    project_id: store.project,
    kind: 'device',
    id_hash: store.hashId({ projectId: store.project, kind: 'device', id: 'e' }),
  };
  await store.postgres('erasure_tombstones').insert({ ...tombstone, erased_through_ms: T });
  await store.apply(await store.accept(imported(on('e', 'other'), T), imported(set('gone', 2), T + 1)));
  expect([await store.profileOf('gone'), await store.mappingsOf('e')]).toMatchObject([{ properties: { a: 2 } }, []]);
});

test('an erased person does not return by a dead letter that is replayed before the erasure is carried out', async () => {
  const queue = createIdentifyQueue(store.redis);
  try {
    const accepted = await store.accept(set('gone', 1), set('stays', 1));
    await requestErasure('gone', (accepted.operations[0]?.seq ?? 0) + 1000);
    await releaseSequence(store.redis, accepted.batch);
    const job = await queue.add('batch', accepted, { jobId: accepted.batch });
    // Twice: a call that fails again is replayed again.
    await renumberBatch(store.redis, job);
    await renumberBatch(store.redis, job);
    await store.apply(job.data);
    expect(await store.profileOf('gone')).toBeUndefined();
    expect(await store.profileOf('stays')).toMatchObject({ properties: { a: 1 } });
    await store.apply(await store.accept(set('gone', 2)));
    expect(await store.profileOf('gone')).toMatchObject({ properties: { a: 2 } });
    await job.remove();
  } finally {
    await queue.close();
  }
});

test('a purge keeps the profile of a person who was imported again after their erasure', async () => {
  const throughSeq = T * 1000;
  await store.apply(await store.accept(imported(set('u', 1), T - 1)));
  const erasure = await requestErasure('u', throughSeq);
  const version = await forgetIdentity(store.postgres, erasure);
  expect(await store.profileOf('u')).toBeUndefined();
  await store.apply(await store.accept(imported(set('u', 2), T + 1)));
  expect(await forgetIdentity(store.postgres, erasure)).toBe(version);
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 2 } });
  await store.postgres('profiles').where({ project_id: store.project }).delete();
  await forgetIdentity(store.postgres, erasure);
  expect(await store.profileOf('u')).toBeUndefined();
});

test('an erasure finds a device that is mapped to another user before it is carried out, if Redis has lost its number', async () => {
  await store.apply(await store.accept(on('d', 'gone')));
  const erasure = await requestErasure('gone', await takeSequence(store.redis, { member: 'lost', count: 1 }));
  await releaseSequence(store.redis, 'lost');
  await store.apply(await store.accept(on('d', 'other')));
  expect((await findIdentities(store.postgres, erasure)).deviceIds).toEqual(['d', 'gone']);
  await forgetIdentity(store.postgres, erasure);
  expect(await store.mappingsOf('d')).toEqual(['other']);
});
