// Two projects with the default limits, one hostile: the requests of the other are all answered,
// and about as fast as without the attack. A short form of `npm run neighbours`.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Stack } from '../../bench/stack.js';
import { ATTACKS, type AttackName } from '../../faults/neighbours/attacks.js';
import { Neighbour, type ProbeName, type Sample, type Samples } from '../../faults/neighbours/probes.js';
import { createTenants, type Tenant } from '../../faults/neighbours/tenants.js';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { parseConfig } from '../../src/platform/config.js';
import { packageRoot } from '../../src/platform/paths.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

const MEASURED = ['track', 'counted', 'identify', 'query', 'dashboard'] as const satisfies readonly ProbeName[];
type Measured = (typeof MEASURED)[number];

const ROUND = { durationMs: 4000, graceMs: 20_000 };
const HEAD_START_MS = 1500;
/** One good round is enough: other processes share the machine. */
const ROUNDS = 3;
/** Ratio of medians under attack and alone. The aims are 3 for reading and 5 for ingestion. */
const RATIO_MAX = 8;
/** Below these a ratio measures the scheduler of the machine rather than the service. */
const NOTICEABLE_MS: Readonly<Record<Measured, number>> = {
  track: 250,
  counted: 2000,
  identify: 250,
  query: 500,
  dashboard: 250,
};

/** Fewer responses to the attacker mean that it did not attack. */
const ATTACKING_ANSWERS_MIN = 5;

let databases: TestDatabases;
let processes: ProcessGroup;
let stack: Pick<Stack, 'url' | 'clickhouse'>;
let hostile: Tenant;
let neighbour: Neighbour;
let alone: Pick<Samples, Measured>;
let attacking: ChildProcess | undefined;

beforeAll(async () => {
  databases = await createTestDatabases({ ANSWER_CACHE_BYTES: '0' });
  // Without the limits that createTestDatabases raises.
  const env = Object.fromEntries(Object.entries(databases.env).filter(([name]) => !/_PER_(SECOND|MINUTE)$/.test(name)));
  processes = await startProcesses(env);
  stack = { url: processes.url, clickhouse: createClickHouse(databases.config) };
  const { a, b } = await createTenants(stack, parseConfig(env));
  hostile = a;
  neighbour = new Neighbour(stack, b);
  await neighbour.prepare();
  await neighbour.measureSome(MEASURED, { durationMs: 1000, graceMs: 10_000 });
  alone = await neighbour.measureSome(MEASURED, ROUND);
});

afterAll(async () => {
  attacking?.kill('SIGKILL');
  await stack?.clickhouse.close();
  await processes?.stop();
  await databases?.close();
});

function startAttack(name: AttackName): ChildProcess {
  const path = join(packageRoot, 'dist', 'faults', 'neighbours', 'attacker.js');
  return fork(path, [name, '1', JSON.stringify(hostile)], { env: { PATH: process.env.PATH } });
}

const median = (samples: readonly Sample[]): number =>
  samples.map(({ ms }) => ms).sort((a, b) => a - b)[samples.length >> 1] ?? Number.NaN;

/** Requests that were answered, whatever their status. */
async function countAnswers(route: string): Promise<number> {
  const text = await (await fetch(`${processes.url}/metrics`)).text();
  const counts = text.matchAll(/^http_request_duration_seconds_count\{(.*)\} (\d+)$/gm);
  return [...counts].reduce((sum, [, labels, count]) => sum + (labels?.includes(route) ? Number(count) : 0), 0);
}

/** What took too long, in words. */
const findSlow = (attacked: Pick<Samples, Measured>): string[] =>
  MEASURED.flatMap((name) => {
    const [aloneMs, attackedMs] = [median(alone[name]), median(attacked[name])];
    const isFast = attackedMs <= Math.max(NOTICEABLE_MS[name], RATIO_MAX * aloneMs);
    return isFast ? [] : [`${name}: ${Math.round(aloneMs)} ms alone, ${Math.round(attackedMs)} ms under attack`];
  });

/** Repeats the measurement while something is slow. */
async function measureRounds(
  ofRoute: readonly Measured[],
): Promise<{ attacked: Pick<Samples, Measured>; sent: number }> {
  for (let round = 1, sent = 0; ; round++) {
    const attacked = await neighbour.measureSome(MEASURED, ROUND);
    sent += ofRoute.reduce((sum, name) => sum + attacked[name].length, 0);
    if (round === ROUNDS || findSlow(attacked).length === 0) return { attacked, sent };
  }
}

test.each([
  ['flood', 'route="/track"', ['track', 'counted']],
  ['queries-40', 'route="/query"', ['query']],
  ['large-answers', 'route="/query"', ['query']],
  ['yaml-cards', 'dashboard-sync', []],
] as const)('attack %s: all requests of the other project are answered in time', async (name, route, ofRoute) => {
  const before = await countAnswers(route);
  attacking = startAttack(name);
  await delay(HEAD_START_MS);
  const { attacked, sent } = await measureRounds(ofRoute);
  expect(attacking.exitCode, ATTACKS[name].what).toBeNull();
  // A slow machine takes seconds for a large answer.
  const answersToHostile = async () => (await countAnswers(route)) - before - sent;
  await eventually(async () => expect(await answersToHostile()).toBeGreaterThan(ATTACKING_ANSWERS_MIN), 60_000);
  attacking.kill('SIGKILL');
  for (const probe of MEASURED) {
    const failed = attacked[probe].filter(({ isCut, refusals }) => isCut || refusals > 0);
    expect([probe, failed]).toEqual([probe, []]);
  }
  expect(findSlow(attacked)).toEqual([]);
});
