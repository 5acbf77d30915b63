// CPU of all processes for events of the SDKs of other products, relative to the same events sent
// to /track: one, 20 and 200 per request. The protocols take short alternating turns, so that noise
// of the machine affects all of them.
import { Load } from './load/load.js';
import { PROTOCOL_NAMES, type ProtocolName } from './load/sdk-bodies.js';
import { atMost, type Measurement } from './measurement.js';
import { readCpuMs } from './process-usage.js';
import { type BenchContext, type Stack, untilCounted } from './stack.js';
import { median } from './statistics.js';

const CONNECTIONS = 16;
const SDKS = PROTOCOL_NAMES.filter((name) => name !== 'track');
/** Events of a turn by events per request: some seconds of CPU time. */
const SIZES: readonly { readonly perRequest: number; readonly events: number }[] = [
  { perRequest: 1, events: 8000 },
  { perRequest: 20, events: 40_000 },
  { perRequest: 200, events: 60_000 },
];
const RATIO_MAX = 1.3;

/** CPU of all processes, of `web` and per 1,000 events, milliseconds. */
interface Turn {
  readonly all: number;
  readonly web: number;
}

export async function benchProtocols({ stack, isQuick, say, report }: BenchContext): Promise<Measurement[]> {
  let stored = 0;
  for (const { perRequest, events } of SIZES) {
    const loads = await startLoads(stack, perRequest);
    const turns: Record<ProtocolName, Turn>[] = [];
    try {
      for (let round = 0; round <= (isQuick ? 1 : 5); round += 1) {
        say(`${perRequest} per request: ${round === 0 ? 'warming up' : `round ${round}`}`);
        const measured: [ProtocolName, Turn][] = [];
        for (const [name, load] of loads) {
          const cpuBefore = readCpuMs(stack.processes());
          const { accepted } = await load.run({ durationMs: 60_000, eventsMax: isQuick ? 2000 : events });
          stored += accepted;
          await untilCounted(stack, stored);
          measured.push([name, toTurn(cpuBefore, readCpuMs(stack.processes()), accepted)]);
        }
        if (round > 0) turns.push(Object.fromEntries(measured) as Record<ProtocolName, Turn>);
      }
    } finally {
      await Promise.all([...loads.values()].map((load) => load.stop()));
    }
    report(toMeasurements(perRequest, turns));
  }
  return [];
}

async function startLoads(stack: Stack, perRequest: number): Promise<Map<ProtocolName, Load>> {
  const loads = new Map<ProtocolName, Load>();
  for (const protocol of PROTOCOL_NAMES) {
    const options = { url: stack.url, key: stack.publicKey, eventsPerRequest: perRequest, connections: CONNECTIONS };
    const bodies = Math.max(2 * CONNECTIONS, Math.ceil(20_000 / perRequest));
    loads.set(protocol, await Load.start({ ...options, bodies, protocol, hasOneId: true }));
  }
  return loads;
}

function toTurn(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>, events: number): Turn {
  const used = [...after].map(([name, ms]): [string, number] => [name, ms - (before.get(name) ?? 0)]);
  const perThousand = (ms: number): number => (ms * 1000) / events;
  return {
    all: perThousand(used.reduce((sum, [, ms]) => sum + ms, 0)),
    web: perThousand(used.reduce((sum, [name, ms]) => (name === 'web' ? sum + ms : sum), 0)),
  };
}

function toMeasurements(perRequest: number, turns: readonly Record<ProtocolName, Turn>[]): Measurement[] {
  const label = `${perRequest} per request`;
  const cpuOf = (name: ProtocolName): number => median(turns.map((turn) => turn[name].all));
  const ratio = (name: ProtocolName, part: keyof Turn): number =>
    median(turns.map((turn) => turn[name][part] / turn.track[part]));
  return [
    { name: `${label}: /track, CPU per 1,000 events`, value: cpuOf('track'), unit: 'ms' },
    ...SDKS.flatMap((name): Measurement[] => [
      { name: `${label}: ${name}, CPU per 1,000 events`, value: cpuOf(name), unit: 'ms' },
      { name: `${label}: ${name} to /track`, value: ratio(name, 'all'), unit: '', aim: atMost(RATIO_MAX) },
      { name: `${label}: ${name} to /track, of web alone`, value: ratio(name, 'web'), unit: '' },
    ]),
  ];
}
