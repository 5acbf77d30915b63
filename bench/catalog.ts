// Cost of the catalog in a worker: CPU time to parse and encode events with and without collecting
// their names, in turns in one process. A worker also reads its queue and sends the block, so its
// share is smaller.
import { KnownNames } from '../src/catalog/known-names.js';
import { replayEvents } from '../src/ingest/insert/replay-events.js';
import { EventBlock } from '../src/ingest/insert/row.js';
import { createBodyTemplate } from './load/event-template.js';
import { atMost, type Measurement } from './measurement.js';
import type { BenchContext } from './stack.js';

const EVENTS_PER_BODY = 2000;
const BODIES_PER_BLOCK = 5;
const ROUNDS = { quick: 20, full: 200 };
/** Aim of the specification: at most 2 % of a worker. */
const RATIO_MAX = 1.02;

type Bodies = readonly { readonly body: Buffer; readonly userAgent: string }[];

export async function benchCatalog({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const bodies = createBodies();
  const known = new KnownNames(0, []);
  const times = { with: [] as number[], without: [] as number[] };
  const rounds = isQuick ? ROUNDS.quick : ROUNDS.full;
  say(`catalog: ${rounds} blocks with and without names`);
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const);
    for (const kind of order)
      times[kind].push(measureBlock(stack.projectId, bodies, kind === 'with' ? known : undefined));
  }
  const [withNames, without] = [lowerQuartile(times.with), lowerQuartile(times.without)];
  const events = EVENTS_PER_BODY * BODIES_PER_BLOCK;
  return [
    { name: 'encoding with names / without', value: withNames / without, unit: '', aim: atMost(RATIO_MAX) },
    { name: 'names', value: ((withNames - without) * 1e6) / events, unit: 'ns per event' },
    { name: 'encoding without names', value: (without * 1e6) / events, unit: 'ns per event' },
  ];
}

/** CPU milliseconds of one block. */
function measureBlock(projectId: string, bodies: Bodies, known: KnownNames | undefined): number {
  const block = new EventBlock((_, field) => known?.isMany(field) ?? false);
  if (known === undefined) Object.assign(block, { names: NO_NAMES });
  const before = process.cpuUsage();
  for (const { body, userAgent } of bodies) {
    const header = {
      v: 1,
      p: projectId,
      t: 0,
      ip: '127.0.0.0',
      ua: userAgent,
      geo: GEOGRAPHY,
      o: 'unknown',
      n: 0,
    } as const;
    replayEvents({ header, body }, (event) => block.add(event, true));
  }
  block.encode();
  if (known) for (const seen of block.names.projects.values()) known.add(seen.names());
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const GEOGRAPHY = { country: 'DE', region: 'Berlin', city: 'Berlin', continent: 'EU', timezone: 'Europe/Berlin' };

const NOTHING = { add: () => {}, addText: () => {} };
const SILENT = {
  ...{ eventTypes: NOTHING, eventProperties: NOTHING, userProperties: NOTHING },
  ...{ addClient: () => {}, addPage: () => {} },
};
/** Takes names and keeps none. */
const NO_NAMES = { of: () => SILENT, projects: new Map() };

const createBodies = (): Bodies =>
  Array.from({ length: BODIES_PER_BLOCK }, () => {
    const template = createBodyTemplate({ host: 'b', key: 'b', eventsPerRequest: EVENTS_PER_BODY });
    const head = template.bytes.indexOf('\r\n\r\n');
    const userAgent = /User-Agent: (.*)\r/.exec(template.bytes.toString('latin1', 0, head + 2))?.[1] ?? '';
    return { body: template.bytes.subarray(head + 4), userAgent };
  });

const lowerQuartile = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 4)] ?? 0;
