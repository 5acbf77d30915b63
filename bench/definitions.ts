// What a definition costs a query: the time to compile it by the name of a definition beside the
// time with its text, one after the other, with definitions that are known and ones just read.
import { toProjectId } from '../src/platform/ids.js';
import { compile } from '../src/query/compile.js';
import type { Definition, Definitions } from '../src/query/definitions/definitions.js';
import { atMost, type Measurement } from './measurement.js';
import type { BenchContext } from './stack.js';
import { median, percentile } from './statistics.js';

const EXPANSION_MS_MAX = 0.2;

const ACTIVATED = '(signup, first_export[rows > 0])';
const POWER = 'count(purchase last 30d) >= 5';

/** By name, and with the text in its place. */
const PAIRS: readonly (readonly [short: string, long: string])[] = [
  ['activated | count by day', `${ACTIVATED} | count by day`],
  ['funnel signup -> activated -> purchase | window 7d', `funnel signup -> ${ACTIVATED} -> purchase | window 7d`],
  ['* | where cohort.power = true | unique by week', `* | where ${POWER} | unique by week`],
  ['metric activation | by week', `formula unique(${ACTIVATED}) / unique(signup) | by week`],
];

const define = (kind: Definition['kind'], name: string, query: string): Definition => ({ kind, name, query, line: 1 });

/** Those of the pairs, among 197 others. */
const newDefinitions = (): Definitions => [
  ...Array.from({ length: 197 }, (_, index) => define('event', `other_${index}`, `other[rows > ${index}]`)),
  define('event', 'activated', ACTIVATED),
  define('cohort', 'power', `* | where ${POWER}`),
  define('metric', 'activation', 'formula unique(activated) / unique(signup)'),
];

export async function benchDefinitions({ isQuick, say }: BenchContext): Promise<Measurement[]> {
  say('definitions: compiling');
  const times = isQuick ? 100 : 2_000;
  const known = newDefinitions();
  differences(times, () => known);
  const results = [
    { name: 'a definition in a query, known', delays: differences(times, () => known) },
    { name: 'a definition in a query, just read', delays: differences(times, newDefinitions) },
  ];
  return results.flatMap(({ name, delays }) => [
    { name: `${name}, median`, value: median(delays), unit: 'ms', aim: atMost(EXPANSION_MS_MAX) },
    { name: `${name}, 95th percentile`, value: percentile(delays, 0.95), unit: 'ms' },
  ]);
}

/** Milliseconds that the short form takes longer, of all pairs. */
function differences(times: number, definitionsOf: () => Definitions): number[] {
  const context = {
    projectId: toProjectId('00000000-0000-7000-8000-000000000001'),
    ...{ nowMs: Date.now(), timezone: 'UTC', limit: 100, offset: 0 },
  };
  const timeOf = (text: string, definitions: Definitions): number => {
    const startedMs = performance.now();
    compile(text, { ...context, definitions });
    return performance.now() - startedMs;
  };
  return Array.from({ length: times }, () =>
    PAIRS.map(([short, long]) => {
      const definitions = definitionsOf();
      return timeOf(short, definitions) - timeOf(long, definitions);
    }),
  ).flat();
}
