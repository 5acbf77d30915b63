// Erasure of a person: what is deleted, what stays, which queued events are dropped, and the
// receipt.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { takeSequence } from '../../src/identity/sequence.js';
import { encodeEnvelopes } from '../../src/ingest/envelope.js';
import { settleFirstSeenTimes } from '../../src/ingest/first-seen-times.js';
import { partitionQueryId } from '../../src/ingest/insert/ingest-partition.js';
import { newUuidV7, toOrganizationId } from '../../src/platform/ids.js';
import { sequenceMember } from '../../src/privacy/queue.js';
import { createErasure } from '../../src/privacy/store.js';
import { type ErasureStack, startErasureStack } from '../support/erasure.js';
import { eventually } from '../support/eventually.js';
import { track } from '../support/track.js';

let stack: ErasureStack;

beforeAll(async () => {
  stack = await startErasureStack();
}, 240_000);

afterAll(() => stack?.close());

async function countForgotten(): Promise<number> {
  const metrics = await (await fetch(`${stack.processes.get('worker').url}/metrics`)).text();
  return Number(/^ingest_events_forgotten_total (\d+)$/m.exec(metrics)?.[1]);
}

describe('erasing a person', () => {
  test('does not affect a person with the same id in another project', async () => {
    const [mine, theirs] = [await stack.createTenant(), await stack.createTenant()];
    for (const tenant of [mine, theirs]) {
      await tenant.send({ event_type: 'a', user_id: 'alice' });
      await tenant.holds(1);
    }
    const { body } = await mine.gdpr.erase('alice');
    expect(body).toMatchObject({ status: 'deleted', events: 1 });
    await theirs.holds(1);
    expect(await theirs.gdpr.request(`/requests/${String(body.request_id)}`)).toMatchObject({ status: 404 });
    expect((await theirs.gdpr.request('/audit')).body).toEqual([]);
  });

  test('runs once for concurrent requests, all of which get a receipt', async () => {
    const { gdpr, send, holds } = await stack.createTenant();
    await send({ event_type: 'a', user_id: 'alice' }, { event_type: 'a', user_id: 'bob' });
    await holds(2);
    const answers = await Promise.all([gdpr.erase('alice'), gdpr.erase('alice'), gdpr.erase('bob')]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ body }) => Number(body.events)).sort()).toEqual([0, 1, 1]);
    await holds(0);
  });

  test("deletes samples of rejected events with the person's id or device", async () => {
    const { project, gdpr, identify } = await stack.createTenant();
    const samples = () => stack.redis.zrange(`ingest:rejected-samples:${project.id}`, 0, -1);
    await identify('alice', 'phone');
    const events = [{ user_id: 'alice' }, { device_id: 'phone' }, { user_id: 'bob' }];
    await track(stack.processes.url, project.publicKey, { events });
    await eventually(async () => expect(await samples()).toHaveLength(3));
    expect((await gdpr.erase('alice')).body).toMatchObject({ status: 'deleted' });
    expect(await samples()).toEqual([expect.stringContaining('bob')]);
  });

  test('deletes the first-seen times of stored events, also of those that are held longer than a day', async () => {
    const { project, gdpr, holds } = await stack.createTenant();
    const hoursAgo = (hours: number) => Date.now() - hours * 3_600_000;
    const sent = [
      { user_id: 'alice', insert_id: 'oldest', received_at: hoursAgo(29) },
      { user_id: 'bob', insert_id: 'of bob', received_at: hoursAgo(28) },
      { user_id: 'alice', insert_id: 'older', received_at: hoursAgo(25) },
      { user_id: 'alice', insert_id: 'new', received_at: hoursAgo(1) },
    ];
    for (const { insert_id, received_at: now } of sent) {
      const limits = { totalMax: 1000, perProjectMax: 500 };
      await settleFirstSeenTimes(stack.redis, { projectId: project.id, insertIds: [insert_id], now }, limits);
    }
    const held = async () => Number(await stack.redis.zscore('ingest:times:held', project.id));
    expect(await held()).toBe(4);
    const values = sent.map((event) => {
      const time = new Date(event.received_at).toISOString().slice(0, -1).replace('T', ' ');
      return { ...event, project_id: project.id, event_type: 'a', time, received_at: time };
    });
    await stack.store.client.insert({ table: 'events', values, format: 'JSONEachRow' });
    await holds(4);
    expect((await gdpr.erase('alice')).body).toMatchObject({ status: 'deleted', events: 3 });
    expect(await held()).toBe(1);
  });

  test('works for every id that an event may have', async () => {
    const { gdpr, send, holds } = await stack.createTenant();
    const ids = ['it\'s \\ "quoted" / 50%', '大小 😀', 'x'.repeat(512)];
    await send(...ids.map((user_id) => ({ event_type: 'a', user_id })), { event_type: 'a', user_id: 'x'.repeat(511) });
    await holds(4);
    for (const id of ids) expect((await gdpr.erase(id)).body).toMatchObject({ user_id: id, events: 1 });
    await holds(1);
  });
});

describe('an erasure request', () => {
  test('is found and completed if its job was never added', async () => {
    const { project, gdpr, send, holds } = await stack.createTenant();
    await send({ event_type: 'a', user_id: 'alice' });
    await holds(1);
    const id = newUuidV7();
    await createErasure(stack.postgres, {
      id,
      projectId: project.id,
      organizationId: toOrganizationId(newUuidV7()),
      userId: 'alice',
      userHash: 'hash',
      erasedThroughMs: Date.now(),
      erasedThroughSeq: await takeSequence(stack.redis, { member: sequenceMember(id), count: 1 }),
      requestedBy: { kind: 'secret', id: 'sk_' },
      purgeBy: new Date(),
    });
    expect(await gdpr.reached('deleted', id)).toMatchObject({ events: 1 });
  });

  test('is completed although that of another person of its project fails', async () => {
    const { project, gdpr, send, identify, holds } = await stack.createTenant();
    await identify('stuck', 'phone');
    await send({ event_type: 'a', user_id: 'stuck' }, { event_type: 'a', user_id: 'alice' });
    await holds(2);
    await stack.postgres.raw(`
      CREATE FUNCTION refuse_erasure() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'stuck'; END $$;
      CREATE TRIGGER refuse_erasure BEFORE DELETE ON device_mappings FOR EACH ROW
        WHEN (OLD.project_id = '${project.id}') EXECUTE FUNCTION refuse_erasure();
    `);
    await stack.erasureQueue.pause();
    const answers = [gdpr.erase('stuck'), gdpr.erase('alice')] as const;
    try {
      await eventually(async () => {
        expect(await stack.postgres('erasure_requests').where({ project_id: project.id })).toHaveLength(2);
      });
      await stack.erasureQueue.resume();
      expect((await answers[1]).body).toMatchObject({ status: 'deleted', events: 1 });
    } finally {
      await stack.postgres.raw('DROP FUNCTION refuse_erasure CASCADE');
    }
    const stuck = await gdpr.reached('deleted', (await answers[0]).body.request_id);
    expect(stuck).toMatchObject({ events: 1, mappings: 1, devices: 1 });
  });

  test('is purged although the clock of an earlier purge was a day ahead', async () => {
    const { gdpr } = await stack.createTenant();
    const { body: earlier } = await gdpr.erase('alice');
    await gdpr.reached('purged', earlier.request_id);
    const tomorrow = stack.postgres.raw("now() + interval '1 day'");
    await stack.postgres('erasure_requests').where({ id: earlier.request_id }).update({ purged_at: tomorrow });
    const { body: later } = await gdpr.erase('bob');
    await gdpr.reached('purged', later.request_id);
  });

  test('is completed and purged if Redis has lost all of its data', async () => {
    const { project, gdpr, send, holds } = await stack.createTenant();
    await send({ event_type: 'a', user_id: 'alice' });
    await holds(1);
    await stack.erasureQueue.pause();
    const answer = gdpr.erase('alice');
    await eventually(async () => {
      expect(await stack.postgres('erasure_requests').where({ project_id: project.id })).toHaveLength(1);
    });
    await stack.redis.flushdb();
    const { body } = await answer;
    expect(body).toMatchObject({ status: 'deleted', events: 1 });
    await gdpr.reached('purged', body.request_id);
  });
});

describe('events accepted before an erasure', () => {
  test('are not stored if they are still queued, and events of other people are', async () => {
    const { project, gdpr, send, holds } = await stack.createTenant();
    const rememberedIds = async () => Number(await stack.redis.zscore('ingest:times:held', project.id));
    await stack.ingestQueue.pause();
    try {
      await send(
        { event_type: 'waited', user_id: 'alice' },
        { event_type: 'waited', user_id: 'alice', insert_id: 'remembered' },
        { event_type: 'waited', device_id: 'alice' },
        { event_type: 'waited', user_id: 'bob' },
      );
      expect(await rememberedIds()).toBe(1);
      expect((await gdpr.erase('alice')).body).toMatchObject({ status: 'deleted', events: 0 });
      await send({ event_type: 'later', user_id: 'alice' });
    } finally {
      await stack.ingestQueue.resume();
    }
    await holds(1, "event_type = 'later'");
    await holds(1, "event_type = 'waited'");
    await holds(1, "user_id = 'bob'");
    expect(await rememberedIds()).toBe(0);
  });

  test('are deleted from dead letters by the purge, and not stored when the job runs again', async () => {
    const { gdpr, send, holds } = await stack.createTenant();
    await stack.ingestQueue.pause();
    await send({ event_type: 'parked', user_id: 'alice' }, { event_type: 'parked', user_id: 'bob' });
    const [claim = ''] = await stack.redis.keys('ingest:claim:*');
    // The job finds no payload and becomes a dead letter; then the payload is restored.
    const bytes = (await stack.redis.getBuffer(claim)) as Buffer;
    await stack.redis.del(claim);
    await stack.ingestQueue.resume();
    const job = await eventually(async () => {
      const [failed] = await stack.ingestQueue.getFailed();
      if (failed === undefined) throw new Error('not parked yet');
      return failed;
    });
    await stack.redis.set(claim, bytes);

    const { body } = await gdpr.erase('alice');
    await gdpr.reached('purged', body.request_id);
    const purged = (await stack.redis.getBuffer(claim))?.toString('latin1');
    expect(purged).toContain('bob');
    expect(purged).not.toContain('alice');

    // The state of a Redis that was restored from an older copy of its files.
    await stack.redis.set(claim, bytes);
    const before = await countForgotten();
    await job.retry();
    await holds(1, "user_id = 'bob'");
    await holds(0, "user_id = 'alice'");
    expect((await countForgotten()) - before).toBe(1);
  });

  test('delay only the purge of their own project if they cannot be decoded', async () => {
    const [mine, theirs] = [await stack.createTenant(), await stack.createTenant()];
    const header = { v: 1, p: mine.project.id, t: Date.now(), ip: '', ua: '', geo: {}, o: 'client', n: 1 } as const;
    const claim = `ingest:claim:${newUuidV7()}`;
    await stack.redis.set(claim, encodeEnvelopes([{ header, body: Buffer.from('torn') }]));
    const held = (await mine.gdpr.erase('alice')).body.request_id;
    await theirs.gdpr.reached('purged', (await theirs.gdpr.erase('alice')).body.request_id);
    expect((await mine.gdpr.request(`/requests/${String(held)}`)).body).toMatchObject({ status: 'deleted' });
    const request = stack.postgres('erasure_requests').where({ id: String(held) });
    expect(await request.first('user_id')).toEqual({ user_id: 'alice' });
    expect((await stack.redis.getBuffer(claim))?.toString('latin1')).toContain('torn');
    await stack.redis.del(claim);
    await mine.gdpr.reached('purged', held);
  });

  test('are found although their insert still runs, as when its worker was killed', async () => {
    const { project, gdpr, holds } = await stack.createTenant();
    const { client } = stack.store;
    const [{ name } = { name: '' }] = await (
      await client.query({ query: 'SELECT currentDatabase() AS name', format: 'JSONEachRow' })
    ).json<{ name: string }>();
    const query_id = partitionQueryId(0, name);
    const inserted = client.command({
      query: `INSERT INTO events (project_id, event_type, user_id, time, received_at, insert_id)
        SELECT '${project.id}', 'late', 'alice', '2026-01-01', '2026-01-01', 'late' FROM numbers(1) WHERE sleep(3) = 0`,
      query_id,
    });
    await eventually(async () => {
      const query = `SELECT 1 FROM system.processes WHERE query_id = '${query_id}'`;
      expect(await (await client.query({ query, format: 'JSONEachRow' })).json()).toHaveLength(1);
    });
    expect((await gdpr.erase('alice')).body).toMatchObject({ status: 'deleted', events: 1 });
    await inserted;
    await holds(0);
  });

  test('are not stored if Redis has lost the tombstone', async () => {
    const { gdpr, send, holds } = await stack.createTenant();
    await stack.ingestQueue.pause();
    try {
      await send({ event_type: 'a', user_id: 'alice' }, { event_type: 'a', user_id: 'bob' });
      await gdpr.erase('alice');
      await stack.redis.del('privacy:forgotten', 'privacy:forgotten:version');
      await eventually(async () => expect(await stack.redis.exists('privacy:forgotten:version')).toBe(1));
    } finally {
      await stack.ingestQueue.resume();
    }
    await holds(1, "user_id = 'bob'");
    await holds(0, "user_id = 'alice'");
  });
});

describe('responses, audit trail and logs of erasures', () => {
  test('the audit trail has the actor, action and time, and only a hash of the person', async () => {
    const { project, gdpr, send, holds } = await stack.createTenant();
    await send({ event_type: 'a', user_id: 'alice' });
    await holds(1);
    const { body } = await gdpr.erase('alice');
    const { user_hash: hash } = await gdpr.reached('purged', body.request_id);
    const trail = (await gdpr.request('/audit')).body as unknown as Record<string, unknown>[];
    const actor = { kind: 'secret', id: project.secretKey.slice(0, 8) };
    const entry = { actor, subject: null, subject_hash: hash };
    expect(trail).toMatchObject([
      { ...entry, action: 'erasure.purged', outcome: 'completed' },
      { ...entry, action: 'erasure.deleted', outcome: 'completed', details: { events: 1 } },
      { ...entry, action: 'erasure.requested', outcome: 'accepted', details: { request_id: body.request_id } },
    ]);
    const [last] = (await gdpr.request(`/audit?limit=1&before=${String(trail[1]?.id)}`)).body as unknown as object[];
    expect(last).toEqual(trail[2]);
    expect(JSON.stringify(await stack.postgres('erasure_requests').where({ project_id: project.id }))).not.toContain(
      'alice',
    );
    // An export of the erased person does not bring the id back.
    const headers = { 'X-API-Key': project.secretKey };
    const exported = await fetch(`${stack.processes.url}/api/gdpr/users/alice/export`, { headers });
    expect([exported.status, await exported.text()]).toEqual([200, '']);
    const entries = await stack.postgres('audit_entries').where({ project_id: project.id, action: 'export.requested' });
    expect(entries).toMatchObject([{ subject: null, subject_hash: hash }]);
  });

  test.each([
    ['an id that is too long', `/users/${'x'.repeat(513)}`, 'DELETE', 400],
    ['an id of NUL', '/users/%00', 'DELETE', 400],
    ['a path that is not UTF-8', '/users/%ff', 'DELETE', 400],
    ['an invalid limit', '/audit?limit=0', 'GET', 400],
    ['an invalid cursor', '/audit?before=x', 'GET', 400],
    ['an invalid request id', '/requests/x', 'GET', 404],
    ['an unknown request id', '/requests/01a1fcb2-68be-7d35-9287-cc6bdd83418b', 'GET', 404],
  ])('a request with %s is refused', async (_, path, method, status) => {
    const { gdpr } = await stack.createTenant();
    const answer = await gdpr.request(path, { method });
    expect(answer).toMatchObject({ status, body: { error: expect.any(String) } });
  });

  test("the log does not contain the person's id", async () => {
    const { gdpr } = await stack.createTenant();
    await gdpr.request('/users/distinctive-person-in-the-path%ff', { method: 'DELETE' });
    const { body } = await gdpr.erase('distinctive-person-in-the-path');
    expect(body).toMatchObject({ status: 'deleted' });
    const lines = ['web', 'worker'].flatMap((name) => stack.processes.get(name).output);
    expect(lines.filter((line) => line.includes('distinctive-person'))).toEqual([]);
  });
});
