// Identify calls give the result of applying them in the order of acceptance: thousands of random
// calls through several web and worker processes, with killed workers, cut PostgreSQL connections
// and replayed jobs, compared with a reference implementation.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../bench/random.js';
import type { NewProject } from '../../src/accounts/store.js';
import { createIdentifyQueue, type IdentifyJob, type IdentifyQueue } from '../../src/identity/queue.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { askRows, identify } from '../support/identify.js';
import { applyInOrder, type Call, type Model, randomCall } from '../support/identify-model.js';
import { SEED } from '../support/seed.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, type EventStore, openEventStore } from '../support/track.js';

const ROUNDS = 5;
const CLIENTS = 8;
const CALLS_PER_CLIENT = 50;
const WORKERS = ['worker', 'worker-2', 'worker-3'];

let databases: TestDatabases;
let postgres: Postgres;
let redis: Redis;
let queue: IdentifyQueue;
let store: EventStore;
let project: NewProject;
let processes: ProcessGroup;
let secondWeb: ProcessGroup;

beforeAll(async () => {
  // Expected failures of cut connections and killed processes are not logged.
  databases = await createTestDatabases({ LOG_LEVEL: 'fatal' });
  postgres = createPostgres(databases.config, { poolMax: 2 });
  redis = createRedis(databases.config);
  queue = createIdentifyQueue(redis);
  store = openEventStore(databases);
  project = await createTestProject(databases);
  processes = await startProcesses(databases.env, ['worker', 'query', 'web']);
  secondWeb = await startProcesses(databases.env, ['web']);
  for (const name of WORKERS.slice(1)) await processes.start('worker', name);
});

afterAll(async () => {
  await Promise.all([processes?.stop(), secondWeb?.stop()]);
  await queue?.close();
  await store?.client.close();
  await postgres?.destroy();
  redis?.disconnect();
  await databases?.close();
});

const random = createRandom(SEED);
const sent = new Map<number, { call: Call; client: number }>();
const accepted: { seq: number; call: Call; client: number }[] = [];
const jobs: IdentifyJob[] = [];

/** Each client sends one call after the other, every other one to the other web process. */
async function sendRound(): Promise<void> {
  const send = async (client: number): Promise<void> => {
    for (let index = 0; index < CALLS_PER_CLIENT; index += 1) {
      const mark = sent.size;
      const call = randomCall(random, mark);
      sent.set(mark, { call, client });
      const { url } = index % 2 === 0 ? processes : secondWeb;
      expect(await identify(url, project.publicKey, call)).toMatchObject({ status: 200, body: { ok: true } });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => send(client)));
}

/** The waiting batches of the paused queue, with the sequence numbers of their calls. */
async function noteAccepted(): Promise<void> {
  const noted = new Set(jobs.map(({ batch }) => batch));
  const waiting = (await queue.getJobs(['waiting', 'prioritized', 'active', 'delayed'])).flatMap(
    (job) => job?.data ?? [],
  );
  for (const job of waiting.filter(({ batch }) => !noted.has(batch))) {
    noted.add(job.batch);
    jobs.push(job);
    for (const { seq, ops } of job.operations) {
      const original = sent.get(Number(ops.set?.mark));
      if (original === undefined) throw new Error('a call is queued that no client has sent');
      accepted.push({ seq, ...original });
    }
  }
}

async function replaySome(): Promise<void> {
  for (let count = 0; count < 10; count += 1) {
    const job = jobs[Math.floor(random() * jobs.length)];
    if (job !== undefined) await queue.add('batch', job);
  }
}

/** Resolves when the fault is over, with the start of the killed worker, which goes on. */
async function injectFault(): Promise<{ readonly starting: Promise<unknown> }> {
  const victim = WORKERS[Math.floor(random() * WORKERS.length)] as string;
  await processes.get(victim).kill('SIGKILL');
  await replaySome();
  await postgres.raw(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'event-analytics-service'`,
  );
  return { starting: processes.start('worker', victim) };
}

async function untilDone(): Promise<void> {
  await eventually(async () => {
    expect(await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed')).toEqual({
      prioritized: 0,
      waiting: 0,
      active: 0,
      delayed: 0,
      failed: 0,
    });
    expect(await redis.zcard('identity:pending')).toBe(0);
    expect(await postgres('identity_outbox').count()).toEqual([{ count: '0' }]);
  }, 180_000);
}

async function storedProfiles(): Promise<Model['profiles']> {
  const rows = await postgres('profiles').where({ project_id: project.id });
  const entries = rows.map(({ user_id, properties, email, email_domain, first_seen, last_seen }) => [
    user_id,
    { properties, email, email_domain, first_seen: first_seen.getTime(), last_seen: last_seen.getTime() },
  ]);
  return Object.fromEntries(entries);
}

async function queriedProfiles(): Promise<Model['profiles']> {
  const rows = await askRows(processes.url, project.secretKey, 'users | list');
  const entries = rows.map(({ user_id, properties, email, email_domain, first_seen, last_seen }) => [
    user_id,
    {
      properties,
      email,
      email_domain,
      first_seen: Date.parse(String(first_seen)),
      last_seen: Date.parse(String(last_seen)),
    },
  ]);
  return Object.fromEntries(entries);
}

async function storedMappings(): Promise<Model['mappings']> {
  const rows = await postgres('device_mappings').where({ project_id: project.id }).orderBy('seq');
  return Object.fromEntries(rows.map(({ device_id, user_id }) => [device_id, user_id]));
}

async function copiedMappings(): Promise<Model['mappings']> {
  const result = await store.client.query({
    query: 'SELECT device_id, user_id FROM device_map FINAL WHERE project_id = {projectId:UUID}',
    query_params: { projectId: project.id },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ device_id: string; user_id: string }>();
  return Object.fromEntries(rows.map(({ device_id, user_id }) => [device_id, user_id]));
}

test(`profiles equal the reference after killed workers, cut connections and replays, seed ${SEED}`, async () => {
  let starting: Promise<unknown> = Promise.resolve();
  for (let round = 0; round < ROUNDS; round += 1) {
    // Paused, so that every batch can be recorded; active jobs continue.
    await queue.pause();
    await sendRound();
    await noteAccepted();
    await starting;
    await queue.resume();
    await delay(random() * 300);
    // It starts while the calls of the next round are sent.
    ({ starting } = await injectFault());
  }
  await starting;
  await untilDone();
  await replaySome();
  await untilDone();

  accepted.sort((one, other) => one.seq - other.seq);
  expect(accepted).toHaveLength(ROUNDS * CLIENTS * CALLS_PER_CLIENT);
  expect(new Set(accepted.map(({ seq }) => seq)).size).toBe(accepted.length);
  for (let client = 0; client < CLIENTS; client += 1) {
    const marks = accepted
      .filter((call) => call.client === client)
      .map(({ call }) => call.user_property_ops?.$set?.mark);
    expect(marks, 'the calls of one client keep their order').toEqual(marks.toSorted((a, b) => Number(a) - Number(b)));
  }

  const model = applyInOrder(accepted);
  expect(await storedProfiles()).toEqual(model.profiles);
  expect(await queriedProfiles()).toEqual(model.profiles);
  expect(await storedMappings()).toEqual(model.mappings);
  expect(await copiedMappings()).toEqual(model.mappings);
}, 360_000);
