// The compiler's SQL against handwritten SQL: twenty queries over millions of events, alternating,
// with equal answers required. Also measures compile time, of the queries of all benchmarks and of
// every form.
import { compileFor, compileKnowingly, runStatement, type TimedRows } from './compiled-query.js';
import { COMPILED_FORMS, FORM_CASES } from './form-cases.js';
import { atMost, type Measurement } from './measurement.js';
import { type QueryCase, toQueryCases } from './query-cases.js';
import { type QueryDataOptions, toEventInserts, toMappingInsert } from './query-data.js';
import { toSourceCases } from './source-cases.js';
import { type BenchContext, type Stack, untilMergesRest } from './stack.js';
import { median, percentile } from './statistics.js';

const DAY_MS = 86_400_000;
const DAYS = 90;
const COMPILE_ROUNDS = 200;

export async function benchQuery({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const events = isQuick ? 500_000 : 5_000_000;
  say(`query: making ${events.toLocaleString('en-US')} events`);
  await fill(stack, { projectId: stack.projectId, events, days: DAYS, untilMs: todayMs });
  const cases = toQueryCases({ projectId: stack.projectId, from: toDay(todayMs - 30 * DAY_MS), to: toDay(todayMs) });

  const ratios: Measurement[] = [];
  for (const [index, queryCase] of cases.entries()) {
    say(`query: ${index + 1} of ${cases.length}`);
    ratios.push({ ...(await compareCase(stack, queryCase, isQuick)), aim: atMost(1.1) });
  }
  const values = ratios.map((ratio) => ratio.value);
  return [
    { name: 'events in the table', value: events, unit: '' },
    { name: 'compiled SQL / SQL by hand, median of all', value: median(values), unit: '', aim: atMost(1.1) },
    { name: 'compiled SQL / SQL by hand, worst', value: percentile(values, 1), unit: '', aim: atMost(1.1) },
    ...measureCompiler(stack, textsOf(cases, stack.projectId)),
    ...ratios,
  ];
}

async function fill(stack: Stack, options: QueryDataOptions): Promise<void> {
  for (const insert of [...toEventInserts(options), toMappingInsert(options)]) await stack.clickhouse.command(insert);
  // Background merges would distort the running statement.
  await untilMergesRest(stack);
}

async function compareCase(stack: Stack, queryCase: QueryCase, isQuick: boolean): Promise<Measurement> {
  const compiled = await compileKnowingly(stack, queryCase.text);
  const byHand = { sql: queryCase.sql, params: {} };
  requireEqual(queryCase, await runStatement(stack, compiled), await runStatement(stack, byHand));

  const times = { compiled: [] as number[], byHand: [] as number[] };
  const startedMs = performance.now();
  // Repeat short queries more often, because their times vary more.
  for (let turn = 0; turn < (isQuick ? 3 : 25); turn += 1) {
    times.compiled.push((await runStatement(stack, compiled)).elapsedMs);
    times.byHand.push((await runStatement(stack, byHand)).elapsedMs);
    if (turn >= 4 && performance.now() - startedMs > 4000) break;
  }
  const ratio = median(times.compiled) / median(times.byHand);
  const text = queryCase.text.replace(/ \| from \S+ to \S+/, '');
  const name = `${text} (${Math.round(median(times.byHand))} ms by hand)`;
  return { name, value: ratio, unit: '' };
}

/** Compares rows independent of their order and of the formatting of values. */
function requireEqual({ text }: QueryCase, compiled: TimedRows, byHand: TimedRows): void {
  const [ours, theirs] = [compiled, byHand].map(({ rows }) => rows.map((row) => row.map(toPlainText).join(' ')).sort());
  if (JSON.stringify(ours) === JSON.stringify(theirs)) return;
  const example = (rows: readonly string[] | undefined) => JSON.stringify(rows?.slice(0, 2));
  throw new Error(`"${text}" has other answers than the SQL by hand: ${example(ours)} and ${example(theirs)}`);
}

function toPlainText(value: unknown): string {
  // Sums of floating-point numbers depend on the order of the rows in the last digits.
  if (typeof value === 'number') return String(Number(value.toPrecision(9)));
  return String(value).replace(/^(\d{4}-\d{2}-\d{2}) 00:00:00(\.0+)?$/, '$1');
}

/** The queries of all benchmarks, and every form. */
function textsOf(cases: readonly QueryCase[], projectId: string): string[] {
  const range = { projectId, from: '2026-10-01', to: '2026-11-01' };
  const measured = [...cases, ...toSourceCases(range), ...toSourceCases(range, FORM_CASES)];
  return [...measured.map(({ text }) => text), ...COMPILED_FORMS];
}

function measureCompiler(stack: Stack, texts: readonly string[]): Measurement[] {
  const microseconds: number[] = [];
  for (let round = 0; round < COMPILE_ROUNDS * 2; round += 1) {
    for (const text of texts) {
      const startedMs = performance.now();
      compileFor(stack, text);
      // The first half warms up the JIT.
      if (round >= COMPILE_ROUNDS) microseconds.push((performance.now() - startedMs) * 1000);
    }
  }
  return [
    { name: 'compile time, median', value: median(microseconds), unit: 'us', aim: atMost(1000) },
    { name: 'compile time, 95th percentile', value: percentile(microseconds, 0.95), unit: 'us', aim: atMost(1000) },
  ];
}

const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
