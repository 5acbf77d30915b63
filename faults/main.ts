// `npm run faults [-- --seconds 120 --seed 7 --shards 3]`: sends traffic to a stack started by
// `npm start` while killing and pausing its processes, stepping clocks and filling its disk, then
// checks everything that was acknowledged, and that each transition of an alert was told once.
// Prints the ledger, writes it to bench/results, and exits with status 1 when anything is lost,
// duplicated, phantom or wrong. With several shards, one is killed over and over (shards.ts).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describeMachine } from '../bench/machine.js';
import type { Stack } from '../bench/stack.js';
import { startStack, UNLIMITED } from '../bench/start-stack.js';
import { partitionQueryId } from '../src/ingest/insert/ingest-partition.js';
import { isQueryIdRunning } from '../src/platform/clickhouse/failures.js';
import { packageRoot } from '../src/platform/paths.js';
import { readArguments, readOptions, requireWholeNumber } from '../src/platform/usage-error.js';
import { type AlertFindings, startAlerts } from './alerts.js';
import { isRight, type Outcome, untilStored } from './check.js';
import { startCuttingProxy } from './cutting-proxy.js';
import { type HookReceiver, startHookReceiver } from './hook-receiver.js';
import { injectAll, tryMountSmallDisk, trySignal } from './inject.js';
import { createRandom } from './random.js';
import { type Fault, type ProcessName, planFaults, planWorkerFaults } from './schedule.js';
import { startSecondWorker } from './second-worker.js';
import { runShards } from './shards.js';
import { startTraffic, type Traffic } from './traffic.js';

const CLIENTS = 6;
const DISK_MEGABYTES = 3000;
const CUT_SHARE = 0.05;
const INSERT_WAIT_MS = 5000;
const INSERT_POLL_MS = 5;
const CLOCK_STEP_MS = 7000;
const WORKERS_ALONE_MS = 25_000;
const LOCAL_HOOKS = { WEBHOOK_PRIVATE_ADDRESSES: '127.0.0.1' };

const options = {
  seconds: { type: 'string', default: '120' },
  seed: { type: 'string' },
  shards: { type: 'string', default: '1' },
} as const;
const { seed, durationMs, shards } = readOptions(() => {
  const { values } = readArguments({ options });
  return {
    seed: requireWholeNumber('--seed', values.seed ?? String(Math.floor(Math.random() * 2 ** 31)), 0),
    durationMs: requireWholeNumber('--seconds', values.seconds, 1) * 1000,
    shards: requireWholeNumber('--shards', values.shards, 1),
  };
});
const say = (text: string): void => void process.stderr.write(`${text}\n`);

type FindPid = (name: ProcessName) => number | undefined;

async function run(): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'event-analytics-faults-'));
  const disk = tryMountSmallDisk(directory, DISK_MEGABYTES);
  if (disk === undefined) say('no file system can be mounted here: the disk is not filled');
  // Interrupted runs exit without `finally`.
  process.once('exit', () => {
    disk?.unmount();
    rmSync(directory, { recursive: true, force: true });
  });
  const stack = await startStack({ directory, settings: { ...UNLIMITED, ...LOCAL_HOOKS } });
  const second = startSecondWorker(directory, LOCAL_HOOKS);
  const findPid: FindPid = (name) =>
    name === 'second worker' ? second.pid : stack.processes().find((running) => running.name === name)?.pid;
  const receiver = await startHookReceiver(createRandom(seed + 3), () => {
    for (const name of ['worker', 'second worker'] as const) trySignal(findPid(name), 'SIGKILL');
  });
  try {
    const faults = planFaults(createRandom(seed), { durationMs, canFillDisk: disk !== undefined });
    const cutting = createRandom(seed + 2);
    const proxy = await startCuttingProxy(stack.url, () => cutting.next() < CUT_SHARE);
    const traffic = startTraffic({
      url: proxy.url,
      key: stack.secretKey,
      clients: CLIENTS,
      random: createRandom(seed + 1),
      run: `run-${seed}`,
    });
    const alerts = await startAlerts({ stack, receiver, random: createRandom(seed + 4), ledger: traffic.events });
    const turning = new AbortController();
    const turned = alerts.turnUntil(turning.signal);
    const clock = setInterval(() => trySignal(second.pid, 'SIGUSR2'), CLOCK_STEP_MS);
    const under = { dataDirectory: directory, findPid, untilInsertRuns: () => untilInsertRuns(stack), say };
    const injected = await injectAll(faults, { ...under, forMs: durationMs });
    await traffic.stop();
    await proxy.close();
    // Under all faults most checks fail. With queries that answer, conditions turn often.
    const ofWorkers = planWorkerFaults(createRandom(seed + 5), WORKERS_ALONE_MS);
    injected.push(...(await injectAll(ofWorkers, { ...under, forMs: WORKERS_ALONE_MS })));
    clearInterval(clock);
    turning.abort();
    await turned;
    receiver.isCalm = true;
    const told = await alerts.settle();
    await alerts.close();
    const outcome = await untilStored(stack, traffic);
    return report({ faults: injected, cuts: proxy.cuts, traffic, outcome, told, receiver });
  } finally {
    receiver.close();
    await second.stop();
    await stack.stop();
  }
}

/**
 * Polls with the query id of the inserts: ClickHouse rejects it while an insert with the same id
 * runs.
 */
async function untilInsertRuns({ clickhouse, database }: Stack): Promise<boolean> {
  const deadline = AbortSignal.timeout(INSERT_WAIT_MS);
  while (!deadline.aborted) {
    try {
      const query = { query: 'SELECT 1', query_id: partitionQueryId(0, database), abort_signal: deadline };
      await (await clickhouse.query(query)).text();
    } catch (error) {
      if (isQueryIdRunning(error)) return true;
    }
    await delay(INSERT_POLL_MS);
  }
  return false;
}

interface Run {
  /** Faults that hit something. */
  readonly faults: readonly Fault[];
  /** Responses that clients never received. */
  readonly cuts: number;
  readonly traffic: Traffic;
  readonly outcome: Outcome;
  readonly told: AlertFindings;
  readonly receiver: HookReceiver;
}

function report({ faults, cuts, traffic, outcome, told, receiver }: Run): boolean {
  const { events, profileProblems, recoverySeconds } = outcome;
  const ledger = {
    machine: describeMachine(),
    seed,
    seconds: durationMs / 1000,
    faults: countBy(faults.map(({ kind }) => kind)),
    processes_hit: countBy(faults.flatMap((fault) => ('process' in fault ? fault.process : []))),
    answers_cut_after_storing: cuts,
    requests_hung_up: traffic.mischief.hungUp,
    batches_sent_twice: traffic.mischief.sentTwice,
    events_sent: traffic.events.sent.size,
    events_acknowledged: traffic.events.acknowledged.size,
    events_stored: events.stored,
    lost: events.lost.length,
    duplicated: events.duplicated,
    phantom: events.phantom.length,
    profiles: traffic.profiles.size,
    profiles_wrong: profileProblems,
    checks: told.checks,
    transitions: told.transitions,
    hooks_refused: receiver.counts.refused,
    workers_killed_by_hooks: receiver.counts.killed,
    hooks_repeated: told.repeated,
    hooks_missing: told.missing,
    hooks_unknown: told.unknown,
    hooks_changed: told.changed,
    alerts_disordered: told.disordered,
    alerts_settle_seconds: told.settleSeconds,
    recovery_seconds: recoverySeconds,
  };
  const folder = join(packageRoot, 'bench', 'results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'faults.json'), `${JSON.stringify(ledger, null, 2)}\n`);
  process.stdout.write(`${JSON.stringify(ledger, null, 2)}\n`);
  return isRight(outcome) && isTold(told);
}

const isTold = ({ missing, unknown, changed, disordered }: AlertFindings): boolean =>
  missing.length + unknown.length + changed.length + disordered.length === 0;

const countBy = (names: readonly string[]): Record<string, number> =>
  Object.fromEntries([...new Set(names)].sort().map((name) => [name, names.filter((other) => other === name).length]));

// Of runs that end without a ledger, too.
say(`seed ${seed}`);
// Exit explicitly: after cut connections, Node's own cleanup may never end.
process.exit((await (shards > 1 ? runShards({ shards, durationMs, seed, say }) : run())) ? 0 : 1);
