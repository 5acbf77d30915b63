// Three ClickHouse servers beside one, on the same cores: ingestion of three projects that live on
// one of them or on one each, in alternating rounds; questions of one project while the service
// knows of the others and while it does not, in alternating rounds; what looking up placements
// costs; and the latency of a project while the server of another hangs, then is dead, and its
// events wait.
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewProject } from '../src/accounts/store.js';
import { PlacementCache } from '../src/ingest/placement-cache.js';
import type { ClickHouseClient } from '../src/platform/clickhouse/client.js';
import {
  addEngines,
  createProjects,
  type FurtherEngine,
  showFurtherShards,
  startFurtherEngine,
} from './further-engine.js';
import { measureLatency } from './latency.js';
import { Load } from './load/load.js';
import { atLeast, atMost, type Measurement } from './measurement.js';
import { readCpuMs } from './process-usage.js';
import { ask, type BenchContext, type Stack, selectNumber, untilCount, untilMergesRest } from './stack.js';
import { median, percentile } from './statistics.js';

const SERVERS = 3;
const EVENTS_PER_REQUEST = 2000;
const OUTSTANDING_MAX = 70_000;
const POLL_MS = 100;
const QUESTION = '* | last 7d | count by day';

/** A project, and the server that has it. */
interface Target {
  readonly clickhouse: ClickHouseClient;
  readonly id: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

interface Sizes {
  readonly seconds: number;
  readonly rounds: number;
  readonly questions: number;
  readonly latencies: number;
}

const FULL: Sizes = { seconds: 12, rounds: 4, questions: 60, latencies: 60 };
const QUICK: Sizes = { seconds: 2, rounds: 1, questions: 10, latencies: 4 };

export async function benchShards({ stack, isQuick, say, report }: BenchContext): Promise<Measurement[]> {
  const sizes = isQuick ? QUICK : FULL;
  const engines: FurtherEngine[] = [];
  try {
    const home = { clickhouse: stack.clickhouse, id: stack.projectId, ...keysOf(stack) };
    const neighbours = await createProjects(stack.directory, SERVERS - 1);
    const onOne = [home, ...neighbours.map((project) => ({ clickhouse: stack.clickhouse, ...project }))];
    say('one server: warming up');
    await ingest(stack, onOne, sizes);
    await untilMergesRest(stack);
    say('adding two servers');
    for (let server = 2; server <= SERVERS; server += 1) {
      engines.push(await startFurtherEngine(`${stack.directory}/shard-${server}`, stack.database));
    }
    const added = await addEngines(stack.directory, engines);
    const onThree = [home, ...added.map((project, index) => toTarget(project, engines[index]))];
    report(await compareQuestions(stack, home, sizes, say));

    await ingest(stack, onThree, sizes);
    report(await compareIngestion(stack, { onOne, onThree, engines }, sizes, say));
    return await measureBesideLost(stack, { home, lost: onThree.at(-1), engine: engines.at(-1) }, sizes, say);
  } finally {
    for (const engine of engines) await engine.stop();
  }
}

const keysOf = ({ publicKey, secretKey }: Stack) => ({ publicKey, secretKey });

function toTarget(project: NewProject, engine: FurtherEngine | undefined): Target {
  if (engine === undefined) throw new Error('a server is missing');
  return { clickhouse: engine.clickhouse, ...project };
}

async function compareQuestions(
  stack: Stack,
  home: Target,
  { rounds, questions }: Sizes,
  say: (message: string) => void,
): Promise<Measurement[]> {
  const asked: Record<'one' | 'three', { service: number; engine: number }>[] = [];
  const askWhile = async (isShown: boolean) => {
    await showFurtherShards(stack.directory, isShown);
    const { service, engine } = await askOften(stack, home, questions);
    return { service: median(service), engine: median(engine) };
  };
  await untilMergesRest(stack);
  for (let round = 1; round <= rounds; round += 1) {
    say(`questions, round ${round}`);
    asked.push({ one: await askWhile(false), three: await askWhile(true) });
  }
  const ratioOf = (part: 'service' | 'engine') => median(asked.map(({ one, three }) => three[part] / one[part]));
  return [
    { name: 'a question, one server', value: median(asked.map(({ one }) => one.service)), unit: 'ms' },
    { name: 'the same, three servers', value: median(asked.map(({ three }) => three.service)), unit: 'ms' },
    { name: 'its ratio', value: ratioOf('service'), unit: '', aim: atMost(1.03) },
    { name: 'ratio of the engine alone meanwhile', value: ratioOf('engine'), unit: '' },
  ];
}

interface Ingested {
  readonly events: number;
  readonly perSecond: number;
  /** Of the processes of the service, without engines, per 1,000 events. */
  readonly cpuMs: number;
  /** Of all ClickHouse servers, per 1,000 events. */
  readonly engineCpuMs: number;
  readonly eventsPerInsert: number;
}

/** From the first request until every accepted event is stored once. */
async function ingest(
  stack: Stack,
  targets: readonly Target[],
  { seconds, engines = [] }: { seconds: number; engines?: readonly FurtherEngine[] },
): Promise<Ingested> {
  const loads = await Promise.all(
    targets.map(({ publicKey }) =>
      Load.start({
        ...{ url: stack.url, key: publicKey, eventsPerRequest: EVENTS_PER_REQUEST },
        ...{ connections: 2, bodies: 20 },
      }),
    ),
  );
  try {
    const before = { ...readCpu(stack, engines), inserts: await countInserts(targets) };
    const startedMs = performance.now();
    const counts = await Promise.all(targets.map((target, index) => ingestInto(target, loads[index] as Load, seconds)));
    const elapsedMs = performance.now() - startedMs;
    const events = counts.reduce((total, count) => total + count, 0);
    const after = { ...readCpu(stack, engines), inserts: await countInserts(targets) };
    const perThousand = (ms: number) => (ms * 1000) / events;
    return {
      ...{ events, perSecond: (events * 1000) / elapsedMs },
      cpuMs: perThousand(after.service - before.service),
      engineCpuMs: perThousand(after.engines - before.engines),
      eventsPerInsert: events / (after.inserts - before.inserts),
    };
  } finally {
    await Promise.all(loads.map((load) => load.stop()));
  }
}

/** Milliseconds until now of the service, and of the ClickHouse servers, idle ones included. */
function readCpu(stack: Stack, engines: readonly FurtherEngine[]): { service: number; engines: number } {
  const processes = stack.processes();
  const service = processes.filter(({ name }) => ['web', 'worker', 'query'].includes(name));
  const further = engines.flatMap(({ pid }, index) => (pid === undefined ? [] : [{ name: `further ${index}`, pid }]));
  const servers = [...processes.filter(({ name }) => name === 'clickhouse'), ...further];
  return { service: sum(readCpuMs(service)), engines: sum(readCpuMs(servers)) };
}

/** So far, on the servers of the projects: each insert has the next number in its partition. */
async function countInserts(targets: readonly Target[]): Promise<number> {
  const servers = [...new Map(targets.map((target) => [target.clickhouse, target])).values()];
  const query = `SELECT sum(last) FROM (
    SELECT max(max_block_number) AS last FROM system.parts
    WHERE database = currentDatabase() AND table = 'events' GROUP BY partition)`;
  const counts = await Promise.all(servers.map((server) => selectNumber(server, query)));
  return counts.reduce((total, count) => total + count, 0);
}

const sum = (values: ReadonlyMap<string, number>): number =>
  [...values.values()].reduce((total, value) => total + value, 0);

async function ingestInto(target: Target, load: Load, seconds: number): Promise<number> {
  const count = () => selectNumber(target, `SELECT count() FROM events WHERE project_id = '${target.id}'`);
  const before = await count();
  const { accepted } = await load.runWithin(
    { durationMs: seconds * 1000, eventsMax: 2_000_000 },
    { count, before, outstandingMax: OUTSTANDING_MAX, countEveryMs: POLL_MS },
  );
  await untilCount(count, before + accepted);
  return accepted;
}

async function compareIngestion(
  stack: Stack,
  { onOne, onThree, engines }: { onOne: readonly Target[]; onThree: readonly Target[]; engines: FurtherEngine[] },
  sizes: Sizes,
  say: (message: string) => void,
): Promise<Measurement[]> {
  const rounds: { one: Ingested; three: Ingested }[] = [];
  for (let round = 1; round <= sizes.rounds; round += 1) {
    say(`ingestion, round ${round}`);
    rounds.push({
      one: await ingest(stack, onOne, { ...sizes, engines }),
      three: await ingest(stack, onThree, { ...sizes, engines }),
    });
  }
  const cpuMs = median(rounds.map(({ three }) => three.cpuMs));
  const ratio = median(rounds.map(({ one, three }) => three.perSecond / one.perSecond));
  const lookupMs = (await timeLookups(onThree)) / (EVENTS_PER_REQUEST / 1000);
  return [
    { name: 'three projects on one server', value: median(rounds.map(({ one }) => one.perSecond)), unit: '/s' },
    { name: 'the same on three', value: median(rounds.map(({ three }) => three.perSecond)), unit: '/s' },
    { name: 'events in an insert, one server', value: median(rounds.map(({ one }) => one.eventsPerInsert)), unit: '' },
    { name: 'the same, three servers', value: median(rounds.map(({ three }) => three.eventsPerInsert)), unit: '' },
    {
      name: 'CPU of one ClickHouse per 1,000 events',
      value: median(rounds.map(({ one }) => one.engineCpuMs)),
      unit: 'ms',
    },
    { name: 'the same of three', value: median(rounds.map(({ three }) => three.engineCpuMs)), unit: 'ms' },
    { name: 'ingestion of three servers over one', value: ratio, unit: '', aim: atLeast(0.9) },
    { name: 'CPU of web and worker per 1,000 events', value: cpuMs, unit: 'ms' },
    { name: 'looking up placements of 1,000 events', value: lookupMs, unit: 'ms' },
    { name: 'its share of that CPU', value: (lookupMs / cpuMs) * 100, unit: '%', aim: atMost(1) },
  ];
}

const LOOKUPS = 20_000;

/** Milliseconds of CPU for the lookup of one job, as a worker does it. */
async function timeLookups(targets: readonly Target[]): Promise<number> {
  const placements = new Map(targets.map(({ id }, index) => [id, { shard: index + 1, epoch: 1, isMoving: false }]));
  const cache = new PlacementCache({
    known: [],
    read: async () => [],
    areSeveral: async () => true,
    placementsOf: async () => placements,
  });
  const projects = targets.map(({ id }) => new Set([id]));
  const before = process.cpuUsage();
  for (let job = 0; job < LOOKUPS; job += 1) {
    const of = projects[job % projects.length] ?? new Set();
    const placementOf = await cache.of(of, 'version');
    for (const id of of) placementOf(id);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / LOOKUPS;
}

/** Milliseconds of each question, and of the same count asked of the engine in between. */
async function askOften(stack: Stack, { id }: Target, times: number): Promise<{ service: number[]; engine: number[] }> {
  const [service, engine]: [number[], number[]] = [[], []];
  const direct = `SELECT count() FROM events WHERE project_id = '${id}' AND time > now() - INTERVAL 7 DAY`;
  for (let time = -3; time < times; time += 1) {
    const startedMs = performance.now();
    await ask(stack, QUESTION);
    const askedMs = performance.now();
    await selectNumber(stack, direct);
    if (time < 0) continue;
    service.push(askedMs - startedMs);
    engine.push(performance.now() - askedMs);
  }
  return { service, engine };
}

interface Losing {
  readonly home: Target;
  /** Lives on the server that hangs, and then is dead. */
  readonly lost: Target | undefined;
  readonly engine: FurtherEngine | undefined;
}

async function measureBesideLost(
  stack: Stack,
  { home, lost, engine }: Losing,
  { latencies, questions }: Sizes,
  say: (message: string) => void,
): Promise<Measurement[]> {
  if (lost === undefined || engine === undefined) throw new Error('a server is missing');
  const measure = async (beside: string) => {
    say(`latency beside ${beside}`);
    const counted = await measureLatency(stack, `latency_${Date.now()}`, latencies);
    return { counted, asked: (await askOften(stack, home, questions)).service };
  };
  await untilMergesRest(stack);
  const usual = await measure('all servers');
  const measurements: Measurement[] = [{ name: 'accepted to counted', value: median(usual.counted), unit: 'ms' }];
  const stopping = new AbortController();
  const sending = sendTo(stack, lost.publicKey, stopping.signal);
  try {
    for (const [server, lose] of [
      ['a hung server', () => engine.hang()],
      ['a dead server', () => engine.stop()],
    ] as const) {
      await lose();
      const beside = await measure(server);
      const ratioOf = (
        name: string,
        of: (measured: typeof usual) => number,
        aim?: Measurement['aim'],
      ): Measurement => ({
        ...{ name: `${name} beside ${server}, ratio`, value: of(beside) / of(usual), unit: '' },
        ...(aim && { aim }),
      });
      measurements.push(
        ratioOf('accepted to counted', ({ counted }) => median(counted), atMost(1.1)),
        ratioOf('its 95th percentile', ({ counted }) => percentile(counted, 0.95)),
        ratioOf('a question', ({ asked }) => median(asked), atMost(1.1)),
      );
    }
    return measurements;
  } finally {
    stopping.abort();
    await sending;
  }
}

/** Ten events a second that wait for the lost server. */
async function sendTo({ url }: Stack, key: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const response = await fetch(`${url}/track`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify({ event_type: 'waits', user_id: 'waiting' }),
    });
    await response.arrayBuffer();
    await sleep(POLL_MS);
  }
}
