// POST /identify: responses, resulting profiles, and stitching in queries.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { PROFILE_BYTES_MAX } from '../../src/identity/profile-properties.js';
import { createIdentifyQueue, enqueueIdentify, renumberBatch } from '../../src/identity/queue.js';
import { BOUNDS } from '../../src/platform/flow/bounds.js';
import { createRedis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { type AnswerRow, askRows, identify, identifyBatch } from '../support/identify.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, type EventStore, openEventStore, track } from '../support/track.js';

let databases: TestDatabases;
let processes: ProcessGroup;
let store: EventStore;
let project: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases({ MAX_REQUEST_BYTES: '10000' });
  store = openEventStore(databases);
  project = await createTestProject(databases);
  processes = await startProcesses(databases.env, ['worker', 'query', 'web']);
});

afterAll(async () => {
  await processes?.stop();
  await store?.client.close();
  await databases?.close();
});

const identifyAs = (body: unknown, of = project) => identify(processes.url, of.publicKey, body);
const ask = (q: string, of = project) => askRows(processes.url, of.secretKey, q);

async function profileOf(userId: string, of = project): Promise<AnswerRow | undefined> {
  return (await ask(`users | where user_id = ${JSON.stringify(userId)} | list`, of))[0];
}

const untilProfile = (userId: string, expected: object) =>
  eventually(async () => expect(await profileOf(userId)).toMatchObject(expected));

describe('response of POST /identify', () => {
  test('is 200 for a public and a secret key, with CORS headers', async () => {
    const answer = await identifyAs({ user_id: 'u', device_id: 'd', user_properties: { a: 1 } });
    expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(await identify(processes.url, project.secretKey, { user_id: 'u' })).toMatchObject({ status: 200 });
    const preflight = await fetch(`${processes.url}/identify`, { method: 'OPTIONS' });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('X-API-Key');
  });

  test('is 200 for a beacon with the key in the query string', async () => {
    const response = await fetch(`${processes.url}/identify?key=${project.publicKey}`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body: JSON.stringify({ user_id: 'beacon' }),
    });
    expect(await response.json()).toEqual({ ok: true });
  });

  test.each([
    ['no key', '', { user_id: 'u' }, 401],
    ['an unknown key', `pk_${'x'.repeat(32)}`, { user_id: 'u' }, 401],
    ['no JSON', undefined, '{', 400],
    ['no user', undefined, { device_id: 'd' }, 400],
    ['a user of null', undefined, { user_id: 'null' }, 400],
    ['an unknown operator', undefined, { user_id: 'u', user_property_ops: { $inc: { a: 1 } } }, 400],
    ['a large body', undefined, { user_id: 'u', user_properties: { a: 'x'.repeat(10_000) } }, 413],
  ])('is an error for %s', async (_, key, body, status) => {
    const answer = await identify(processes.url, key ?? project.publicKey, body);
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.body)).toEqual(['error']);
  });

  test('is counted by reason when the call is rejected, and nothing of the call is applied', async () => {
    const refused = await identifyAs({
      user_id: 'half',
      device_id: 'd',
      user_properties: { a: 1 },
      user_property_ops: { $add: { a: 'x' } },
    });
    expect(refused.body.error).toBe('"$add" of "a" must be a number');
    await identifyAs({ user_id: 'whole' });
    await untilProfile('whole', { properties: {} });
    expect(await profileOf('half')).toBeUndefined();
    const metrics = await (await fetch(`${processes.url}/metrics`)).text();
    expect(metrics).toMatch(/identify_calls_refused_total\{reason="properties"\} [1-9]/);
    expect(metrics).toMatch(/identify_calls_accepted_total [1-9]/);
    const worker = await (await fetch(`${processes.get('worker').url}/metrics`)).text();
    expect(worker).toMatch(/identify_operations_applied_total [1-9]/);
    expect(worker).toMatch(/identity_outbox_rows \d/);
  });
});

describe('POST /identify/batch', () => {
  const importAs = (key: string, ...calls: object[]) => identifyBatch(processes.url, key, calls);

  test('applies calls by their times: what is newer stays', async () => {
    await identifyAs({ user_id: 'live', device_id: 'moved', user_properties: { plan: 'pro' } });
    const calls = [
      { user_id: 'older', device_id: 'moved', time: '2020-01-01T00:00:00Z' },
      { user_id: 'live', time: '2020-01-02T00:00:00Z', user_properties: { plan: 'free', city: 'Rome' } },
    ];
    for (const _ of ['once', 'twice']) {
      expect(await importAs(project.secretKey, ...calls)).toMatchObject({ status: 200, body: { accepted: 2 } });
      await untilProfile('live', { properties: { plan: 'pro', city: 'Rome' }, first_seen: '2020-01-02T00:00:00.000Z' });
    }
    await track(processes.url, project.publicKey, { event_type: 'moved_event', device_id: 'moved', insert_id: 'm' });
    await eventually(async () => {
      const [row] = await ask('moved_event | count by distinct_id');
      expect(row).toMatchObject({ distinct_id: 'live', count: 1 });
    });
  });

  test.each([
    ['a public key', (of: NewProject) => of.publicKey, {}, 403, 'scope'],
    ['no time', (of: NewProject) => of.secretKey, { user_id: 'u' }, 400, 'calls[1]: "time" is required'],
    [
      'an increment',
      (of: NewProject) => of.secretKey,
      { user_id: 'u', time: 1577836800, user_property_ops: { $add: { a: 1 } } },
      400,
      'calls[1]: calls of a batch can only set properties',
    ],
  ])('is an error for %s', async (_, key, call, status, error) => {
    const answer = await importAs(key(project), { user_id: 'u', time: 1577836800 }, call);
    expect(answer).toMatchObject({ status, body: { error: expect.stringContaining(error) } });
  });
});

describe('profile after POST /identify', () => {
  test('has typed properties, the client address, and first and last seen times', async () => {
    const before = Date.now();
    await identifyAs({
      user_id: 'typed',
      user_properties: {
        text: 'ä',
        digits: '12',
        number: 1.5,
        yes: true,
        list: [1, 'a'],
        gone: null,
        email: 'Ann@Shop.Example',
      },
    });
    const properties = { text: 'ä', digits: '12', number: 1.5, yes: true, list: '[1,"a"]', email: 'Ann@Shop.Example' };
    await untilProfile('typed', { properties, email: 'Ann@Shop.Example', email_domain: 'shop.example' });
    const first = await profileOf('typed');
    expect(first?.first_seen).toBe(first?.last_seen);
    expect(Date.parse(String(first?.first_seen))).toBeGreaterThanOrEqual(before - 1000);
    expect(Date.parse(String(first?.first_seen))).toBeLessThanOrEqual(Date.now() + 1000);

    await identifyAs({
      user_id: 'typed',
      user_property_ops: {
        $set: { text: 7 },
        $set_once: { yes: false, more: 'm' },
        $add: { digits: 1, number: 1 },
        $unset: ['email', 'list'],
      },
    });
    await untilProfile('typed', {
      properties: { text: 7, digits: 13, number: 2.5, yes: true, more: 'm' },
      email: null,
      email_domain: null,
    });
    const second = await profileOf('typed');
    expect(second?.first_seen).toBe(first?.first_seen);
    expect(Date.parse(String(second?.last_seen))).toBeGreaterThan(Date.parse(String(first?.last_seen)));
  });

  test('can be used in queries of events', async () => {
    await track(processes.url, project.publicKey, { event_type: 'paid', user_id: 'typed-2' });
    await identifyAs({ user_id: 'typed-2', user_properties: { plan: 'pro', seats: '5' } });
    await eventually(async () => {
      expect(await ask('paid | where user.plan = "pro" and user.seats > 4 | count')).toMatchObject([{ value: 1 }]);
    });
  });

  test('may have an id of 512 four-byte characters', async () => {
    const user = '😀'.repeat(512);
    await track(processes.url, project.publicKey, { event_type: 'long', device_id: `${user.slice(2)}d` });
    expect(await identifyAs({ user_id: user, device_id: `${user.slice(2)}d` })).toMatchObject({ status: 200 });
    await untilProfile(user, { properties: {} });
    await eventually(async () => {
      expect(await ask('long | count by distinct_id')).toMatchObject([{ distinct_id: user }]);
    });
  });

  test('belongs to its project', async () => {
    const other = await createTestProject(databases);
    await identifyAs({ user_id: 'shared', user_properties: { of: 'first' } });
    await identifyAs({ user_id: 'shared', user_properties: { of: 'second' } }, other);
    await untilProfile('shared', { properties: { of: 'first' } });
    await eventually(async () =>
      expect(await profileOf('shared', other)).toMatchObject({ properties: { of: 'second' } }),
    );
  });

  test('reflects sequential calls of one client in order', async () => {
    for (let n = 1; n <= 60; n += 1) {
      await identifyAs({
        user_id: 'ordered',
        user_properties: { last: n },
        user_property_ops: { $add: { calls: 1 }, $set_once: { first: n } },
      });
    }
    await untilProfile('ordered', { properties: { last: 60, calls: 60, first: 1 } });
  });
});

test('a call that PostgreSQL rejects becomes a dead letter, delays no other call of its batch, and is logged by request id only', async () => {
  const redis = createRedis(databases.config);
  const queue = createIdentifyQueue(redis);
  try {
    const call = (user: string, ops: object) => ({ project: project.id, user, ops });
    // The API would have sanitized the NUL.
    const poison = { ...call('half-poisonous', { set: { a: 'poisonous\0' } }), request: 'request-7' };
    const items = [
      call('half-poisonous', { set: { last: 1 }, add: { calls: 1 } }),
      poison,
      call('neighbour', { set: { a: 1 } }),
      call('half-poisonous', { set: { last: 2 }, add: { calls: 1 } }),
    ];
    await enqueueIdentify(queue, redis, { items, weight: items.length });
    await identifyAs({ user_id: 'innocent', user_properties: { a: 1 } });
    await untilProfile('innocent', { properties: { a: 1 } });
    await untilProfile('neighbour', { properties: { a: 1 } });
    await untilProfile('half-poisonous', { properties: { last: 2, calls: 2 } });
    const parked = await eventually(async () => {
      expect(await redis.zcard('identity:pending')).toBe(0);
      const [job] = await queue.getFailed();
      if (job === undefined) throw new Error('not parked yet');
      return job;
    });
    expect(parked.failedReason).toMatch(/^1 of 4 calls were refused: /);
    expect(parked.data.operations).toEqual([{ ...poison, seq: expect.any(Number) }]);
    const log = processes.get('worker').output.join('\n');
    expect(log).toMatch(/"requests":\["request-7"\],"msg":"an identify job failed"/);
    expect(log).not.toContain('poisonous');

    // Repaired and replayed, it is applied after everything that was applied meanwhile.
    await parked.updateData({
      ...parked.data,
      operations: [{ ...call('half-poisonous', { set: { last: 3 } }), seq: 1 }],
    });
    await renumberBatch(redis, parked);
    await parked.retry('failed', { resetAttemptsMade: true });
    await untilProfile('half-poisonous', { properties: { last: 3, calls: 2 } });
  } finally {
    await queue.close();
    redis.disconnect();
  }
});

test('calls that were applied before a call of their batch was refused count once', async () => {
  const redis = createRedis(databases.config);
  const queue = createIdentifyQueue(redis);
  const countApplied = async () => {
    const metrics = await (await fetch(`${processes.get('worker').url}/metrics`)).text();
    return Number(/^identify_operations_applied_total (\d+)$/m.exec(metrics)?.[1]);
  };
  try {
    const own = await createTestProject(databases);
    const before = await countApplied();
    const call = (user: string, set: Record<string, string | number>) => ({ project: own.id, user, ops: { set } });
    const enqueue = (...items: ReturnType<typeof call>[]) =>
      enqueueIdentify(queue, redis, { items, weight: items.length });
    const untilDone = () => eventually(async () => expect(await redis.zcard('identity:pending')).toBe(0));
    // Profiles that do not fit into one transaction; the largest is in the last one.
    const users = Array.from(
      { length: 1.2 * (BOUNDS.identifyProfileBytes / PROFILE_BYTES_MAX) },
      (_, n) => `user ${n}`,
    );
    const bytes = PROFILE_BYTES_MAX - 1000;
    await enqueue(
      call('largest', { a: 'x'.repeat(bytes + 10) }),
      ...users.map((user) => call(user, { a: 'x'.repeat(bytes) })),
    );
    await untilDone();
    await enqueue(call('largest', { b: 'poisonous\0' }), ...users.map((user) => call(user, { b: 1 })));
    const parked = await eventually(async () => {
      const job = (await queue.getFailed()).find(({ data }) => data.operations[0]?.project === own.id);
      if (job === undefined) throw new Error('not parked yet');
      return job;
    });
    expect(parked.failedReason).toMatch(/^1 of 20 calls were refused: /);
    expect(parked.data.operations).toHaveLength(1);
    expect(await countApplied()).toBe(before + users.length + 1 + users.length);
  } finally {
    await queue.close();
    redis.disconnect();
  }
});

describe('events of a device before POST /identify', () => {
  const day = 86_400_000;
  const ago = (days: number) => new Date(Date.now() - days * day).toISOString();

  test('count for the user in every source as soon as the device is known', async () => {
    const own = await createTestProject(databases);
    const events = [
      { event_type: 'visit', time: ago(15), session_id: 's1' },
      { event_type: 'visit', time: ago(8), session_id: 's2' },
      { event_type: 'visit', time: ago(1), session_id: 's3' },
      {
        event_type: 'signup',
        time: new Date(Date.now() - day + 1000).toISOString(),
        session_id: 's3',
        event_properties: { plan: 'pro' },
      },
    ].map((event) => ({ ...event, device_id: 'phone' }));
    await track(processes.url, own.publicKey, { events });
    await track(processes.url, own.publicKey, {
      event_type: 'pay',
      user_id: 'ann',
      time: new Date(Date.now() - day + 2000).toISOString(),
    });
    await eventually(async () => expect(await store.count(own.id)).toBe(5));
    const people = '* | last 30d | unique distinct_id';
    expect(await ask(people, own)).toMatchObject([{ value: 2 }]);

    await identifyAs({ user_id: 'ann', device_id: 'phone', user_properties: { email: 'ann@shop.example' } }, own);
    await eventually(async () => expect(await ask(people, own)).toMatchObject([{ value: 1 }]));
    expect(await ask('funnel visit -> signup -> pay | last 30d | window 1d', own)).toMatchObject([
      { users: 1 },
      { users: 1 },
      { users: 1 },
    ]);
    expect(await ask('user "ann" | last 30d | count', own)).toMatchObject([{ value: 5 }]);
    expect(await ask('user "ann@shop.example" | last 30d | count', own)).toMatchObject([{ value: 5 }]);
    const cohorts = (await ask('retention visit returning pay | by week', own)).filter(({ users }) => users === 1);
    expect(cohorts).toHaveLength(1);
    expect(await ask('sessions | last 30d | where distinct_id = "ann" | count', own)).toMatchObject([{ value: 3 }]);
    expect(await ask('signup | last 30d | latest event_properties.plan', own)).toMatchObject([
      { entity: 'ann', last_value: 'pro' },
    ]);
    expect(await ask('stickiness visit | last 30d', own)).toMatchObject([{ active_days: 3, users: 1 }]);
    expect(await ask('pay | last 30d | where user_last_session.event_count = 2 | count', own)).toMatchObject([
      { value: 1 },
    ]);
    expect(await ask('visit | last 30d | where user.email_domain = "shop.example" | count', own)).toMatchObject([
      { value: 3 },
    ]);
  });

  test('belong at once to another user when the device is mapped to it, and back', async () => {
    const own = await createTestProject(databases);
    await track(processes.url, own.publicKey, {
      events: [1, 2, 3].map((n) => ({ event_type: 'visit', device_id: 'tablet', insert_id: `v${n}` })),
    });
    await eventually(async () => expect(await store.count(own.id)).toBe(3));
    for (const user of ['ann', 'ben', 'ann']) {
      await identifyAs({ user_id: user, device_id: 'tablet' }, own);
      await eventually(async () => {
        expect(await ask('visit | count by distinct_id', own)).toMatchObject([{ distinct_id: user, value: 3 }]);
      });
    }
    expect((await ask('users | list', own)).map(({ user_id }) => user_id).sort()).toEqual(['ann', 'ben']);
  });
});
