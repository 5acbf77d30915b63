// Identify calls per second from HTTP to queryable, for many users and for a single one, whose sum
// must be exact. Then the latency of single calls on an idle system.
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './load/connection.js';
import { atMost, type Measurement } from './measurement.js';
import { readCpuMs } from './process-usage.js';
import { type BenchContext, type Stack, selectNumber } from './stack.js';
import { median, percentile } from './statistics.js';

const CONNECTIONS = 64;
const USERS = 20_000;
const DRAIN_TIMEOUT_MS = 120_000;
// Poll rarely: each poll takes CPU from the engine that is measured.
const LOOK_EVERY_MS = 100;
const IDLE_LOOK_EVERY_MS = 10;

interface Run {
  readonly calls: number;
  readonly elapsedMs: number;
  readonly answerMs: readonly number[];
  readonly cpuMs: ReadonlyMap<string, number>;
}

type BodyOf = (index: number) => object;

export async function benchIdentify({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const durationMs = isQuick ? 3000 : 20_000;
  say('many users: warming up');
  await runToEnd(stack, { of: 'warm', body: manyUsers('warm'), durationMs: durationMs / 2 });
  say('many users: counting');
  const many = await runToEnd(stack, { of: 'many', body: manyUsers('many'), durationMs });
  say('one user: counting');
  const hot = await runToEnd(stack, { of: 'hot', body: () => toCall('hot', 'hot'), durationMs });
  say('one call at a time');
  const delays = await measureDelays(stack, isQuick ? 5 : 50);
  return [
    ...toMeasurements(`${USERS.toLocaleString('en-US')} users`, many),
    ...toMeasurements('one user, $add', hot),
    { name: 'accepted to queryable, median', value: median(delays), unit: 'ms', aim: atMost(500) },
    { name: 'accepted to queryable, 95th percentile', value: percentile(delays, 0.95), unit: 'ms', aim: atMost(1000) },
  ];
}

const manyUsers =
  (of: string): BodyOf =>
  () =>
    toCall(of, `${of}_${Math.floor(Math.random() * USERS)}`);

/** About 200 bytes, as a client sends at sign-in. `of` distinguishes the runs. */
const toCall = (of: string, user: string): object => ({
  user_id: user,
  device_id: `device_${Math.floor(Math.random() * USERS)}`,
  user_properties: { email: `${user}@shop.example`, plan: 'pro', seats: 5 },
  user_property_ops: { $set_once: { channel: 'search' }, $add: { [`calls_${of}`]: 1 } },
});

/** Time from the first call until the profiles have counted every call exactly once. */
async function runToEnd(stack: Stack, run: { of: string; body: BodyOf; durationMs: number }): Promise<Run> {
  const cpuBefore = readCpuMs(stack.processes());
  const startedMs = performance.now();
  const answerMs = await send(stack, run.body, startedMs + run.durationMs);
  await untilSummed(stack, `calls_${run.of}`, answerMs.length);
  return {
    calls: answerMs.length,
    elapsedMs: performance.now() - startedMs,
    answerMs,
    cpuMs: new Map([...readCpuMs(stack.processes())].map(([name, ms]) => [name, ms - (cpuBefore.get(name) ?? 0)])),
  };
}

/** Resolves with the response times; throws unless every call was accepted. */
async function send(stack: Stack, body: BodyOf, untilMs: number): Promise<number[]> {
  const { hostname, port } = new URL(stack.url);
  const answerMs: number[] = [];
  const loop = async (): Promise<void> => {
    const connection = await Connection.open(hostname, Number(port));
    try {
      while (performance.now() < untilMs) {
        const askedMs = performance.now();
        const answer = await connection.exchange(toRequest(stack, body(answerMs.length)));
        if (answer.status !== 200) throw new Error(`/identify: status ${answer.status}, ${answer.body}`);
        answerMs.push(performance.now() - askedMs);
      }
    } finally {
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, loop));
  return answerMs;
}

function toRequest(stack: Stack, call: object): Buffer {
  const body = JSON.stringify(call);
  const head = [
    'POST /identify HTTP/1.1',
    `Host: ${new URL(stack.url).host}`,
    'Content-Type: application/json',
    `X-API-Key: ${stack.publicKey}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

async function untilSummed(stack: Stack, key: string, expected: number, lookEveryMs = LOOK_EVERY_MS): Promise<void> {
  const deadline = performance.now() + DRAIN_TIMEOUT_MS;
  for (;;) {
    const sum = await selectNumber(
      stack,
      `SELECT sum(props_num['${key}']) FROM profiles FINAL WHERE project_id = '${stack.projectId}'`,
    );
    if (sum === expected) return;
    if (sum > expected) throw new Error(`${sum} calls are counted, ${expected} were accepted`);
    if (performance.now() > deadline) throw new Error(`only ${sum} of ${expected} calls are counted in time`);
    await sleep(lookEveryMs);
  }
}

async function measureDelays(stack: Stack, times: number): Promise<number[]> {
  const delays: number[] = [];
  for (let expected = 1; expected <= times; expected += 1) {
    // A random delay, to avoid aliasing with the service's timers.
    await sleep(Math.random() * 300);
    const response = await fetch(`${stack.url}/identify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': stack.publicKey },
      body: JSON.stringify(toCall('idle', 'idle')),
    });
    if (!response.ok) throw new Error(`/identify: status ${response.status}`);
    await response.arrayBuffer();
    const answeredMs = performance.now();
    await untilSummed(stack, 'calls_idle', expected, IDLE_LOOK_EVERY_MS);
    delays.push(performance.now() - answeredMs);
  }
  return delays;
}

const toMeasurements = (label: string, run: Run): Measurement[] => [
  { name: `${label}: calls to queryable`, value: (run.calls * 1000) / run.elapsedMs, unit: '/s' },
  ...[...run.cpuMs].map(([name, ms]) => ({
    name: `${label}: CPU of ${name} per 1,000 calls`,
    value: (ms * 1000) / run.calls,
    unit: 'ms',
  })),
  { name: `${label}: answer, 99th percentile at saturation`, value: percentile(run.answerMs, 0.99), unit: 'ms' },
];
