// Data of a deleted project: it is deleted, queued events are dropped, and other projects are
// unchanged.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createIdentifyQueue, enqueueIdentify } from '../../src/identity/queue.js';
import { releaseSequence } from '../../src/identity/sequence.js';
import { readRejected } from '../../src/ingest/rejected/store.js';
import { listSubjects } from '../../src/privacy/audit-store.js';
import { digestOfOthers, type ErasureStack, startErasureStack, type Tenant } from '../support/erasure.js';
import { eventually } from '../support/eventually.js';
import { track } from '../support/track.js';

const HALF_AN_HOUR_MS = 30 * 60_000;

let stack: ErasureStack;

beforeAll(async () => {
  stack = await startErasureStack();
}, 240_000);

afterAll(() => stack?.close());

/** Number of rows of the project by store and table. */
async function rowsOf({ project }: Tenant): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const table of ['events', 'device_map', 'profiles']) {
    const query = `SELECT toUInt32(count()) AS rows FROM ${table} WHERE project_id = {id:UUID}`;
    const result = await stack.store.client.query({ query, query_params: { id: project.id }, format: 'JSONEachRow' });
    rows[`clickhouse ${table}`] = (await result.json<{ rows: number }>())[0]?.rows ?? -1;
  }
  for (const table of ['device_mappings', 'profiles', 'identity_outbox']) {
    const [row] = await stack.postgres(table).where({ project_id: project.id }).count();
    rows[`postgres ${table}`] = Number(row?.count);
  }
  const { counts, samples } = await readRejected(stack.redis, project.id, Date.now());
  return { ...rows, 'redis rejected': counts.length + samples.length };
}

const NOTHING = {
  'clickhouse events': 0,
  'clickhouse device_map': 0,
  'clickhouse profiles': 0,
  'postgres device_mappings': 0,
  'postgres profiles': 0,
  'postgres identity_outbox': 0,
  'redis rejected': 0,
};
const ALL = {
  ...NOTHING,
  'clickhouse events': 2,
  'clickhouse device_map': 1,
  'clickhouse profiles': 1,
  'postgres device_mappings': 1,
  'postgres profiles': 1,
  'redis rejected': 2,
};

const project = (tenant: Tenant) => stack.postgres('projects').where({ id: tenant.project.id });
const untilDataDeleted = (tenant: Tenant) =>
  eventually(async () => {
    expect(await project(tenant).first('data_deleted_at')).toEqual({ data_deleted_at: expect.any(Date) });
  }, 240_000);

test('deleting a project deletes its rows and queued events, and no others, and ends after its keys have expired', async () => {
  const [gone, neighbour] = [await stack.createTenant(), await stack.createTenant()];
  for (const tenant of [gone, neighbour]) {
    await tenant.send({ event_type: 'a', user_id: 'alice' }, { event_type: 'b', device_id: 'd-1' });
    await tenant.identify('alice', 'd-1', { plan: 'pro' });
    await track(stack.processes.url, tenant.project.publicKey, { events: [{ user_id: 'alice' }] });
    await eventually(async () => expect(await rowsOf(tenant)).toEqual(ALL), 60_000);
  }
  const before = await digestOfOthers(stack.store, neighbour.project.id, "event_type = 'late'");

  await stack.ingestQueue.pause();
  for (const tenant of [gone, neighbour]) await tenant.send({ event_type: 'late', user_id: 'alice' });
  await project(gone).update({ deleted_at: new Date() });
  await eventually(async () => expect(await rowsOf(gone)).toEqual(NOTHING), 90_000);
  await stack.ingestQueue.resume();
  await neighbour.holds(3);
  expect(await rowsOf(gone)).toEqual(NOTHING);
  expect(await rowsOf(neighbour)).toEqual({ ...ALL, 'clickhouse events': 3 });
  expect(await digestOfOthers(stack.store, neighbour.project.id, "event_type = 'late'")).toBe(before);
  expect(await project(gone).first('data_deleted_at')).toEqual({ data_deleted_at: null });

  await project(gone).update({ deleted_at: new Date(Date.now() - HALF_AN_HOUR_MS) });
  await untilDataDeleted(gone);
  expect(await project(neighbour).first('data_deleted_at')).toEqual({ data_deleted_at: null });
  // By a clock that was ahead: the deletions of the next tests end all the same.
  await project(gone).update({ data_deleted_at: stack.postgres.raw("now() + interval '1 day'") });
}, 300_000);

test('the end of a deletion waits for identify calls, and leaves no person in dead letters and the audit trail', async () => {
  const [gone, earlier] = [await stack.createTenant(), await stack.createTenant()];
  const neighbour = await stack.createTenant();
  const queue = createIdentifyQueue(stack.redis);
  const parked = async () => (await queue.getFailed()).map(({ data }) => data.operations.map((call) => call.project));
  try {
    for (const tenant of [gone, neighbour]) {
      const { id, secretKey } = tenant.project;
      // Made by hand, because PostgreSQL rejects no call that the API accepts.
      const call = { project: id, user: 'alice', ops: { set: { plan: 'pro\0' } } };
      await enqueueIdentify(queue, stack.redis, { items: [call], weight: 1 });
      const headers = { 'X-API-Key': secretKey };
      const exported = await fetch(`${stack.processes.url}/api/gdpr/users/alice/export`, { headers });
      expect([exported.status, await listSubjects(stack.postgres, id)]).toEqual([200, ['alice']]);
    }
    await eventually(async () => expect(await parked()).toHaveLength(2));

    const pendingSince = Date.now() - 3 * HALF_AN_HOUR_MS;
    await stack.redis.zadd('identity:pending', pendingSince * 1000, 'a call');
    await stack.postgres.transaction(async (transaction) => {
      for (const [tenant, ago] of [
        [gone, HALF_AN_HOUR_MS],
        [earlier, 6 * HALF_AN_HOUR_MS],
      ] as const) {
        const deleted = { deleted_at: new Date(Date.now() - ago) };
        await transaction('projects').where({ id: tenant.project.id }).update(deleted);
      }
    });
    await untilDataDeleted(earlier);
    expect(await project(gone).first('data_deleted_at')).toEqual({ data_deleted_at: null });
    await releaseSequence(stack.redis, 'a call');
    await untilDataDeleted(gone);
    expect(await parked()).toEqual([[neighbour.project.id]]);
    expect(await listSubjects(stack.postgres, gone.project.id)).toEqual([]);
    expect(await listSubjects(stack.postgres, neighbour.project.id)).toEqual(['alice']);
  } finally {
    await queue.close();
  }
}, 300_000);

test('a project whose deletion fails delays no other', async () => {
  const [stuck, other] = [await stack.createTenant(), await stack.createTenant()];
  for (const tenant of [stuck, other]) {
    await tenant.identify('alice', 'd-1');
    await eventually(async () => expect(await rowsOf(tenant)).toMatchObject({ 'clickhouse device_map': 1 }), 60_000);
  }
  await stack.postgres.raw(`
    CREATE FUNCTION refuse_deletion() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'stuck'; END $$;
    CREATE TRIGGER refuse_deletion BEFORE DELETE ON device_mappings FOR EACH ROW
      WHEN (OLD.project_id = '${stuck.project.id}') EXECUTE FUNCTION refuse_deletion();
  `);
  try {
    await project(stuck).update({ deleted_at: new Date(Date.now() - HALF_AN_HOUR_MS) });
    await project(other).update({ deleted_at: new Date(Date.now() - HALF_AN_HOUR_MS / 2) });
    await eventually(async () => expect(await rowsOf(other)).toEqual(NOTHING), 30_000);
    expect(await rowsOf(stuck)).toMatchObject({ 'postgres device_mappings': 1 });
  } finally {
    await stack.postgres.raw('DROP FUNCTION refuse_deletion CASCADE');
  }
  await eventually(async () => expect(await rowsOf(stuck)).toEqual(NOTHING), 30_000);
}, 240_000);
