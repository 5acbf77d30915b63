// `npm run neighbours [-- --seconds 15 --seed 7 --attack flood]`: two tenants on a stack started by
// `npm start`, one of them hostile. Measures the other alone and under each attack, prints a table
// of ratios, writes it to bench/results, and exits with status 1 when an aim is missed by more than
// `--factor`.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readServiceConfig } from '../../bench/further-engine.js';
import { describeMachine } from '../../bench/machine.js';
import { startStack } from '../../bench/start-stack.js';
import { packageRoot } from '../../src/platform/paths.js';
import { readArguments, readOptions, requireWholeNumber, UsageError } from '../../src/platform/usage-error.js';
import { ATTACKS, type AttackName, attackOf, isAttack } from './attacks.js';
import { Neighbour } from './probes.js';
import { type AttackResult, type EventLoopDelays, findMisses, toRatios, toTable } from './ratios.js';
import { createTenants, type Tenant } from './tenants.js';

const options = {
  seconds: { type: 'string', default: '15' },
  seed: { type: 'string' },
  attack: { type: 'string', multiple: true },
  factor: { type: 'string', default: '3' },
  'one-stack': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;
const { values, seed, durationMs, factor, attacks } = readOptions(() => {
  const { values } = readArguments({ options });
  return {
    values,
    seed: requireWholeNumber('--seed', values.seed ?? String(Math.floor(Math.random() * 2 ** 31)), 0),
    durationMs: requireWholeNumber('--seconds', values.seconds, 1) * 1000,
    factor: requireFactor(values.factor),
    attacks: (values.attack ?? Object.keys(ATTACKS)).map(requireAttack),
  };
});

function requireFactor(text: string): number {
  if (Number(text) > 0) return Number(text);
  throw new UsageError(`--factor is a number above 0, not "${text}"`);
}

function requireAttack(name: string): AttackName {
  if (isAttack(name)) return name;
  throw new UsageError(`there is no attack "${name}"; the attacks are ${Object.keys(ATTACKS).join(', ')}`);
}

const WARM_UP_MS = 2000;
/**
 * Extra time for samples that run at the end of a measurement. Longer under attack, so that 30 s
 * are not recorded as 10.
 */
const GRACE_MS = { alone: 10_000, attacked: Math.max(4000, 2 * durationMs) };
/** Time until an attack has an effect. */
const HEAD_START_MS = 3000;
const RECOVERY_MS_MAX = 20_000;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/**
 * Uses a stack per attack, so that attacks do not influence each other; or one for all, which is
 * faster.
 */
async function run(): Promise<readonly AttackResult[]> {
  if (values['one-stack']) {
    const settings = Object.assign({}, ...attacks.map((attack) => attackOf(attack).settings));
    return withStack(settings, async (measure) => {
      const results: AttackResult[] = [];
      for (const attack of attacks) results.push(await measure(attack));
      return results;
    });
  }
  const results: AttackResult[] = [];
  for (const attack of attacks) {
    results.push(await withStack(attackOf(attack).settings ?? {}, (measure) => measure(attack)));
  }
  return results;
}

type Measure = (attack: AttackName) => Promise<AttackResult>;

async function withStack<T>(settings: Record<string, string>, use: (measure: Measure) => Promise<T>): Promise<T> {
  const stack = await startStack({ settings });
  try {
    const config = readServiceConfig(stack.directory);
    const { a, b } = await createTenants(stack, config);
    const neighbour = new Neighbour(stack, b);
    await neighbour.prepare();
    await neighbour.measure({ durationMs: WARM_UP_MS, graceMs: GRACE_MS.alone });
    const readLoops = () => readEventLoopDelays(stack.url, config.QUERY_URL ?? stack.url);
    return await use((attack) => measureAttack(attack, { attacker: a, neighbour, readLoops }));
  } finally {
    await stack.stop();
  }
}

async function measureAttack(
  attack: AttackName,
  run: { attacker: Tenant; neighbour: Neighbour; readLoops: () => Promise<EventLoopDelays> },
): Promise<AttackResult> {
  const { attacker, neighbour, readLoops } = run;
  const { what, headStartMs = HEAD_START_MS } = attackOf(attack);
  await readLoops();
  const alone = await neighbour.measure({ durationMs, graceMs: GRACE_MS.alone });
  const aloneLoops = await readLoops();
  const attacking = startAttacker(attack, attacker);
  try {
    await delay(headStartMs);
    const attacked = await neighbour.measure({ durationMs, graceMs: GRACE_MS.attacked });
    const eventLoops = { alone: aloneLoops, attacked: await readLoops() };
    const result = { attack, what, ratios: toRatios(alone, attacked), eventLoops };
    say(toTable([result]).split('\n').at(-1) ?? '');
    return result;
  } finally {
    attacking.kill('SIGKILL');
    await untilRecovered(neighbour);
  }
}

/** Resolves when the backlog of the attacker has been processed, or on timeout. */
async function untilRecovered(neighbour: Neighbour): Promise<void> {
  const deadline = Date.now() + RECOVERY_MS_MAX;
  while (Date.now() < deadline) {
    const samples = await neighbour.measure({ durationMs: 1000, graceMs: GRACE_MS.alone });
    if (Object.values(samples).every((taken) => taken.every(({ isCut, refusals }) => !isCut && refusals === 0))) return;
  }
}

function startAttacker(attack: AttackName, tenant: Tenant): ChildProcess {
  const path = fileURLToPath(new URL('attacker.js', import.meta.url));
  return fork(path, [attack, String(seed), JSON.stringify(tenant)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

const readEventLoopDelays = async (web: string, query: string): Promise<EventLoopDelays> => ({
  webMs: await readEventLoopDelay(web),
  queryMs: await readEventLoopDelay(query),
});

/** The maximum event loop delay since the last call, in milliseconds. */
async function readEventLoopDelay(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const seconds = /^event_loop_delay_max_seconds (\S+)$/m.exec(text)?.[1];
  if (seconds === undefined) throw new Error(`${url} does not export the delay of its event loop`);
  return Number(seconds) * 1000;
}

const results = await run();
const machine = describeMachine();
const misses = results.flatMap((result) => findMisses(result, factor));
const report = { machine, seed, seconds: durationMs / 1000, results, misses };
const folder = join(packageRoot, 'bench', 'results');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'neighbours.json'), `${JSON.stringify(report, null, 2)}\n`);
process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : `${toTable(results)}\n`);
for (const miss of misses) say(miss);
process.exit(misses.length === 0 ? 0 : 1);
