// Single events: requests per second that are answered durably, beside an Express handler that parses the body and
// answers at once. Both get the same load from the same process, in turns.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Load } from './load/load.js';
import { atLeast, type Measurement } from './measurement.js';
import { readCpuMs } from './process-usage.js';
import type { BenchContext } from './stack.js';
import { median } from './statistics.js';

const CONNECTIONS = 64;
const BODIES = 4000;
const EVENTS_MAX = 200_000;

export async function benchSingle({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const express = await startExpress();
  const toLoad = (url: string) =>
    Load.start({ url, key: stack.publicKey, eventsPerRequest: 1, connections: CONNECTIONS, bodies: BODIES });
  const loads = { service: await toLoad(stack.url), express: await toLoad(express.url) };
  try {
    let events = 0;
    const rateOf = async (load: Load, seconds: number): Promise<number> => {
      const summary = await load.run({ durationMs: seconds * 1000, eventsMax: EVENTS_MAX });
      if (Object.keys(summary.refusals).length > 0) throw new Error(`refused: ${JSON.stringify(summary.refusals)}`);
      if (load === loads.service) events += summary.accepted;
      return (summary.accepted * 1000) / summary.elapsedMs;
    };
    say('single events: warming up');
    await rateOf(loads.service, isQuick ? 3 : 20);
    await rateOf(loads.express, isQuick ? 3 : 20);
    const rates = { service: [] as number[], express: [] as number[] };
    say('single events: counting');
    events = 0;
    const cpuBefore = readCpuMs(stack.processes());
    for (let turn = 0; turn < (isQuick ? 1 : 3); turn += 1) {
      rates.service.push(await rateOf(loads.service, isQuick ? 3 : 8));
      rates.express.push(await rateOf(loads.express, isQuick ? 3 : 8));
    }
    const cpuMs = [...readCpuMs(stack.processes())].map(([name, ms]) => ({
      name,
      ms: ms - (cpuBefore.get(name) ?? 0),
    }));
    const [service, plain] = [median(rates.service), median(rates.express)];
    return [
      { name: 'single events, durable answer', value: service, unit: '/s' },
      { name: 'Express that parses and answers', value: plain, unit: '/s' },
      { name: 'ratio to Express', value: service / plain, unit: '', aim: atLeast(0.8) },
      ...cpuMs.map(({ name, ms }) => ({
        name: `CPU of ${name} per 1,000 events`,
        value: (ms * 1000) / events,
        unit: 'ms',
      })),
    ];
  } finally {
    await Promise.all([loads.service.stop(), loads.express.stop()]);
    express.process.disconnect();
  }
}

async function startExpress(): Promise<{ url: string; process: ChildProcess }> {
  const baseline = fork(fileURLToPath(new URL('express-baseline.js', import.meta.url)));
  const port = await new Promise((resolve, reject) => {
    baseline.once('message', (message: { port: number }) => resolve(message.port));
    baseline.once('exit', (code) => reject(new Error(`the Express baseline ended with code ${code}`)));
  });
  return { url: `http://127.0.0.1:${port}`, process: baseline };
}
