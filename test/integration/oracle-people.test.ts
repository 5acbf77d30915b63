// Property test of `people`: random histories and questions of every source that takes it. The rows
// are those of the oracle, and their number is the one in the report and the total of each page.
// ORACLE_SEED and ORACLE_RUNS repeat or extend a run.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { differenceOf } from '../oracle/compare.js';
import { type Round, rounds } from '../oracle/generate-questions.js';
import { answerPeople, type CountedQuestion, lastWholePeriod, type Who, whoText } from '../oracle/people.js';
import { toQueryText } from '../oracle/to-query-text.js';
import { worldOf } from '../oracle/world.js';
import { type Ask, type OracleService, startOracleService, toServiceAnswer } from '../support/oracle-service.js';
import { SEED } from '../support/seed.js';

const RUNS = Number(process.env.ORACLE_RUNS ?? 9);

type Row = Readonly<Record<string, unknown>>;

let service: OracleService;
beforeAll(async () => {
  service = await startOracleService();
});
afterAll(() => service?.close());

/** The question without the stages that do not go with `people`. */
function plain(question: object): CountedQuestion {
  const refused = ['unit', 'compare', 'by', 'sum', 'times', 'reading', 'ending'];
  const isFunnel = 'steps' in question;
  const kept = Object.entries(question).filter(([key]) => !refused.includes(key) && !(isFunnel && key === 'period'));
  return Object.fromEntries(kept) as unknown as CountedQuestion;
}

const numberIn = (row: Row | undefined, column: string): number => Number(row?.[column] ?? 0);

/** By the events of people, and by their profiles, which is another form of the plan. */
const ORDERS = ['', ' | sort at', ' | sort email'];

/**
 * The total of pages: the first and the last row, none, and behind a `limit`. No statement of its
 * own counts it.
 */
async function expectTotals(ask: Ask, text: string, count: number): Promise<void> {
  for (const [index, order] of ORDERS.entries()) {
    // Pages within the list and behind it, in turn.
    for (const offset of index % 2 === 0 ? [0, count] : [count - 1, count + 5]) {
      const { rows, total } = await ask(text + order, { limit: 1, offset });
      expect([rows.length, total], `${text}${order}, page from ${offset}`).toEqual([offset < count ? 1 : 0, count]);
    }
    const limited = await ask(`${text}${order} | limit 2`, { limit: 1, offset: 0 });
    expect(limited.total, `${text}${order} | limit 2`).toBe(Math.min(2, count));
  }
}

/** Every choice of people of the question, with the number in its report. */
async function choicesOf(question: CountedQuestion, { context, history }: Round, ask: Ask): Promise<[Who, number][]> {
  const report = async (text: string) => toServiceAnswer(await ask(text)).rows;
  switch (question.source) {
    case 'funnel': {
      const rows = await report(toQueryText(question));
      const users = (step: number): number => numberIn(rows[step - 1], 'users');
      return question.steps.flatMap((_, index): [Who, number][] => {
        const number = index + 1;
        const at: [Who, number] = [{ kind: 'at', number }, users(number)];
        if (number === question.steps.length) return [at];
        return [at, [{ kind: 'lost_after', number }, users(number) - users(number + 1)]];
      });
    }
    case 'retention': {
      const rows = await report(toQueryText(question));
      const sumOf = (number: number): number =>
        rows.filter((row) => row.period === number).reduce((sum, row) => sum + numberIn(row, 'users'), 0);
      const periods = [...new Set(rows.map((row) => Number(row.period)))];
      const all = periods.map((number): [Who, number] => [{ kind: 'at', number }, sumOf(number)]);
      const ofCohorts = rows.slice(0, 6).map((row): [Who, number] => {
        const who = { kind: 'at', number: numberIn(row, 'period'), cohort: String(row.cohort) } as const;
        return [who, numberIn(row, 'users')];
      });
      return [...all, ...ofCohorts];
    }
    case 'lifecycle': {
      const period = lastWholePeriod(question, worldOf(history, context));
      if (period === undefined) return [];
      const rows = (await report(toQueryText(question))).filter((row) => row.period === period);
      return rows.map((row) => [{ kind: 'status', status: row.status as never }, numberIn(row, 'users')]);
    }
    default: {
      const reading = { kind: 'aggregate', aggregate: { kind: 'unique' }, by: [] } as const;
      const [row] = await report(toQueryText({ ...question, reading }));
      return [[{ kind: 'all' }, numberIn(row, 'unique_count')]];
    }
  }
}

test.each(['events', 'user', 'funnel', 'retention', 'lifecycle'] as const)(
  'people of %s are those of the oracle, as many as reported',
  async (source) => {
    let compared = 0;
    let largest: { ask: Ask; text: string; count: number } | undefined;
    const drawn = fc.sample(rounds(source, { questionsMax: 4 }), { numRuns: RUNS, seed: SEED });
    const asks = await service.store(drawn);
    for (const [index, ask] of asks.entries()) {
      const round = drawn[index] as Round;
      for (const question of round.questions.map(plain)) {
        for (const [who, count] of await choicesOf(question, round, ask)) {
          const text = `${toQueryText(question)} | ${whoText(who)}`;
          const where = `${text}\nin ${round.context.timezone} at ${new Date(round.context.now).toISOString()}, seed ${SEED}`;
          const given = toServiceAnswer(await ask(text));
          const oracle = answerPeople(question, who, worldOf(round.history, round.context));
          expect(differenceOf(given, oracle), where).toBeUndefined();
          expect(given.rows.length, where).toBe(count);
          compared += given.rows.length > 0 ? 1 : 0;
          if (count > (largest?.count ?? 0)) largest = { ask, text, count };
        }
      }
    }
    // Empty lists prove little, so some must have people.
    expect(compared).toBeGreaterThan(0);
    if (largest) await expectTotals(largest.ask, largest.text, largest.count);
  },
  600_000,
);
