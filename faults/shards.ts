// `npm run faults -- --shards 3`: a project on each of several ClickHouse servers, all with
// traffic. The last server is killed over and over, at times while it inserts, and sometimes
// paused; so are the two workers. Afterwards every server must have each event of its own project
// once, and nothing of the others.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { addEngines, type FurtherEngine, startFurtherEngine } from '../bench/further-engine.js';
import { describeMachine } from '../bench/machine.js';
import { type Stack, selectNumber } from '../bench/stack.js';
import { startStack } from '../bench/start-stack.js';
import { packageRoot } from '../src/platform/paths.js';
import { isRight, type Outcome, untilStored } from './check.js';
import { startCuttingProxy } from './cutting-proxy.js';
import { injectAll } from './inject.js';
import { createRandom } from './random.js';
import { type Fault, type ProcessName, planShardFaults } from './schedule.js';
import { startSecondWorker } from './second-worker.js';
import { startTraffic, type Traffic } from './traffic.js';

const CLIENTS_PER_PROJECT = 2;
const CUT_SHARE = 0.05;
const INSERT_WAIT_MS = 5000;
const INSERT_POLL_MS = 5;

export interface ShardsRun {
  readonly shards: number;
  readonly durationMs: number;
  readonly seed: number;
  readonly say: (text: string) => void;
}

/** A project on a server of its own. */
type Target = Pick<Stack, 'clickhouse' | 'projectId' | 'url' | 'secretKey'>;

/** Prints the ledger. Resolves with whether everything is right. */
export async function runShards(run: ShardsRun): Promise<boolean> {
  const { shards, durationMs, seed, say } = run;
  const stack = await startStack();
  const { directory } = stack;
  const engines: FurtherEngine[] = [];
  let second: ReturnType<typeof startSecondWorker> | undefined;
  try {
    for (let id = 2; id <= shards; id += 1) {
      engines.push(await startFurtherEngine(join(directory, `shard-${id}`), stack.database));
    }
    const victim = engines.at(-1);
    if (victim === undefined) throw new Error('at least two shards are needed');
    const targets = await openTargets(stack, directory, engines);
    second = startSecondWorker(directory, {});
    const worker = second;
    const findPid = (name: ProcessName): number | undefined => {
      if (name.startsWith('shard')) return victim.pid;
      return name === 'second worker' ? worker.pid : stack.processes().find((one) => one.name === name)?.pid;
    };
    const faults = planShardFaults(createRandom(seed), { durationMs, victim: `shard ${shards}` });
    const traffics = await sendTo(targets, stack, seed);
    const untilInsertRuns = () => untilInserting(victim);
    const injected = await injectAll(faults, {
      ...{ dataDirectory: directory, findPid, untilInsertRuns, say },
      forMs: durationMs,
    });
    const cuts = await traffics.stop();
    const outcomes = await Promise.all(
      targets.map((target, index) => untilStored(target, traffics.of[index] as Traffic)),
    );
    const strays = await Promise.all(targets.map((target) => countStrays(target)));
    return report(run, { faults: injected, cuts, traffics: traffics.of, outcomes, strays });
  } finally {
    await second?.stop();
    for (const engine of engines) await engine.stop();
    await stack.stop();
  }
}

async function openTargets(stack: Stack, directory: string, engines: readonly FurtherEngine[]): Promise<Target[]> {
  const projects = await addEngines(directory, engines);
  return [
    stack,
    ...engines.map(({ clickhouse }, index) => {
      const project = projects[index];
      if (project === undefined) throw new Error('a project is missing');
      return { clickhouse, projectId: project.id, url: stack.url, secretKey: project.secretKey };
    }),
  ];
}

async function sendTo(targets: readonly Target[], stack: Stack, seed: number) {
  const cutting = createRandom(seed + 2);
  const proxy = await startCuttingProxy(stack.url, () => cutting.next() < CUT_SHARE);
  const of = targets.map(({ secretKey }, index) =>
    startTraffic({
      ...{ url: proxy.url, key: secretKey, clients: CLIENTS_PER_PROJECT },
      ...{ random: createRandom(seed + 10 + index), run: `run-${seed}-${index + 1}` },
    }),
  );
  return {
    of,
    /** Resolves with the number of responses that clients never received. */
    stop: async (): Promise<number> => {
      await Promise.all(of.map((traffic) => traffic.stop()));
      await proxy.close();
      return proxy.cuts;
    },
  };
}

/** Resolves with true while the server inserts events, or with false on timeout. */
async function untilInserting({ clickhouse }: FurtherEngine): Promise<boolean> {
  const deadline = Date.now() + INSERT_WAIT_MS;
  const query = "SELECT count() FROM system.processes WHERE query_kind = 'Insert'";
  while (Date.now() < deadline) {
    if ((await selectNumber({ clickhouse }, query).catch(() => 0)) > 0) return true;
    await delay(INSERT_POLL_MS);
  }
  return false;
}

/** Rows of the projects of other servers; the canary sends to each of them. */
const countStrays = ({ clickhouse, projectId }: Target): Promise<number> =>
  selectNumber(
    { clickhouse },
    `SELECT count() FROM events WHERE project_id <> '${projectId}' AND event_type IN ('page_view', 'signup', 'purchase')`,
  );

interface Results {
  /** Faults that hit something. */
  readonly faults: readonly Fault[];
  readonly cuts: number;
  readonly traffics: readonly Traffic[];
  readonly outcomes: readonly Outcome[];
  readonly strays: readonly number[];
}

function report({ durationMs, seed }: ShardsRun, { faults, cuts, traffics, outcomes, strays }: Results): boolean {
  const hits = faults.map((fault) => `${fault.kind} ${'process' in fault ? fault.process : ''}`);
  const ledger = {
    machine: describeMachine(),
    ...{ seed, seconds: durationMs / 1000 },
    faults: Object.fromEntries(
      [...new Set(hits)].sort().map((name) => [name, hits.filter((hit) => hit === name).length]),
    ),
    answers_cut_after_storing: cuts,
    shards: outcomes.map(({ events, profileProblems, recoverySeconds }, index) => ({
      shard: index + 1,
      events_acknowledged: traffics[index]?.events.acknowledged.size,
      events_stored: events.stored,
      batches_sent_twice: traffics[index]?.mischief.sentTwice,
      lost: events.lost.length,
      duplicated: events.duplicated,
      phantom: events.phantom.length,
      of_other_shards: strays[index],
      profiles: traffics[index]?.profiles.size,
      profiles_wrong: profileProblems,
      recovery_seconds: recoverySeconds,
    })),
  };
  const folder = join(packageRoot, 'bench', 'results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'faults-shards.json'), `${JSON.stringify(ledger, null, 2)}\n`);
  process.stdout.write(`${JSON.stringify(ledger, null, 2)}\n`);
  return outcomes.every(isRight) && strays.every((rows) => rows === 0);
}
