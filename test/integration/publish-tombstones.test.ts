// Processes that publish erasure tombstones at once, one of which is suspended in the middle; and
// the requests of erasures in PostgreSQL.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newUuidV7, toOrganizationId, toProjectId } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { publishTombstones } from '../../src/privacy/publish-tombstones.js';
import {
  createErasure,
  deleteTombstones,
  findErasure,
  isErasureKnown,
  listRequested,
  listTombstones,
  markDeleted,
} from '../../src/privacy/store.js';
import { readTombstoneVersion, replaceTombstones } from '../../src/privacy/tombstones.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let postgres: Postgres;
let redis: Redis;

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

const project = randomUUID();
const add = (idHash: string) =>
  postgres('erasure_tombstones').insert({
    ...{ project_id: project, kind: 'user', id_hash: idHash },
    erased_through_ms: 1_790_000_000_123,
  });
const published = () => redis.hgetall('privacy:forgotten');
const fieldOf = (idHash: string) => `${project}:user:${idHash}`;

test('a process that was suspended changes nothing of what another has published since', async () => {
  await add('first');
  const before = await readTombstoneVersion(redis);
  const list = await listTombstones(postgres);

  await add('second');
  await publishTombstones({ postgres, redis });
  const both = { [fieldOf('first')]: '1790000000123', [fieldOf('second')]: '1790000000123' };
  expect(await published()).toEqual(both);

  expect(await replaceTombstones(redis, before, list)).toBe(false);
  expect(await published()).toEqual(both);
});

test('many processes at once publish everything', async () => {
  await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      await add(`one-${index}`);
      await publishTombstones({ postgres, redis });
      expect(await published()).toHaveProperty(fieldOf(`one-${index}`));
    }),
  );
});

test('the list and its version are deleted with the last tombstone, and restored when Redis has lost them', async () => {
  const version = await readTombstoneVersion(redis);
  await redis.del('privacy:forgotten', 'privacy:forgotten:version');
  await publishTombstones({ postgres, redis });
  expect(await readTombstoneVersion(redis)).toBe(version);

  await postgres('erasure_tombstones').delete();
  await publishTombstones({ postgres, redis });
  expect([await published(), await readTombstoneVersion(redis)]).toEqual([{}, null]);
});

test('old tombstones are deleted, unless an erasure that has not ended may need them', async () => {
  const keep = async (idHash: string, erased_through_ms: number) =>
    postgres('erasure_tombstones').insert({ project_id: project, kind: 'user', id_hash: idHash, erased_through_ms });
  const kept = async () => (await listTombstones(postgres)).map(({ idHash }) => idHash).sort();
  await postgres('erasure_tombstones').delete();
  for (const [index, idHash] of ['earlier', 'old', 'new'].entries()) await keep(idHash, 1000 * (index + 1));
  const erasure = { id: newUuidV7(), projectId: toProjectId(project), organizationId: toOrganizationId(randomUUID()) };
  await createErasure(postgres, {
    ...{ ...erasure, userId: 'ada', userHash: 'hash', erasedThroughMs: 1500, erasedThroughSeq: 1 },
    ...{ requestedBy: { kind: 'secret', id: 'sk_' }, purgeBy: new Date() },
  });
  await deleteTombstones(postgres, 3000);
  expect(await kept()).toEqual(['new', 'old']);
  await postgres('erasure_requests').where({ id: erasure.id }).update({ status: 'purged' });
  await deleteTombstones(postgres, 3000);
  expect(await kept()).toEqual(['new']);
});

test('an erasure is known in its own project alone, takes its turn among projects, and ends once', async () => {
  await postgres('erasure_requests').delete();
  const organizationId = toOrganizationId(randomUUID());
  const [own, other] = [toProjectId(randomUUID()), toProjectId(randomUUID())];
  const request = async (projectId: typeof own, userHash: string, seq: number) => {
    const erasure = { id: newUuidV7(), projectId, organizationId, userId: userHash, userHash, erasedThroughSeq: seq };
    const requestedBy = { kind: 'secret', id: 'sk_' };
    await createErasure(postgres, { ...erasure, erasedThroughMs: 1500, requestedBy, purgeBy: new Date() });
    return erasure.id;
  };
  const ids = [await request(own, 'ada', 1), await request(own, 'bob', 2), await request(other, 'cid', 3)];
  const [id = ''] = ids;
  expect(await findErasure(postgres, { projectId: own, id })).toMatchObject({ status: 'requested', userHash: 'ada' });
  expect(await findErasure(postgres, { projectId: other, id })).toBeUndefined();
  const known = [own, other].map((projectId) => isErasureKnown(postgres, { projectId, userHash: 'ada' }));
  expect(await Promise.all(known)).toEqual([true, false]);

  const requested = await listRequested(postgres, { except: [], perProject: 1 });
  expect(requested.map((erasure) => erasure.id)).toEqual([ids[0], ids[2]]);
  expect(await listRequested(postgres, { except: [own], perProject: 9 })).toMatchObject([{ id: ids[2] }]);
  for (let attempt = 0; attempt < 2; attempt += 1)
    for (const erasure of requested) await markDeleted(postgres, erasure);
  const ended = postgres('audit_entries').where({ project_id: own, action: 'erasure.deleted' });
  expect(await ended.pluck('subject_hash')).toEqual(['ada']);
  expect(await findErasure(postgres, { projectId: own, id })).toMatchObject({ status: 'deleted' });
});
