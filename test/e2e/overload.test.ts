// Overload: above each high-water mark clients get 429, memory stays within its limits, queries are
// answered, and exactly the acknowledged events are stored once the workers catch up.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createIdentifyQueue } from '../../src/identity/queue.js';
import { BULK_QUEUE, createIngestQueue } from '../../src/ingest/queue.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { askRows, identify } from '../support/identify.js';
import {
  createTestDatabases,
  type Environment,
  type ProcessGroup,
  startProcesses,
  type TestDatabases,
  type TestProcess,
} from '../support/stack.js';
import { createTestProject, type EventStore, openEventStore, track } from '../support/track.js';

const MEBIBYTE = 1024 * 1024;
const DRAIN_TIMEOUT_MS = 120_000;

interface Overloaded {
  readonly databases: TestDatabases;
  readonly processes: ProcessGroup;
  readonly project: NewProject;
  readonly store: EventStore;
  readonly redis: Redis;
}

let opened: Overloaded | undefined;
let looking: NodeJS.Timeout | undefined;
const loads: Load[] = [];

afterEach(async () => {
  clearInterval(looking);
  await Promise.allSettled(loads.splice(0).map((load) => load.stop()));
  await opened?.processes.stop();
  await opened?.store.client.close();
  opened?.redis.disconnect();
  await opened?.databases.close();
  opened = undefined;
});

/**
 * Starts without a worker, so that accepted events queue up, as when ClickHouse is unavailable.
 */
async function open(limitsAt: (redisBytes: number) => Environment): Promise<Overloaded> {
  const databases = await createTestDatabases();
  const redis = createRedis(databases.config);
  const env = { ...databases.env, ...limitsAt(await usedMemory(redis)) };
  const project = await createTestProject(databases);
  const processes = await startProcesses(env, ['query', 'web']);
  opened = { databases, processes, project, store: openEventStore(databases), redis };
  return opened;
}

const usedMemory = async (redis: Redis): Promise<number> =>
  Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);

const residentMebibytes = ({ pid }: TestProcess): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers: Headers;
}

class Load {
  readonly acknowledged: string[] = [];
  refused = 0;
  readonly #stopped = new AbortController();
  readonly #clients: Promise<void>[] = [];

  constructor() {
    loads.push(this);
  }

  /** A client that sends as fast as it gets responses. `send` builds a request from a number. */
  addClient(send: (number: number) => Promise<{ ids: readonly string[]; answer: Answer }>): void {
    const running = this.#run(send, this.#clients.length * 1_000_000);
    // Thrown when the load is stopped.
    running.catch(() => this.#stopped.abort());
    this.#clients.push(running);
  }

  async #run(send: (number: number) => Promise<{ ids: readonly string[]; answer: Answer }>, first: number) {
    for (let number = first; !this.#stopped.signal.aborted; number += 1) {
      const { ids, answer } = await send(number);
      if (answer.status === 200) this.acknowledged.push(...ids);
      else {
        expect(answer).toMatchObject({ status: 429, body: { error: expect.any(String) } });
        expect(answer.headers.get('Retry-After')).toBe('60');
        this.refused += 1;
        // A real client waits for a minute.
        await delay(5);
      }
    }
  }

  /** Throws the first error of a client. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#clients);
  }
}

const untilRefused = (load: Load) => eventually(() => expect(load.refused).toBeGreaterThan(50), 30_000);

async function expectStored({ store, project }: Overloaded, load: Load): Promise<void> {
  await eventually(
    async () => expect(await store.count(project.id)).toBeGreaterThanOrEqual(load.acknowledged.length),
    DRAIN_TIMEOUT_MS,
  );
  const stored = await store.rows<{ id: string }>(project.id, 'insert_id AS id');
  expect(stored.map(({ id }) => id).sort()).toEqual([...load.acknowledged].sort());
}

test('above the limit of queued jobs /track and /identify answer 429 and lose nothing', {
  timeout: 240_000,
}, async () => {
  const JOBS_MAX = 50;
  const service = await open(() => ({ INGEST_BACKLOG_JOBS_MAX: String(JOBS_MAX) }));
  const { processes, project, redis } = service;
  const queues = [createIngestQueue(redis), createIngestQueue(redis, BULK_QUEUE), createIdentifyQueue(redis)];
  const [events, calls] = [new Load(), new Load()];
  for (let client = 0; client < 16; client += 1) {
    events.addClient(async (number) => {
      const ids = Array.from({ length: 10 }, (_, index) => `e-${number}-${index}`);
      const body = { events: ids.map((insert_id) => ({ event_type: 'a', insert_id })) };
      return { ids, answer: await track(processes.url, project.publicKey, body) };
    });
    calls.addClient(async (number) => {
      const body = { user_id: `u-${number % 1_000_000}`, user_property_ops: { $add: { calls: 1 } } };
      return { ids: [String(number)], answer: await identify(processes.url, project.publicKey, body) };
    });
  }
  await untilRefused(events);
  await untilRefused(calls);
  // Jobs added during a measurement count twice until the next one, so the last jobs may have to
  // wait for it.
  const waiting = async () => {
    const states = ['waiting', 'prioritized', 'delayed'] as const;
    const [prompt = 0, bulk = 0, identify = 0] = await Promise.all(
      queues.map((queue) => queue.getJobCountByTypes(...states)),
    );
    return { events: prompt + bulk, identify };
  };
  await eventually(async () => expect(await waiting()).toMatchObject({ identify: JOBS_MAX + 1 }));
  // Jobs of one project, which may use only its share of the backlog.
  const { events: waitingEvents } = await waiting();
  expect(waitingEvents).toBeGreaterThan(0.7 * JOBS_MAX);
  expect(waitingEvents).toBeLessThanOrEqual(JOBS_MAX + 1);
  expect(await askRows(processes.url, project.secretKey, '* | count')).toMatchObject([{ value: 0 }]);

  await processes.start('worker');
  const before = [events, calls].map((load) => load.acknowledged.length);
  await eventually(() => {
    for (const [index, load] of [events, calls].entries()) {
      expect(load.acknowledged.length).toBeGreaterThan((before[index] ?? 0) + 500);
    }
  }, 30_000);
  await Promise.all([events.stop(), calls.stop()]);
  await expectStored(service, events);
  await eventually(async () => {
    const [sum] = await askRows(processes.url, project.secretKey, 'users | sum calls');
    expect(sum?.value).toBe(calls.acknowledged.length);
  }, DRAIN_TIMEOUT_MS);
  for (const queue of queues) await queue.close();
});

test('above the high-water mark of Redis and of bytes in flight, requests get 429 and memory stays bounded', {
  timeout: 240_000,
}, async () => {
  const BACKLOG_BYTES = 160 * MEBIBYTE;
  const IN_FLIGHT_BYTES = 32 * MEBIBYTE;
  let mark = 0;
  const service = await open((redisBytes) => {
    mark = redisBytes + BACKLOG_BYTES;
    return {
      REDIS_MEMORY_HIGH_WATER_BYTES: String(mark),
      REQUEST_BYTES_IN_FLIGHT_MAX: String(IN_FLIGHT_BYTES),
    };
  });
  const { processes, project, redis } = service;
  const rest = { web: residentMebibytes(processes.get('web')), query: residentMebibytes(processes.get('query')) };
  const peaks = new Map<string, number>();
  const watched = ['web', 'query'];
  const look = async () => {
    const sizes = watched.map((name) => [name, residentMebibytes(processes.get(name))] as const);
    for (const [name, mebibytes] of [...sizes, ['redis', (await usedMemory(redis)) / MEBIBYTE] as const]) {
      peaks.set(name, Math.max(peaks.get(name) ?? 0, mebibytes));
    }
  };
  looking = setInterval(() => void look(), 100);

  const load = new Load();
  const filler = 'x'.repeat(8000);
  for (let client = 0; client < 24; client += 1) {
    load.addClient(async (number) => {
      const ids = Array.from({ length: 40 }, (_, index) => `e-${number}-${index}`);
      const event_properties = { a: filler, b: filler, c: filler };
      const body = { events: ids.map((insert_id) => ({ event_type: 'a', insert_id, event_properties })) };
      return { ids, answer: await track(processes.url, project.publicKey, body) };
    });
  }
  await untilRefused(load);
  // The project has used its share; the rest stays available to others.
  const other = await createTestProject(service.databases);
  const events = Array.from({ length: 100 }, () => ({ event_type: 'a', event_properties: { a: filler } }));
  expect(await track(processes.url, other.publicKey, { events })).toMatchObject({ status: 200 });
  expect(await track(processes.url, other.publicKey, { event_type: 'a' })).toMatchObject({ status: 200 });
  expect(await usedMemory(redis)).toBeLessThan(mark - BACKLOG_BYTES / 8);
  expect(await askRows(processes.url, project.secretKey, '* | count')).toMatchObject([{ value: 0 }]);

  await processes.start('worker');
  watched.push('worker');
  const before = load.acknowledged.length;
  await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(before + 500), 30_000);
  await load.stop();
  await expectStored(service, load);
  clearInterval(looking);

  const peak = (name: string) => peaks.get(name) ?? Number.NaN;
  // Redis: one job above the mark, and copies of what a worker reads (PAYLOAD_BYTES_AT_A_TIME) and
  // web writes, rounded up to the sizes of the allocator.
  expect(peak('redis')).toBeLessThan(mark / MEBIBYTE + 1.25 * 32 + 32);
  // In addition to the idle memory: young objects (64 MiB, three times: see the Procfile), and four
  // times the bytes in flight.
  expect(peak('web')).toBeLessThan(rest.web + 3 * 64 + (4 * IN_FLIGHT_BYTES) / MEBIBYTE);
  expect(peak('query')).toBeLessThan(rest.query + 64);
  // Payloads as parsed events, as rows, as the encoded block, and once more until collected.
  expect(peak('worker')).toBeLessThan(200 + 5 * 32);
});
