// Delivery of a project: owners see and replay the failed jobs of their own project alone,
// operators those of all, with the queues and checks of the installation. The failed jobs are real:
// ClickHouse refuses some events.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization, type NewProject } from '../../src/accounts/store.js';
import { createIngestQueue, enqueueIngest, type IngestQueue } from '../../src/ingest/queue.js';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createTeam, createTeamProject, send, signIn, type TestPerson, type TestTeam } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { track } from '../support/track.js';

const OPERATOR = 'operator@example.com';

let databases: TestDatabases;
let postgres: Postgres;
let redis: Redis;
let queue: IngestQueue;
let clickhouse: ClickHouseClient;
let processes: ProcessGroup;
let [own, other]: (TestTeam | undefined)[] = [];
let [shop, neighbour]: (NewProject | undefined)[] = [];

beforeAll(async () => {
  databases = await createTestDatabases({ OPERATOR_EMAILS: ` ${OPERATOR.toUpperCase()}, `, LOG_LEVEL: 'error' });
  postgres = createPostgres(databases.config);
  redis = createRedis(databases.config);
  queue = createIngestQueue(redis);
  clickhouse = createClickHouse(databases.config);
  [own, other] = [await createTeam(postgres), await createTeam(postgres)];
  shop = await createTeamProject(postgres, databases, own.organization.id);
  neighbour = await createTeamProject(postgres, databases, other.organization.id);
  processes = await startProcesses(databases.env);
  await clickhouse.command({ query: "ALTER TABLE events ADD CONSTRAINT no_poison CHECK insert_id != 'poison'" });
  await sendPoison();
});

afterAll(async () => {
  await processes?.stop();
  await clickhouse?.close();
  await queue?.close();
  redis?.disconnect();
  await postgres?.destroy();
  await databases?.close();
});

/** A failed job of each of the two projects, and one that holds events of both. */
async function sendPoison(): Promise<void> {
  let parked = 0;
  const parkOneMore = async (act: () => Promise<unknown>): Promise<void> => {
    await act();
    parked += 1;
    await eventually(async () => expect(await queue.getFailedCount()).toBe(parked));
  };
  const event = { event_type: 'signup', insert_id: 'poison', time: new Date().toISOString() };
  for (const project of [shop, neighbour]) {
    await parkOneMore(() => track(processes.url, project?.publicKey ?? '', { events: [event] }));
  }
  const body = Buffer.from(JSON.stringify({ events: [event] }));
  const header = { v: 1, t: Date.now(), ip: '', ua: '', geo: {}, o: 'unknown', n: 1 } as const;
  const items = [shop, neighbour].map((project) => ({ header: { ...header, p: project?.id ?? '' }, body }));
  await parkOneMore(() => enqueueIngest(queue, redis, { items, weight: 2 }));
}

const read = async (project: NewProject | undefined, person: TestPerson | undefined) =>
  (await send(processes.url, `GET /api/projects/${project?.id}/delivery`, { session: person?.session ?? '' })).body;

const decide =
  (action: 'replay' | 'discard') => (project: NewProject | undefined, person: TestPerson | undefined, job: object) =>
    send(processes.url, `POST /api/projects/${project?.id}/delivery/${action}`, {
      session: person?.session ?? '',
      body: job,
    });
const [replay, discard] = [decide('replay'), decide('discard')];

/** Entries of the project about jobs, the newest first. */
const audited = async (project: NewProject | undefined, person: TestPerson | undefined) => {
  const trail = await send(processes.url, `GET /api/projects/${project?.id}/audit`, { session: person?.session ?? '' });
  return trail.body.map(({ action, actor, details }: Record<string, unknown>) => ({ action, actor, details }));
};

const countEvents = async (project: NewProject | undefined): Promise<number> => {
  const answer = await clickhouse.query({
    query: 'SELECT toUInt32(count()) AS count FROM events WHERE project_id = {id:UUID}',
    query_params: { id: project?.id },
    format: 'JSONEachRow',
  });
  return (await answer.json<{ count: number }>())[0]?.count ?? 0;
};

test('an owner sees the failed jobs of the own project, and nothing of others or of the installation', async () => {
  const [mine, theirs] = [await read(shop, own?.people.owner), await read(neighbour, other?.people.owner)];
  for (const delivery of [mine, theirs]) {
    expect(delivery.failed).toMatchObject([{ queue: 'ingest', events: 1, reason: expect.stringContaining('refused') }]);
    expect(delivery.installation).toBeNull();
    expect(delivery.backlog.events_bytes).toBeGreaterThan(0);
  }
  expect(mine.failed[0].id).not.toBe(theirs.failed[0].id);
});

test('an owner replays and discards the own jobs only: one of others is answered like one that does not exist', async () => {
  const [mine] = (await read(shop, own?.people.owner)).failed;
  const [theirs] = (await read(neighbour, other?.people.owner)).failed;
  const all: { id?: string }[] = await queue.getFailed();
  const both = all.find(({ id }) => id !== mine.id && id !== theirs.id);
  for (const act of [replay, discard]) {
    for (const id of [theirs.id, both?.id, 'none']) {
      expect(await act(shop, own?.people.owner, { queue: 'ingest', id })).toMatchObject({
        status: 404,
        body: { error: `the queue ingest has no failed job ${id}` },
      });
    }
    expect((await act(shop, own?.people.owner, { queue: 'mail', id: '1' })).status).toBe(404);
    expect((await act(shop, own?.people.owner, { queue: 'ingest' })).status).toBe(400);
  }
  expect(await queue.getFailedCount()).toBe(3);
  expect(await audited(shop, own?.people.owner)).toEqual([]);
});

test('operators see all failed jobs, the queues and the checks', async () => {
  const operator = await signIn(postgres, { email: OPERATOR });
  const standalone = await signIn(postgres);
  const pretender = await signIn(postgres, { email: OPERATOR, emailVerified: false });
  for (const person of [operator, pretender]) await joinAsOwner(person, own?.organization.id);
  const { id } = await createOrganization(postgres, { name: 'Own', isStandalone: true, ownerId: standalone.id });
  await joinAsOwner(standalone, own?.organization.id);
  expect(id).toBeDefined();

  expect((await read(shop, pretender)).installation).toBeNull();
  for (const person of [operator, standalone]) {
    const { failed, installation } = await read(shop, person);
    expect(failed).toHaveLength(3);
    const queues = Object.fromEntries(installation.queues.map((each: { queue: string }) => [each.queue, each]));
    expect(queues.ingest).toMatchObject({ failed: 3, waiting: 0, oldest_waiting_seconds: null });
    const states = installation.checks.map(({ name, state }: { name: string; state: string }) => `${name}: ${state}`);
    expect(states).toEqual(expect.arrayContaining(['PostgreSQL: ok', 'ClickHouse: ok', 'Dead letters: attention']));
    expect(installation.checks.map(({ name }: { name: string }) => name)).toContain('Parts of the events table');
  }
});

const joinAsOwner = (person: TestPerson, organizationId: string | undefined) =>
  postgres('members').insert({ organization_id: organizationId, person_id: person.id, role: 'owner' });

test('a replayed job stores its events, once the cause is gone', async () => {
  await clickhouse.command({ query: 'ALTER TABLE events DROP CONSTRAINT no_poison' });
  expect(await countEvents(shop)).toBe(0);
  const [mine] = (await read(shop, own?.people.owner)).failed;
  const replayed = await replay(shop, own?.people.owner, { queue: mine.queue, id: mine.id });
  expect(replayed.body).toEqual({ status: 'replayed', queue: 'ingest', id: mine.id });
  await eventually(async () => expect(await countEvents(shop)).toBe(1));
  expect((await read(shop, own?.people.owner)).failed).toEqual([]);
  expect(await countEvents(neighbour)).toBe(0);
  const actor = { kind: 'person', id: own?.people.owner.id };
  const details = { queue: 'ingest', job: mine.id, events: 1 };
  expect(await audited(shop, own?.people.owner)).toEqual([{ action: 'job.replayed', actor, details }]);
});

test('a discarded job is gone with its events, and the audit trail of its project says who discarded it', async () => {
  const { failed, backlog } = await read(neighbour, other?.people.owner);
  const [theirs] = failed;
  const operator = await signIn(postgres, { email: OPERATOR });
  await joinAsOwner(operator, own?.organization.id);
  // Through the project of the operator.
  const job = { queue: theirs.queue, id: theirs.id };
  expect((await discard(shop, operator, job)).body).toEqual({ status: 'discarded', ...job });
  expect((await read(neighbour, other?.people.owner)).failed).toEqual([]);
  expect(await countEvents(neighbour)).toBe(0);
  expect(await audited(neighbour, other?.people.owner)).toEqual([
    {
      action: 'job.discarded',
      actor: { kind: 'operator', id: operator.id },
      details: { queue: 'ingest', job: theirs.id, events: 1 },
    },
  ]);
  await eventually(async () => {
    const now = await read(neighbour, other?.people.owner);
    expect(now.backlog.events_bytes).toBeLessThan(backlog.events_bytes);
  });
});
