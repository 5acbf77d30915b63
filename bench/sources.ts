// Every source, and every form of one, over ten million events: time, rows and memory against
// handwritten SQL; growth with the number of events; and the cost of stitching.
import { messageOf } from '../src/platform/errors.js';
import { compileKnowingly, runStatement, type Statement, type TimedRows } from './compiled-query.js';
import { FORM_CASES } from './form-cases.js';
import { atMost, type Measurement } from './measurement.js';
import { toEventInserts, toExposureInsert, toMappingInsert, toProfileInsert } from './query-data.js';
import { type SourceCase, type SourceRange, stitchingCases, toSourceCases } from './source-cases.js';
import { type BenchContext, type Stack, selectNumber, untilMergesRest } from './stack.js';
import { median } from './statistics.js';

const DAY_MS = 86_400_000;
const DAYS = 90;
const STITCHED_DAYS = 30;
/** Some forms read as many days before. */
const FORM_DAYS = 30;
const SHARES = [0.1, 0.5, 1] as const;
const MEMORY_MAX = 2 * 1024 ** 3;
const TURNS = 7;
const TURNS_MS = 4000;

export async function benchSources(context: BenchContext): Promise<Measurement[]> {
  const { stack, report } = context;
  const over = await fill(context);
  report(await measureStitching(stack, stitchingCases(over(STITCHED_DAYS))));
  const [tenth = [], half = [], whole = []] = SHARES.map((share) => toSourceCases(over(DAYS * share)));
  for (const [index, ofAll] of whole.entries()) {
    await reportSource(
      context,
      ofAll,
      [tenth[index], half[index]].filter((of) => of !== undefined),
    );
  }
  return [];
}

export async function benchForms(context: BenchContext): Promise<Measurement[]> {
  const over = await fill(context);
  for (const ofForm of toSourceCases(over(FORM_DAYS), FORM_CASES)) await reportSource(context, ofForm, []);
  return [];
}

/** Makes the events, and returns the ranges that end with them. */
async function fill({ stack, isQuick, say, report }: BenchContext): Promise<(days: number) => SourceRange> {
  const events = isQuick ? 500_000 : 10_000_000;
  const untilMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const data = { projectId: stack.projectId, events, days: DAYS, untilMs };
  say(`making ${events.toLocaleString('en-US')} events`);
  const inserts = [...toEventInserts(data), toExposureInsert(data), toMappingInsert(data), toProfileInsert(data)];
  for (const insert of inserts) await stack.clickhouse.command(insert);
  await untilMergesRest(stack);
  report([{ name: 'events in the table', value: events, unit: '' }]);
  return (days) => ({ projectId: stack.projectId, from: toDay(untilMs - days * DAY_MS), to: toDay(untilMs) });
}

async function reportSource(
  { stack, say, report }: BenchContext,
  ofAll: SourceCase,
  smaller: readonly SourceCase[],
): Promise<void> {
  say(ofAll.source);
  report(await measureSource(stack, ofAll, smaller).catch((error) => [toFailure(ofAll, error)]));
}

/** Reports a failing source and continues with the others. */
const toFailure = ({ source }: SourceCase, error: unknown): Measurement => ({
  name: `${source}: failed, ${messageOf(error)}`,
  value: Number.NaN,
  unit: '',
  aim: atMost(0),
});

/** The query and baselines without stitching: unique hashes, and unique texts of ids. */
async function measureStitching(stack: Stack, cases: ReturnType<typeof stitchingCases>): Promise<Measurement[]> {
  const stitching = await compileKnowingly(stack, cases.stitched);
  const statements = [stitching, toStatement(cases.unstitched), toStatement(cases.byText)];
  const [stitched = Number.NaN, unstitched = Number.NaN, byText = Number.NaN] = (
    await timeInTurns(stack, statements)
  ).map(median);
  const name = `unique people of ${STITCHED_DAYS} days, stitched`;
  return [
    { name: `${name} / not stitched`, value: stitched / unstitched, unit: '' },
    { name: `${name} / unique texts of user_id`, value: stitched / byText, unit: '' },
  ];
}

const toStatement = (sql: string): Statement => ({ sql, params: {} });

async function measureSource(stack: Stack, whole: SourceCase, smaller: readonly SourceCase[]): Promise<Measurement[]> {
  const { source } = whole;
  const compiled = await compileKnowingly(stack, whole.text);
  const byHand = toStatement(whole.sql);
  const { result, peak } = await watchMemory(stack, () => runStatement(stack, compiled));
  requireEqual(whole, result, await runStatement(stack, byHand));
  const [ours = [], theirs = []] = await timeInTurns(stack, [compiled, byHand]);
  const grown: number[] = [];
  for (const part of smaller) {
    const statement = await compileKnowingly(stack, part.text);
    const [times = []] = await timeInTurns(stack, [statement]);
    grown.push(median(times));
  }
  const parts = ['a tenth', 'half'].flatMap((name, index): Measurement[] => {
    const value = grown[index];
    return value === undefined ? [] : [{ name: `${source}: ${name} of the events`, value, unit: 'ms' }];
  });
  return [
    ...parts,
    { name: `${source}: all events`, value: median(ours), unit: 'ms' },
    { name: `${source}: ratio to SQL by hand`, value: median(ours) / median(theirs), unit: '', aim: atMost(1.15) },
    { name: `${source}: rows read`, value: result.rowsRead, unit: '' },
    { name: `${source}: peak memory`, value: peak, unit: 'bytes', aim: atMost(MEMORY_MAX) },
  ];
}

/** Runs the statements in alternation, so that noise of the machine affects all. */
async function timeInTurns(stack: Stack, statements: readonly Statement[]): Promise<number[][]> {
  const times = statements.map((): number[] => []);
  const startedMs = performance.now();
  for (let turn = 0; turn < TURNS && (turn < 3 || performance.now() - startedMs < TURNS_MS); turn += 1) {
    for (const [index, statement] of statements.entries()) {
      times[index]?.push((await runStatement(stack, statement)).elapsedMs);
    }
  }
  return times;
}

/**
 * Compares the shared columns: the handwritten SQL may return fewer, or additional ones at the end.
 */
function requireEqual({ text, columns }: SourceCase, ours: TimedRows, theirs: TimedRows): void {
  const width = columns?.length;
  const plain = (rows: readonly (readonly unknown[])[]) => rows.map((row) => row.map(toPlainText).join(' ')).sort();
  const compiled = plain(columns ? ours.rows.map((row) => columns.map((index) => row[index])) : ours.rows);
  const byHand = plain(theirs.rows.map((row) => row.slice(0, width)));
  if (JSON.stringify(compiled) === JSON.stringify(byHand)) return;
  const example = (rows: readonly string[]) => JSON.stringify(rows.slice(0, 3));
  throw new Error(`"${text}" has other answers than the SQL by hand: ${example(compiled)} and ${example(byHand)}`);
}

// The last digits of floating-point sums depend on the order of rows.
const toPlainText = (value: unknown): string =>
  typeof value === 'number' ? String(Number(value.toPrecision(9))) : JSON.stringify(value);

const MEMORY_LOOK_MS = 10;

/**
 * Peak memory of any statement while `run` runs, sampled: growth in the last moments may be missed.
 */
async function watchMemory<T>(stack: Stack, run: () => Promise<T>): Promise<{ result: T; peak: number }> {
  let peak = 0;
  let isRunning = true;
  const watch = async () => {
    while (isRunning) {
      const sql = `SELECT max(peak_memory_usage) FROM system.processes WHERE query NOT LIKE '%system.processes%'`;
      peak = Math.max(peak, await selectNumber(stack, sql));
      await new Promise((resolve) => setTimeout(resolve, MEMORY_LOOK_MS));
    }
  };
  const [result] = await Promise.all([
    run().finally(() => {
      isRunning = false;
    }),
    watch(),
  ]);
  return { result, peak };
}

const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
