// Batched events per second from HTTP to queryable, with exact counts, relative to the engine
// alone; and CPU per process. Single events are in single.ts.
import { measureEngine } from './engine-rate.js';
import { Load } from './load/load.js';
import type { RunLimits } from './load/protocol.js';
import { atLeast, atMost, type Measurement } from './measurement.js';
import { readCpuMs } from './process-usage.js';
import { type BenchContext, countEvents, type Stack, untilCounted, untilMergesRest } from './stack.js';

const CONNECTIONS = 6;
const LOAD = 'load';
const COUNT_EVERY_MS = 250;
/** Maximum of events accepted and not yet stored; beyond it the load generator waits. */
const OUTSTANDING_MAX = 200_000;

interface EndToEndRun {
  readonly events: number;
  readonly elapsedMs: number;
  readonly cpuMs: ReadonlyMap<string, number>;
  readonly loadCpuMs: number;
  readonly answerP99Ms: number;
  readonly bytesPerEvent: number;
}

export async function benchIngest({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const warmUp: RunLimits = { durationMs: isQuick ? 4000 : 20_000, eventsMax: 2_000_000 };
  const counted: RunLimits = { durationMs: isQuick ? 4000 : 20_000, eventsMax: 2_000_000 };
  const measurements: Measurement[] = [];
  for (const eventsPerRequest of [2000, 200]) {
    const load = await startLoad(stack, eventsPerRequest);
    try {
      say(`${eventsPerRequest} per request: warming up`);
      await runToEnd(stack, load, warmUp);
      await untilMergesRest(stack);
      say(`${eventsPerRequest} per request: counting`);
      const run = await runToEnd(stack, load, counted);
      // Wait for merges, so that each measurement pays only for its own.
      await untilMergesRest(stack);
      say(`${eventsPerRequest} per request: the engine alone`);
      const engine = await measureEngine(stack, Math.min(run.events, isQuick ? 50_000 : 600_000));
      measurements.push(...toMeasurements(eventsPerRequest, run, engine));
    } finally {
      await load.stop();
    }
  }
  return measurements;
}

/** Events per second of the load generator, from HTTP to queryable, at 2,000 per request. */
export async function measureLoad(stack: Stack, durationMs: number): Promise<number> {
  const load = await startLoad(stack, 2000);
  try {
    const { events, elapsedMs } = await runToEnd(stack, load, { durationMs, eventsMax: 2_000_000 });
    return (events * 1000) / elapsedMs;
  } finally {
    await load.stop();
  }
}

const startLoad = (stack: Stack, eventsPerRequest: number): Promise<Load> =>
  Load.start({
    url: stack.url,
    key: stack.publicKey,
    eventsPerRequest,
    connections: CONNECTIONS,
    bodies: Math.ceil(100_000 / eventsPerRequest),
  });

/**
 * Time from the first request until the last event is counted; throws unless each accepted event is
 * stored exactly once.
 */
async function runToEnd(stack: Stack, load: Load, limits: RunLimits): Promise<EndToEndRun> {
  const before = await countEvents(stack);
  const watched = [...stack.processes(), { name: LOAD, pid: load.pid }];
  const cpuBefore = readCpuMs(watched);
  const startedMs = performance.now();
  const summary = await load.runWithin(limits, {
    ...{ count: () => countEvents(stack), before },
    ...{ outstandingMax: OUTSTANDING_MAX, countEveryMs: COUNT_EVERY_MS },
  });
  await untilCounted(stack, before + summary.accepted);
  const elapsedMs = performance.now() - startedMs;

  const cpuMs = new Map([...readCpuMs(watched)].map(([name, ms]) => [name, ms - (cpuBefore.get(name) ?? 0)]));
  const loadCpuMs = cpuMs.get(LOAD) ?? 0;
  cpuMs.delete(LOAD);
  return {
    events: summary.accepted,
    elapsedMs,
    cpuMs,
    loadCpuMs,
    answerP99Ms: summary.answerP99Ms,
    bytesPerEvent: summary.bytesPerEvent,
  };
}

function toMeasurements(
  perRequest: number,
  run: EndToEndRun,
  engine: { rows: number; elapsedMs: number },
): Measurement[] {
  const rate = (run.events * 1000) / run.elapsedMs;
  const engineRate = (engine.rows * 1000) / engine.elapsedMs;
  const perThousand = (ms: number) => (ms * 1000) / run.events;
  const sum = [...run.cpuMs.values()].reduce((total, ms) => total + ms, 0);
  const label = `${perRequest} per request`;
  return [
    { name: `${label}: events to queryable`, value: rate, unit: '/s' },
    { name: `${label}: engine alone, same rows`, value: engineRate, unit: '/s' },
    { name: `${label}: ratio to the engine alone`, value: rate / engineRate, unit: '', aim: atLeast(0.6) },
    {
      name: `${label}: CPU per 1,000 events, all processes`,
      value: perThousand(sum),
      unit: 'ms',
      ...(perRequest === 2000 && { aim: atMost(65) }),
    },
    ...[...run.cpuMs].map(([name, ms]) => ({ name: `${label}: CPU of ${name}`, value: perThousand(ms), unit: 'ms' })),
    { name: `${label}: CPU of the load (not in the sum)`, value: perThousand(run.loadCpuMs), unit: 'ms' },
    { name: `${label}: answer, 99th percentile at saturation`, value: run.answerP99Ms, unit: 'ms' },
    { name: `${label}: size of an event on the wire`, value: run.bytesPerEvent, unit: 'bytes' },
  ];
}
