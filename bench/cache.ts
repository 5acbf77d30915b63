// Repeated questions over POST /query: the first time and again with unchanged data, one at a time
// and twelve cards at once, as time and as CPU of all processes.
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Measurement } from './measurement.js';
import { readCpuMs } from './process-usage.js';
import { toQueryCases } from './query-cases.js';
import { toEventInserts, toMappingInsert, toProfileInsert } from './query-data.js';
import { ask, type BenchContext, type Stack, untilMergesRest } from './stack.js';
import { median } from './statistics.js';

const DAY_MS = 86_400_000;
const DAYS = 90;
const CARDS = 12;
const AGAIN = 25;
/** So that work after an answer is not counted for the next. */
const PAUSE_MS = 100;

export const KEEPS_ANSWERS = { ANSWER_CACHE_BYTES: String(32 * 1024 * 1024) };

export async function benchCache({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const untilMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const events = isQuick ? 200_000 : 2_000_000;
  const { projectId } = stack;
  const data = { projectId, events, days: DAYS, untilMs };
  say(`cache: making ${events.toLocaleString('en-US')} events`);
  const inserts = [...toEventInserts(data), toMappingInsert(data), toProfileInsert(data)];
  for (const insert of inserts) await stack.clickhouse.command(insert);
  await untilMergesRest(stack);
  // The first statements of the engine read the tables' metadata.
  await ask(stack, '* | count');

  const range = { projectId, from: toDay(untilMs - 30 * DAY_MS), to: toDay(untilMs) };
  const cards = toQueryCases(range)
    .map(({ text }) => text)
    .slice(0, CARDS);
  say('cache: one question');
  const question = `* | from ${range.from} to ${range.to} | unique distinct_id by _country`;
  const one = await measure(stack, isQuick, () => ask(stack, question));
  say('cache: a range that ends now');
  // Its ends move between two questions, while no event leaves or enters it.
  const running = await measure(stack, isQuick, () => ask(stack, '* | last 200d | count by day'));
  say('cache: twelve cards');
  const dashboard = await measure(stack, isQuick, () => Promise.all(cards.map((card) => ask(stack, card))));
  return [
    { name: 'events in the table', value: events, unit: '' },
    ...toMeasurements('a question', one, 10),
    ...toMeasurements('days of a range that ends now', running, 10),
    ...toMeasurements('a dashboard of 12 cards', dashboard, 150),
  ];
}

interface Times {
  readonly first: Sample;
  readonly again: readonly Sample[];
}

interface Sample {
  readonly ms: number;
  readonly cpuMs: number;
}

async function measure(stack: Stack, isQuick: boolean, run: () => Promise<unknown>): Promise<Times> {
  const sample = async (): Promise<Sample> => {
    await sleep(PAUSE_MS);
    const cpuBefore = sumOf(readCpuMs(stack.processes()));
    const startedMs = performance.now();
    await run();
    const ms = performance.now() - startedMs;
    return { ms, cpuMs: sumOf(readCpuMs(stack.processes())) - cpuBefore };
  };
  const first = await sample();
  const again: Sample[] = [];
  for (let turn = 0; turn < (isQuick ? 5 : AGAIN); turn += 1) again.push(await sample());
  return { first, again };
}

const sumOf = (values: ReadonlyMap<string, number>): number => [...values.values()].reduce((sum, of) => sum + of, 0);

/** CPU is counted in ticks of 10 ms, so that of the repetitions is a mean. */
const toMeasurements = (name: string, { first, again }: Times, aimMs: number): Measurement[] => [
  { name: `${name}, first`, value: first.ms, unit: 'ms' },
  { name: `${name}, again, median`, value: median(again.map(({ ms }) => ms)), unit: 'ms', aim: atMost(aimMs) },
  { name: `${name}, first, CPU`, value: first.cpuMs, unit: 'ms' },
  {
    name: `${name}, again, CPU`,
    value: again.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / again.length,
    unit: 'ms',
  },
];

const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
