// `npm run bench [-- name…] [--quick]`: runs each benchmark on its own fresh stack, prints results
// beside their aims, and writes them to bench/results.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../src/platform/paths.js';
import { benchAgents } from './agents.js';
import { benchCatalog } from './catalog.js';
import { benchConsole } from './console.js';
import { benchDefinitions } from './definitions.js';
import { benchErasure } from './erasure.js';
import { benchExact } from './exact.js';
import { benchExport } from './export.js';
import { benchIdentify } from './identify.js';
import { benchIdle } from './idle.js';
import { benchImport } from './import.js';
import { benchIngest } from './ingest.js';
import { benchLatency } from './latency.js';
import { describeMachine } from './machine.js';
import { type BenchResult, formatNumber, type Measurement, toTable } from './measurement.js';
import { benchProtocols } from './protocols.js';
import { benchQuery } from './query.js';
import { benchSingle } from './single.js';
import { benchForms, benchSources } from './sources.js';
import type { BenchContext } from './stack.js';
import { startStack } from './start-stack.js';

interface Bench {
  readonly name: string;
  /** Resolves with the measurements that it has not reported yet. */
  readonly run: (context: BenchContext) => Promise<Measurement[]>;
  /** Timeout, about twice the usual duration. */
  readonly minutesMax: number;
}

const BENCHES: readonly Bench[] = [
  { name: 'ingest', run: benchIngest, minutesMax: 6 },
  { name: 'ingest-single', run: benchSingle, minutesMax: 4 },
  { name: 'protocols', run: benchProtocols, minutesMax: 12 },
  { name: 'import', run: benchImport, minutesMax: 8 },
  { name: 'catalog', run: benchCatalog, minutesMax: 4 },
  { name: 'identify', run: benchIdentify, minutesMax: 5 },
  { name: 'exact', run: benchExact, minutesMax: 5 },
  { name: 'query', run: benchQuery, minutesMax: 7 },
  { name: 'query-sources', run: benchSources, minutesMax: 20 },
  { name: 'query-forms', run: benchForms, minutesMax: 10 },
  { name: 'console', run: benchConsole, minutesMax: 10 },
  { name: 'erasure', run: benchErasure, minutesMax: 12 },
  { name: 'export', run: benchExport, minutesMax: 6 },
  { name: 'agents', run: benchAgents, minutesMax: 4 },
  { name: 'definitions', run: benchDefinitions, minutesMax: 1 },
  { name: 'latency', run: benchLatency, minutesMax: 4 },
  { name: 'idle', run: benchIdle, minutesMax: 11 },
];

const startedAt = new Date().toISOString();
const say = (message: string): void => void process.stderr.write(`${message}\n`);

async function runBench(bench: Bench, isQuick: boolean): Promise<BenchResult> {
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
    const rest = await onFreshStack(bench, { isQuick, say, report });
    return toResult([...reported, ...rest]);
  } catch (cause) {
    const failure = cause instanceof Error ? cause.message : String(cause);
    say(cause instanceof Error ? (cause.stack ?? failure) : failure);
    return toResult(reported, failure);
  }
}

async function onFreshStack(bench: Bench, context: Omit<BenchContext, 'stack'>): Promise<Measurement[]> {
  say(`${bench.name}: starting a stack`);
  const stack = await startStack();
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new Error(`not finished after ${bench.minutesMax} minutes`));
    timer = setTimeout(giveUp, bench.minutesMax * 60_000);
  });
  try {
    return await Promise.race([bench.run({ ...context, stack }), tooLong]);
  } finally {
    clearTimeout(timer);
    await stack.stop();
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
const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0) {
  say(`no bench is named ${unknown.join(', ')}; there are ${BENCHES.map((bench) => bench.name).join(', ')}`);
  process.exit(2);
}
// "ingest" runs batches and single events, "query" both sets of queries.
const isChosen = ({ name }: Bench) =>
  positionals.length === 0 || positionals.some((wanted) => name === wanted || name.startsWith(`${wanted}-`));

const results: BenchResult[] = [];
for (const bench of BENCHES.filter(isChosen)) results.push(await runBench(bench, values.quick));

const machine = describeMachine();
say(`\n${machine.cores} cores, ${machine.cpu}, ${machine.memoryGb} GB, node ${machine.node}, commit ${machine.commit}`);
process.stdout.write(`${toTable(results)}\n`);
say(`written to ${writeResults(results, values.quick)}`);
// A missed aim is a result; an aborted benchmark is an error. Exit even if it left something
// running.
process.exit(results.some((result) => result.failure !== undefined) ? 1 : 0);
