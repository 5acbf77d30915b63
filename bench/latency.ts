// Latency from the response of /track to the first response of /query that counts the event, on an
// otherwise idle system.
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Measurement } from './measurement.js';
import { ask, type BenchContext, type Stack } from './stack.js';
import { median, percentile } from './statistics.js';

const GIVE_UP_MS = 10_000;
type Keys = Pick<Stack, 'url' | 'publicKey' | 'secretKey'>;

/** Polling interval, within the rate limit of a key (20 per second). */
const ASK_EVERY_MS = 51;

export async function benchLatency({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const run = Date.now();
  say('latency: warming up');
  await measureLatency(stack, `latency_${run}_warm`, isQuick ? 3 : 20);
  say('latency: counting');
  const delays = await measureLatency(stack, `latency_${run}`, isQuick ? 10 : 100);
  return [
    { name: 'accepted to counted, median', value: median(delays), unit: 'ms', aim: atMost(100) },
    { name: 'accepted to counted, 95th percentile', value: percentile(delays, 0.95), unit: 'ms', aim: atMost(250) },
    { name: 'accepted to counted, longest', value: percentile(delays, 1), unit: 'ms' },
  ];
}

/** Milliseconds from the response of /track until the event is counted. */
export async function measureLatency(stack: Keys, eventType: string, times: number): Promise<number[]> {
  const delays: number[] = [];
  for (let expected = 1; expected <= times; expected += 1) {
    // A random delay, to avoid aliasing with the service's timers.
    await sleep(Math.random() * 300);
    await track(stack, eventType);
    delays.push(await untilCounted(stack, eventType, expected));
  }
  return delays;
}

async function track(stack: Keys, eventType: string): Promise<void> {
  const response = await fetch(`${stack.url}/track`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': stack.publicKey },
    body: JSON.stringify({ event_type: eventType, device_id: 'bench' }),
  });
  if (!response.ok) throw new Error(`/track: status ${response.status}`);
  await response.arrayBuffer();
}

async function untilCounted(stack: Keys, eventType: string, expected: number): Promise<number> {
  const acceptedMs = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const { rows } = await ask(stack, `${eventType} | last 1h | count`);
    const elapsedMs = performance.now() - acceptedMs;
    if (rows[0]?.value === expected) return elapsedMs;
    if (elapsedMs > GIVE_UP_MS) throw new Error(`event ${expected} of ${eventType} is not counted after 10 s`);
    await sleep(Math.max(0, attempt * ASK_EVERY_MS - elapsedMs));
  }
}
