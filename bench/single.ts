// Single events: durably answered requests per second, against an Express handler that only parses
// and answers. Both get the same load in short alternating turns, so that noise of the machine
// affects both.
import { forkServer } from './fork-server.js';
import { Load } from './load/load.js';
import { atLeast, type Measurement } from './measurement.js';
import { readCpuMs } from './process-usage.js';
import { type BenchContext, type Stack, untilCounted } from './stack.js';
import { median } from './statistics.js';

/** Many connections, because single events come from browsers. */
const CONNECTIONS = 128;
const BODIES = 4000;
const EVENTS_MAX = 300_000;
const EXPRESS = 'Express';

export async function benchSingle({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const express = await forkServer('express-baseline.js');
  const service = await startLoad(stack, stack.url);
  const baseline = await startLoad(stack, express.url);
  const turn = async (load: Load, seconds: number): Promise<{ accepted: number; rate: number }> => {
    const summary = await load.run({ durationMs: seconds * 1000, eventsMax: EVENTS_MAX });
    return { accepted: summary.accepted, rate: (summary.accepted * 1000) / summary.elapsedMs };
  };
  try {
    say('single events: warming up');
    const warm = await turn(service, isQuick ? 3 : 20);
    await turn(baseline, isQuick ? 3 : 20);
    await untilCounted(stack, warm.accepted);
    say('single events: counting');
    const watched = [...stack.processes(), { name: EXPRESS, pid: express.pid ?? 0 }];
    const cpuBefore = readCpuMs(watched);
    const turns: { service: number; express: number }[] = [];
    const sent = { service: 0, express: 0 };
    for (let index = 0; index < (isQuick ? 2 : 8); index += 1) {
      const ours = await turn(service, isQuick ? 2 : 4);
      sent.service += ours.accepted;
      // Wait until the queue is empty, so that the other side does not pay for it.
      await untilCounted(stack, warm.accepted + sent.service);
      const theirs = await turn(baseline, isQuick ? 2 : 4);
      sent.express += theirs.accepted;
      turns.push({ service: ours.rate, express: theirs.rate });
    }
    const cpu = [...readCpuMs(watched)].map(([name, ms]) => ({
      name: `CPU of ${name} per 1,000 of its events`,
      value: ((ms - (cpuBefore.get(name) ?? 0)) * 1000) / (name === EXPRESS ? sent.express : sent.service),
      unit: 'ms',
    }));
    return [
      { name: 'single events, durable answer', value: median(turns.map((rates) => rates.service)), unit: '/s' },
      { name: 'Express that parses and answers', value: median(turns.map((rates) => rates.express)), unit: '/s' },
      {
        name: 'ratio to Express',
        value: median(turns.map((rates) => rates.service / rates.express)),
        unit: '',
        aim: atLeast(1.5),
      },
      ...cpu,
    ];
  } finally {
    await Promise.all([service.stop(), baseline.stop()]);
    express.disconnect();
  }
}

const startLoad = (stack: Stack, url: string): Promise<Load> =>
  Load.start({ url, key: stack.publicKey, eventsPerRequest: 1, connections: CONNECTIONS, bodies: BODIES });
