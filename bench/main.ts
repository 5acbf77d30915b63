// `npm run bench [-- name…] [--quick]`: runs each benchmark on its own fresh stack, prints results
// beside their aims, and writes them to bench/results.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/platform/errors.js';
import { packageRoot } from '../src/platform/paths.js';
import { benchAgents } from './agents.js';
import { benchCache, KEEPS_ANSWERS } from './cache.js';
import { benchCatalog } from './catalog.js';
import { benchCollecting } from './collecting.js';
import { benchConsole } from './console.js';
import { benchDefinitions } from './definitions.js';
import { benchErasure } from './erasure.js';
import { benchExact } from './exact.js';
import { benchExport } from './export.js';
import { benchIdentify } from './identify.js';
import { benchIdle } from './idle.js';
import { benchImport } from './import.js';
import { benchImportSources } from './import-sources.js';
import { benchIngest } from './ingest.js';
import { benchLatency } from './latency.js';
import { describeMachine } from './machine.js';
import { type BenchResult, formatNumber, type Measurement, toTable } from './measurement.js';
import { benchProtocols } from './protocols.js';
import { benchQuery } from './query.js';
import { benchShards } from './shards.js';
import { benchSingle } from './single.js';
import { benchForms, benchSources } from './sources.js';
import type { BenchContext } from './stack.js';
import { benchStart } from './start.js';
import { startStack, UNLIMITED } from './start-stack.js';

/** Of a benchmark without a stack of its own. */
type StackFree = Omit<BenchContext, 'stack'>;

interface Bench {
  readonly name: string;
  /** Resolves with the measurements that it has not reported yet. */
  readonly run: (context: BenchContext) => Promise<Measurement[]>;
  /** Timeout, about twice the usual duration. */
  readonly minutesMax: number;
  /** Beside those that are for all. */
  readonly settings?: Readonly<Record<string, string>>;
}

const BENCHES: readonly Bench[] = [
  { name: 'ingest', run: benchIngest, minutesMax: 6 },
  { name: 'ingest-single', run: benchSingle, minutesMax: 4 },
  { name: 'collecting', run: benchCollecting, minutesMax: 15 },
  { name: 'protocols', run: benchProtocols, minutesMax: 12 },
  { name: 'import', run: benchImport, minutesMax: 40 },
  { name: 'catalog', run: benchCatalog, minutesMax: 4 },
  { name: 'identify', run: benchIdentify, minutesMax: 5 },
  { name: 'exact', run: benchExact, minutesMax: 5 },
  { name: 'query', run: benchQuery, minutesMax: 7 },
  { name: 'query-sources', run: benchSources, minutesMax: 20 },
  { name: 'cache', run: benchCache, minutesMax: 5, settings: KEEPS_ANSWERS },
  { name: 'query-forms', run: benchForms, minutesMax: 10 },
  { name: 'console', run: benchConsole, minutesMax: 10 },
  { name: 'erasure', run: benchErasure, minutesMax: 12 },
  { name: 'export', run: benchExport, minutesMax: 6 },
  { name: 'agents', run: benchAgents, minutesMax: 4 },
  { name: 'definitions', run: benchDefinitions, minutesMax: 1 },
  { name: 'latency', run: benchLatency, minutesMax: 4 },
  { name: 'shards', run: benchShards, minutesMax: 14 },
  { name: 'idle', run: benchIdle, minutesMax: 13 },
];

/** They start what they need themselves. */
const STACK_FREE: readonly (Omit<Bench, 'run'> & { readonly run: (context: StackFree) => Promise<Measurement[]> })[] = [
  { name: 'start', run: benchStart, minutesMax: 5 },
  { name: 'import-sources', run: benchImportSources, minutesMax: 25 },
];

const startedAt = new Date().toISOString();
const say = (message: string): void => void process.stderr.write(`${message}\n`);

async function runBench(
  bench: Pick<Bench, 'name'>,
  isQuick: boolean,
  run: (context: StackFree) => Promise<Measurement[]>,
): Promise<BenchResult> {
  const startedMs = performance.now();
  const reported: Measurement[] = [];
  const toResult = (measurements: readonly Measurement[], failure?: string): BenchResult => ({
    bench: bench.name,
    seconds: Math.round((performance.now() - startedMs) / 1000),
    measurements,
    ...(failure !== undefined && { failure }),
  });
  const report = (measurements: readonly Measurement[]): void => {
    for (const { name, value, unit } of measurements) say(`  ${name}: ${formatNumber(value)} ${unit}`.trimEnd());
    reported.push(...measurements);
    writeResults([...results, toResult(reported, 'not finished')], isQuick);
  };
  try {
    const rest = await run({ isQuick, say, report });
    return toResult([...reported, ...rest]);
  } catch (cause) {
    const failure = messageOf(cause);
    say(cause instanceof Error ? (cause.stack ?? failure) : failure);
    return toResult(reported, failure);
  }
}

async function onFreshStack(bench: Bench, context: StackFree): Promise<Measurement[]> {
  say(`${bench.name}: starting a stack`);
  const stack = await startStack({ settings: { ...UNLIMITED, ...bench.settings } });
  return inTime(bench, bench.run({ ...context, stack })).finally(() => stack.stop());
}

async function inTime<T>(bench: Pick<Bench, 'minutesMax'>, running: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new Error(`not finished after ${bench.minutesMax} minutes`));
    timer = setTimeout(giveUp, bench.minutesMax * 60_000);
  });
  try {
    return await Promise.race([running, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

/** One result file per run, rewritten after each benchmark. */
function writeResults(results: readonly BenchResult[], isQuick: boolean): string {
  const directory = join(packageRoot, 'bench', 'results');
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${startedAt.replace(/[:.]/g, '-')}.json`);
  writeFileSync(
    path,
    `${JSON.stringify({ at: startedAt, isQuick, machine: describeMachine(), results }, undefined, 2)}\n`,
  );
  return path;
}

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const names = [...BENCHES, ...STACK_FREE].map(({ name }) => name);
const unknown = positionals.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  say(`no bench is named ${unknown.join(', ')}; there are ${names.join(', ')}`);
  process.exit(2);
}
// "ingest" runs batches and single events, "query" both sets of queries.
const isChosen = ({ name }: Pick<Bench, 'name'>) =>
  positionals.length === 0 || positionals.some((wanted) => name === wanted || name.startsWith(`${wanted}-`));

const results: BenchResult[] = [];
for (const bench of BENCHES.filter(isChosen)) {
  results.push(await runBench(bench, values.quick, (context) => onFreshStack(bench, context)));
}
for (const bench of STACK_FREE.filter(isChosen)) {
  results.push(await runBench(bench, values.quick, (context) => inTime(bench, bench.run(context))));
}

const machine = describeMachine();
say(`\n${machine.cores} cores, ${machine.cpu}, ${machine.memoryGb} GB, node ${machine.node}, commit ${machine.commit}`);
process.stdout.write(`${toTable(results)}\n`);
say(`written to ${writeResults(results, values.quick)}`);
// A missed aim is a result; an aborted benchmark is an error. Exit even if it left something
// running.
process.exit(results.some((result) => result.failure !== undefined) ? 1 : 0);
