// `npm run jobs` with real dead letters: a worker rejects jobs, and replays one on request.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createIngestQueue, enqueueIngest, type IngestQueue } from '../../src/ingest/queue.js';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { newUuidV7 } from '../../src/platform/ids.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { type Ended, runScript } from '../support/run-script.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let processes: ProcessGroup;
let redis: Redis;
let queue: IngestQueue;

beforeAll(async () => {
  databases = await createTestDatabases({ WORKER_JOBS: 'ingest-events', LOG_LEVEL: 'error' });
  redis = createRedis(databases.config);
  queue = createIngestQueue(redis);
  processes = await startProcesses(databases.env, ['worker']);
});

afterAll(async () => {
  await processes?.stop();
  await queue?.close();
  redis?.disconnect();
  await databases?.close();
});

beforeEach(async () => {
  // Of a first attempt that failed.
  await queue.clean(0, 100, 'failed');
});

const jobs = (...args: string[]): Promise<Ended> => runScript(['dist/cli/jobs.js', ...args], databases.env);

/** Makes a dead letter: a job whose payload is missing in Redis, so that every attempt fails. */
async function park(): Promise<{ id: string; claim: string }> {
  await processes.get('worker').kill('SIGTERM');
  await enqueueIngest(queue, redis, { items: [], weight: 0 });
  const [job] = await queue.getWaiting();
  if (job?.id === undefined) throw new Error('the job does not wait');
  await redis.unlink(job.data.claim);
  await processes.start('worker');
  await eventually(async () => expect(await queue.getFailedCount()).toBe(1));
  return { id: job.id, claim: job.data.claim };
}

test('npm run jobs lists, shows, replays and discards dead letters', async () => {
  expect(await jobs('list')).toEqual({ status: 0, output: 'there are no dead letters\n' });
  const { id, claim } = await park();
  expect((await jobs('list')).output).toMatch(new RegExp(`^ingest  ${id}  .* the events of the job are missing`));
  expect(JSON.parse((await jobs('show', 'ingest', id)).output)).toMatchObject({ payload: { claim }, requests: [] });

  // With its payload restored, the job succeeds.
  await redis.set(claim, '');
  expect(await jobs('replay', 'ingest', '--all')).toEqual({ status: 0, output: '1 job runs again\n' });
  await eventually(async () =>
    expect(await queue.getJobCounts('waiting', 'active', 'failed')).toEqual({ waiting: 0, active: 0, failed: 0 }),
  );

  const second = await park();
  expect(await jobs('discard', 'ingest', second.id)).toMatchObject({ status: 0 });
  expect(await queue.getFailedCount()).toBe(0);
});

test('only the rejected event of a group commit becomes a dead letter', async () => {
  const clickhouse = createClickHouse(databases.config);
  const countEvents = async () => {
    const answer = await clickhouse.query({ query: 'SELECT insert_id FROM events', format: 'JSONEachRow' });
    return (await answer.json<{ insert_id: string }>()).map(({ insert_id }) => insert_id).sort();
  };
  await clickhouse.command({ query: 'TRUNCATE TABLE events' });
  // A constraint rejects the event, because ClickHouse rejects no event that the API accepts.
  const constraint = "ADD CONSTRAINT IF NOT EXISTS no_poison CHECK insert_id != 'e-57'";
  await clickhouse.command({ query: `ALTER TABLE events ${constraint}` });
  const ids = Array.from({ length: 100 }, (_, index) => `e-${index}`);
  const body = JSON.stringify({ events: ids.map((id) => ({ event_type: 'a', insert_id: id })) });
  const shared = { v: 1, p: newUuidV7(), t: Date.now(), ip: '', ua: '', geo: {}, o: 'unknown' } as const;
  const items = [
    { header: { ...shared, r: 'request-poison', n: 100 }, body: Buffer.from(body) },
    { header: { ...shared, r: 'request-good', n: 1 }, body: Buffer.from('{"event_type":"a","insert_id":"e-100"}') },
  ];
  await enqueueIngest(queue, redis, { items, weight: 101 });

  await eventually(async () => expect((await jobs('list')).output).toContain('1 of 101 events were refused'));
  expect(await countEvents()).toEqual([...ids, 'e-100'].filter((id) => id !== 'e-57').sort());
  const [job] = await queue.getFailed();
  const { requests, payload } = JSON.parse((await jobs('show', 'ingest', job?.id ?? '')).output);
  expect(requests).toMatchObject([{ header: { r: 'request-poison' } }]);
  expect(payload.requests).toEqual(['request-poison']);
  expect(processes.get('worker').output.join('\n')).toContain('"requests":["request-poison"]');
  expect(JSON.parse(requests[0].body).events.filter(Boolean)).toEqual([{ event_type: 'a', insert_id: 'e-57' }]);

  await clickhouse.command({ query: 'ALTER TABLE events DROP CONSTRAINT no_poison' });
  await jobs('replay', 'ingest', job?.id ?? '');
  await eventually(async () => expect(await countEvents()).toEqual([...ids, 'e-100'].sort()));
  await clickhouse.close();
});

test('npm run jobs asks a PostgreSQL that does not answer for shards only, and says what it leaves out', async () => {
  let connections = 0;
  const silent = createServer(() => (connections += 1)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const env = {
    ...databases.env,
    DATABASE_URL: `postgres://a@127.0.0.1:${(silent.address() as AddressInfo).port}/a`,
  };
  try {
    expect((await runScript(['dist/cli/jobs.js', '--help'], env)).output).toMatch(/^usage: /);
    expect(connections).toBe(0);
    const leftOut = 'PostgreSQL (DATABASE_URL) does not say which shards there are: only the first is looked at\n';
    const { status, output } = await runScript(['dist/cli/jobs.js', 'list'], env);
    expect({ status, output }).toEqual({ status: 0, output: `${leftOut}there are no dead letters\n` });
  } finally {
    silent.close();
  }
});

test.each([
  [['burn'], 2, 'there is no command "burn"'],
  [['show', 'ingest'], 2, 'show needs a queue and the id of a job'],
  [['show', 'outgest', '1'], 2, 'there is no queue "outgest"'],
  [['discard', 'ingest', '--all'], 2, 'discard takes one job at a time'],
  [['replay', 'ingest', 'nothing'], 1, 'the queue ingest has no job nothing'],
])('npm run jobs rejects %j with status %i and a message', async (args, expected, sentence) => {
  const { status, output } = await jobs(...args);
  expect(status).toBe(expected);
  expect(output).toContain(sentence);
});
