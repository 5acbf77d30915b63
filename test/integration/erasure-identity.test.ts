// Erasure of an identified person: devices, mappings and profile are deleted, and later data stays.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createIdentifyQueue, enqueueIdentify } from '../../src/identity/queue.js';
import { digestOfOthers, type ErasureStack, startErasureStack, type Tenant } from '../support/erasure.js';
import { eventually } from '../support/eventually.js';

let stack: ErasureStack;

beforeAll(async () => {
  stack = await startErasureStack();
}, 240_000);

afterAll(() => stack?.close());

/** Devices that ClickHouse has mapped to people. */
async function mappedDevices(projectId: string): Promise<string[]> {
  const result = await stack.store.client.query({
    query: 'SELECT DISTINCT device_id FROM device_map WHERE project_id = {projectId:UUID} ORDER BY device_id',
    query_params: { projectId },
    format: 'JSONEachRow',
  });
  return (await result.json<{ device_id: string }>()).map(({ device_id: id }) => id);
}

const ALICE = "user_id = 'alice' OR (user_id = '' AND device_id IN ('phone', 'laptop', 'alice'))";

test('erasing a person deletes their devices, profile and mappings, and no other data', async () => {
  const { project, gdpr, send, identify, holds, ask } = await stack.createTenant();
  await identify('alice', 'phone', { email: 'alice@example.com' });
  await identify('alice', 'laptop');
  await identify('bob', 'tablet', { email: 'bob@example.com' });
  await send(
    { event_type: 'a', user_id: 'alice' },
    { event_type: 'a', user_id: 'alice', device_id: 'tablet' },
    { event_type: 'a', device_id: 'phone' },
    { event_type: 'b', device_id: 'laptop' },
    { event_type: 'b', device_id: 'alice' },
    // A shared device: an event with a user id belongs to that user, whichever user the device is
    // mapped to.
    { event_type: 'a', user_id: 'bob', device_id: 'phone' },
    { event_type: 'a', device_id: 'tablet' },
    { event_type: 'a', device_id: 'nobodys' },
    { event_type: 'a' },
  );
  await holds(9);
  await eventually(async () => expect(await ask('users | list')).toHaveLength(2));
  await eventually(async () => expect((await ask('* | unique'))[0]?.value).toBe(3));
  await eventually(async () => expect(await mappedDevices(project.id)).toEqual(['laptop', 'phone', 'tablet']));
  const others = await digestOfOthers(stack.store, project.id, ALICE);

  const { status, body } = await gdpr.erase('alice');
  expect(status).toBe(200);
  const receipt = { events: 5, mappings: 2, profiles: 1, devices: 2 };
  expect(body).toMatchObject({ status: 'deleted', user_id: 'alice', ...receipt });
  expect(Date.parse(String(body.purge_by))).toBeGreaterThan(Date.parse(String(body.verified_at)));
  expect(Object.keys(body).slice(3, 7)).toEqual(['events', 'mappings', 'profiles', 'devices']);
  expect(await digestOfOthers(stack.store, project.id, '0')).toBe(others);
  expect(await mappedDevices(project.id)).toEqual(['tablet']);
  expect(await ask('user "alice" | count')).toMatchObject([{ value: 0 }]);
  expect((await ask('users | list')).map(({ user_id: id }) => id)).toEqual(['bob']);
  expect((await ask('* | unique'))[0]?.value).toBe(2);

  const { body: again } = await gdpr.erase('alice');
  expect(again).toMatchObject({ status: 'deleted', events: 0, mappings: 0, profiles: 0, devices: 0 });

  const purged = await gdpr.reached('purged', body.request_id);
  expect(purged).toMatchObject({ status: 'purged', ...receipt, user_hash: expect.any(String) });
  const request = stack.postgres('erasure_requests').where({ id: body.request_id });
  expect(await request.first('user_id', 'device_ids')).toEqual({ user_id: null, device_ids: null });
  expect(await digestOfOthers(stack.store, project.id, '0')).toBe(others);
  const masked = `SELECT count() AS n FROM system.parts WHERE database = currentDatabase() AND has_lightweight_delete`;
  const parts = await (await stack.store.client.query({ query: masked, format: 'JSONEachRow' })).json<{ n: string }>();
  expect(parts.map(({ n }) => Number(n))).toEqual([0]);
});

test('a device with the id of the person that is mapped to another person stays theirs', async () => {
  const { gdpr, send, identify, holds } = await stack.createTenant();
  await identify('bob', 'alice');
  await send({ event_type: 'a', device_id: 'alice' }, { event_type: 'a', user_id: 'alice' });
  await holds(2);
  expect((await gdpr.erase('alice')).body).toMatchObject({ status: 'deleted', events: 1, mappings: 0 });
  await holds(1, "device_id = 'alice'");
});

test('an erased person who returns starts with an empty profile and no earlier events', async () => {
  const { gdpr, send, identify, holds, ask } = await stack.createTenant();
  await identify('alice', 'phone', { plan: 'old', seats: 5 });
  await send({ event_type: 'a', device_id: 'phone' });
  await holds(1);
  await gdpr.erase('alice');
  await send({ event_type: 'a', device_id: 'phone' });
  await identify('alice', 'phone', { plan: 'new' });
  await holds(1);
  await eventually(async () => {
    expect(await ask('users | list')).toMatchObject([{ user_id: 'alice', properties: { plan: 'new' } }]);
    expect((await ask('user "alice" | count'))[0]?.value).toBe(1);
  });
  expect((await ask('users | list'))[0]?.properties).toEqual({ plan: 'new' });
});
/** Runs `meanwhile` while an erasure request is stored and its job has not started. */
async function whileErasureWaits(tenant: Tenant, userId: string, meanwhile: () => Promise<void>) {
  await stack.erasureQueue.pause();
  const answer = tenant.gdpr.erase(userId);
  try {
    await eventually(async () => {
      const [row] = await stack.postgres('erasure_requests').where({ project_id: tenant.project.id, user_id: userId });
      expect(row).toMatchObject({ status: 'requested' });
    });
    await meanwhile();
  } finally {
    await stack.erasureQueue.resume();
  }
  return answer;
}

test('erasing a person keeps what another person sends from the same device before the purge', async () => {
  const tenant = await stack.createTenant();
  const { send, identify, holds, ask } = tenant;
  await identify('alice', 'phone', { plan: 'old' });
  await send({ event_type: 'before', device_id: 'phone' });
  await holds(1);
  const { body } = await whileErasureWaits(tenant, 'alice', async () => {
    await identify('bob', 'phone', { plan: 'free' });
    await identify('alice', 'laptop', { plan: 'new' });
    await send({ event_type: 'after', device_id: 'phone' }, { event_type: 'after', user_id: 'alice' });
    await holds(3);
  });
  expect(body).toMatchObject({ status: 'deleted', events: 1, mappings: 1, profiles: 1, devices: 1 });
  await holds(0, "event_type = 'before'");
  await holds(2, "event_type = 'after'");
  await eventually(async () => {
    expect((await ask('user "bob" | count'))[0]?.value).toBe(1);
    const people = await ask('users | sort user_id asc');
    expect(people.map(({ user_id: id, properties }) => [id, properties])).toEqual([
      ['alice', { plan: 'new' }],
      ['bob', { plan: 'free' }],
    ]);
  });
});

test("an erasure deletes the person's identify calls from dead letters, and no others", async () => {
  const { project, gdpr, identify, ask } = await stack.createTenant();
  const queue = createIdentifyQueue(stack.redis);
  try {
    // Made by hand, because PostgreSQL rejects no call that the API accepts.
    const poison = (user: string) => ({ project: project.id, user, ops: { set: { a: `of ${user}\0` } } });
    const parkedUsers = async () =>
      (await queue.getFailed()).map(({ data }) => data.operations.map(({ user }) => user));
    await enqueueIdentify(queue, stack.redis, { items: [poison('alice'), poison('bob')], weight: 2 });
    await enqueueIdentify(queue, stack.redis, { items: [poison('alice')], weight: 1 });
    await identify('alice', 'phone', { plan: 'pro' });
    await eventually(async () => expect((await parkedUsers()).sort()).toEqual([['alice'], ['alice', 'bob']]));
    await eventually(async () => expect(await ask('users | list')).toHaveLength(1));

    expect((await gdpr.erase('alice')).body).toMatchObject({ status: 'deleted', profiles: 1, mappings: 1 });
    expect(await parkedUsers()).toEqual([['bob']]);
    await gdpr.erase('bob');
    expect(await parkedUsers()).toEqual([]);
  } finally {
    await queue.close();
  }
});
