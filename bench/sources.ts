// Every source over ten million events: how long, how many rows, how much memory, beside SQL written by hand for the same
// answer where there is some; and how the time grows with the events in range.
import { compileFor, runStatement, type Statement, type TimedRows } from './compiled-query.js';
import { atMost, type Measurement } from './measurement.js';
import { toEventInserts, toMappingInsert } from './query-data.js';
import { type SourceCase, toSourceCases } from './source-cases.js';
import { type BenchContext, type Stack, selectNumber, untilMergesRest } from './stack.js';
import { median } from './statistics.js';

const DAY_MS = 86_400_000;
const DAYS = 90;
const SHARES = [0.1, 0.5, 1] as const;
const MEMORY_MAX = 2 * 1024 ** 3;
const TURNS = 7;
const TURNS_MS = 5000;

export async function benchSources({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const events = isQuick ? 500_000 : 10_000_000;
  const untilMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const data = { projectId: stack.projectId, events, days: DAYS, untilMs };
  say(`sources: making ${events.toLocaleString('en-US')} events`);
  for (const insert of [...toEventInserts(data), toMappingInsert(data)]) await stack.clickhouse.command(insert);
  await untilMergesRest(stack);

  const casesOver = (share: number) =>
    toSourceCases({ projectId: stack.projectId, from: toDay(untilMs - DAYS * share * DAY_MS), to: toDay(untilMs) });
  const [tenth, half, whole] = SHARES.map(casesOver);
  const measurements: Measurement[] = [{ name: 'events in the table', value: events, unit: '' }];
  for (const [index, whole90] of (whole ?? []).entries()) {
    say(`sources: ${whole90.source}`);
    const smaller = [tenth?.[index], half?.[index]].filter((of) => of !== undefined);
    if (!isBuilt(stack, whole90)) say(`sources: ${whole90.source} is not available yet`);
    else
      measurements.push(
        ...(await measureSource(stack, whole90, smaller).catch((error) => [toFailure(whole90, error)])),
      );
  }
  return measurements;
}

/** One source that fails must not hide the others. */
const toFailure = ({ source }: SourceCase, error: unknown): Measurement => ({
  name: `${source}: failed, ${error instanceof Error ? error.message : String(error)}`,
  value: Number.NaN,
  unit: '',
  aim: atMost(0),
});

function isBuilt(stack: Stack, { text }: SourceCase): boolean {
  try {
    compileFor(stack, text);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes('not available yet')) return false;
    throw error;
  }
}

async function measureSource(stack: Stack, whole: SourceCase, smaller: readonly SourceCase[]): Promise<Measurement[]> {
  const { source } = whole;
  const compiled = compileFor(stack, whole.text);
  const memory = await watchMemory(stack, () => runStatement(stack, compiled));
  const times = await timeInTurns(stack, { compiled, byHand: whole.sql }, whole);
  const growth: string[] = [];
  for (const part of smaller) {
    const statement = compileFor(stack, part.text);
    growth.push(String(Math.round((await timeInTurns(stack, { compiled: statement }, part)).compiledMs)));
  }
  return [
    {
      name: `${source}: all events (a tenth ${growth[0]}, half ${growth[1]} ms)`,
      value: times.compiledMs,
      unit: 'ms',
    },
    ...(times.byHandMs === undefined
      ? []
      : [
          {
            name: `${source}: ratio to SQL by hand`,
            value: times.compiledMs / times.byHandMs,
            unit: '',
            aim: atMost(1.15),
          },
        ]),
    { name: `${source}: rows read`, value: times.rowsRead, unit: '' },
    { name: `${source}: peak memory`, value: memory, unit: 'bytes', aim: atMost(MEMORY_MAX) },
  ];
}

interface Times {
  readonly compiledMs: number;
  readonly byHandMs: number | undefined;
  readonly rowsRead: number;
}

async function timeInTurns(
  stack: Stack,
  statements: { readonly compiled: Statement; readonly byHand?: string | undefined },
  { text, columns }: SourceCase,
): Promise<Times> {
  const byHand = statements.byHand === undefined ? undefined : { sql: statements.byHand, params: {} };
  const first = await runStatement(stack, statements.compiled);
  if (byHand) requireEqual(text, pick(first, columns), (await runStatement(stack, byHand)).rows);
  const compiledMs: number[] = [];
  const byHandMs: number[] = [];
  const startedMs = performance.now();
  for (let turn = 0; turn < TURNS && (turn < 3 || performance.now() - startedMs < TURNS_MS); turn += 1) {
    compiledMs.push((await runStatement(stack, statements.compiled)).elapsedMs);
    if (byHand) byHandMs.push((await runStatement(stack, byHand)).elapsedMs);
  }
  return {
    compiledMs: median(compiledMs),
    byHandMs: byHandMs.length === 0 ? undefined : median(byHandMs),
    rowsRead: first.rowsRead,
  };
}

const pick = ({ rows }: TimedRows, columns: readonly number[] | undefined): readonly (readonly unknown[])[] =>
  columns === undefined ? rows : rows.map((row) => columns.map((index) => row[index]));

function requireEqual(
  text: string,
  ours: readonly (readonly unknown[])[],
  theirs: readonly (readonly unknown[])[],
): void {
  const plain = (rows: readonly (readonly unknown[])[]) => rows.map((row) => row.map(String).join(' ')).sort();
  if (JSON.stringify(plain(ours)) === JSON.stringify(plain(theirs))) return;
  const example = (rows: readonly (readonly unknown[])[]) => JSON.stringify(plain(rows).slice(0, 3));
  throw new Error(`"${text}" has other answers than the SQL by hand: ${example(ours)} and ${example(theirs)}`);
}

const MEMORY_LOOK_MS = 10;

/** The highest peak that the engine reports of any statement while `run` runs: what the last moments add is not seen. */
async function watchMemory(stack: Stack, run: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  let isRunning = true;
  const watching = (async () => {
    while (isRunning) {
      const sql = `SELECT max(peak_memory_usage) FROM system.processes WHERE query NOT LIKE '%system.processes%'`;
      peak = Math.max(peak, await selectNumber(stack, sql));
      await new Promise((resolve) => setTimeout(resolve, MEMORY_LOOK_MS));
    }
  })();
  await run();
  isRunning = false;
  await watching;
  return peak;
}

const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
