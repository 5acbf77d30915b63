// The service beside a server that only collects page views and inserts them
// (collecting-server.ts), on the same engine. Both get the same load in alternating turns. A turn
// pays for its inserts and their merges; events count as stored when they are counted.
import { type ChildProcess, spawn } from 'node:child_process';
import { forkServer } from './fork-server.js';
import { benchLatency } from './latency.js';
import { Load } from './load/load.js';
import { type Aim, atLeast, atMost, type Measurement } from './measurement.js';
import { type NamedProcess, readCpuMs } from './process-usage.js';
import { type BenchContext, countEvents, type Stack, selectNumber, untilCount, untilMergesRest } from './stack.js';
import { median } from './statistics.js';

const COUNT_EVERY_MS = 100;
/** Maximum of events answered and not yet stored, except in a burst. */
const OUTSTANDING_MAX = 200_000;
/** The messages of the load process are JSON, which has no infinity. */
const UNBOUNDED = 1e9;
const BURST_SECONDS = 10;
const TABLE = 'bench_page_views';

interface Side {
  readonly name: string;
  readonly url: string;
  processes(): NamedProcess[];
  readonly count: () => Promise<number>;
}

interface Shape {
  readonly label: string;
  readonly eventsPerRequest: number;
  readonly connections: number;
}

const SINGLE: Shape = { label: 'single page views', eventsPerRequest: 1, connections: 256 };
const BATCH: Shape = { label: '2,000 per request', eventsPerRequest: 2000, connections: 6 };

interface Turn {
  readonly storedPerSecond: number;
  /** Per 1,000 events, by process. */
  readonly cpuMs: ReadonlyMap<string, number>;
  /** Of the answered events, how many were stored when the last answer came. */
  readonly storedShare: number;
}

export async function benchCollecting(context: BenchContext): Promise<Measurement[]> {
  const { stack, report } = context;
  const server = await forkServer('collecting-server.js', {
    BENCH_CLICKHOUSE_URL: stack.clickhouseUrl,
    BENCH_DATABASE: stack.database,
  });
  const service = {
    name: 'service',
    url: stack.url,
    processes: () => stack.processes(),
    count: () => countEvents(stack),
  };
  const collecting: Side = {
    name: 'collecting',
    url: server.url,
    processes: () => [
      { name: 'collecting', pid: server.pid ?? 0 },
      ...stack.processes().filter(({ name }) => name === 'clickhouse'),
    ],
    count: () => selectNumber(stack, `SELECT count() FROM ${TABLE}`),
  };
  const sides = [service, collecting] as const;
  try {
    report(await compare(context, SINGLE, sides, { cpuAim: atMost(150) }));
    report(await compare(context, BATCH, sides, { cpuAim: atMost(25), ratioAim: atLeast(0.65) }));
    const busy = [startBusyLoop(), startBusyLoop()];
    try {
      const contended = { ...BATCH, label: `${BATCH.label}, contention` };
      report(await compare(context, contended, sides, { ratioAim: atLeast(0.5) }));
    } finally {
      for (const child of busy) child.kill();
    }
    report(await burst(context, BATCH, service));
    report(await burst(context, SINGLE, service));
    return await benchLatency(context);
  } finally {
    server.disconnect();
  }
}

interface Aims {
  readonly cpuAim?: Aim;
  readonly ratioAim?: Aim;
}

async function compare(
  { stack, isQuick, say }: BenchContext,
  shape: Shape,
  sides: readonly [service: Side, collecting: Side],
  { cpuAim, ratioAim }: Aims,
): Promise<Measurement[]> {
  const loads = await Promise.all(sides.map((side) => startLoad(stack, side.url, shape)));
  const turns: Turn[][] = sides.map(() => []);
  try {
    for (let round = 0; round < (isQuick ? 2 : 5); round += 1) {
      say(`collecting: ${shape.label}, ${round === 0 ? 'warming up' : `turn ${round}`}`);
      for (const [index, side] of sides.entries()) {
        const turn = await takeTurn(stack, side, loads[index] as Load, { seconds: isQuick ? 2 : 6 });
        if (round > 0) turns[index]?.push(turn);
      }
    }
  } finally {
    await Promise.all(loads.map((load) => load.stop()));
  }
  const [ours, theirs] = turns as [Turn[], Turn[]];
  const ratios = ours.map(
    ({ storedPerSecond }, index) => storedPerSecond / (theirs[index]?.storedPerSecond ?? Number.NaN),
  );
  return [
    ...sides.map(({ name }, index) => ({
      name: `${shape.label}: stored, ${name}`,
      value: median((turns[index] ?? []).map(({ storedPerSecond }) => storedPerSecond)),
      unit: '/s',
    })),
    { name: `${shape.label}: stored, ratio`, value: median(ratios), unit: '', ...(ratioAim && { aim: ratioAim }) },
    ...sides.map(({ name }, index) => ({
      name: `${shape.label}: CPU per 1,000, ${name}`,
      value: median((turns[index] ?? []).map(({ cpuMs }) => sum(cpuMs.values()))),
      unit: 'ms',
      ...(index === 0 && cpuAim && { aim: cpuAim }),
    })),
    ...sides.flatMap(({ name: side }, index) =>
      [...(turns[index]?.[0]?.cpuMs.keys() ?? [])].map((name) => ({
        name: `${shape.label}: CPU per 1,000, ${side}: ${name}`,
        value: median((turns[index] ?? []).map(({ cpuMs }) => cpuMs.get(name) ?? 0)),
        unit: 'ms',
      })),
    ),
  ];
}

/** Everything is sent as fast as it is answered, however much is not stored yet. */
async function burst({ stack, isQuick, say }: BenchContext, shape: Shape, side: Side): Promise<Measurement[]> {
  say(`collecting: burst, ${shape.label}`);
  const load = await startLoad(stack, side.url, shape);
  try {
    const seconds = isQuick ? 2 : BURST_SECONDS;
    await takeTurn(stack, side, load, { seconds: 2 });
    const turn = await takeTurn(stack, side, load, { seconds, outstandingMax: UNBOUNDED });
    const name = `burst of ${seconds} s, ${shape.label}: stored over answered`;
    return [{ name, value: turn.storedShare, unit: '', aim: atLeast(0.8) }];
  } finally {
    await load.stop();
  }
}

async function takeTurn(
  stack: Stack,
  side: Side,
  load: Load,
  { seconds, outstandingMax = OUTSTANDING_MAX }: { seconds: number; outstandingMax?: number },
): Promise<Turn> {
  const before = await side.count();
  const cpuBefore = readCpuMs(side.processes());
  const startedMs = performance.now();
  const { accepted } = await load.runWithin(
    { durationMs: seconds * 1000, eventsMax: 10_000_000 },
    { count: side.count, before, outstandingMax, countEveryMs: COUNT_EVERY_MS },
  );
  const storedShare = ((await side.count()) - before) / accepted;
  await untilCount(side.count, before + accepted);
  const elapsedMs = performance.now() - startedMs;
  await untilMergesRest(stack);
  const cpu = [...readCpuMs(side.processes())];
  return {
    storedPerSecond: (accepted * 1000) / elapsedMs,
    cpuMs: new Map(cpu.map(([name, ms]) => [name, ((ms - (cpuBefore.get(name) ?? 0)) * 1000) / accepted])),
    storedShare,
  };
}

const startLoad = (stack: Stack, url: string, { eventsPerRequest, connections }: Shape): Promise<Load> =>
  Load.start({
    ...{ url, key: stack.publicKey, eventsPerRequest, connections, arePageViews: true },
    bodies: Math.max(32, Math.ceil(8000 / eventsPerRequest)),
  });

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);

/** Keeps a core busy. */
const startBusyLoop = (): ChildProcess => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
