// Property test that compares the service with the oracle: random histories and questions must get
// equal answers. A failure prints the seed and the shrunk history; ORACLE_SEED (seed.ts) and
// ORACLE_RUNS repeat or extend a run, ORACLE_SOURCES selects sources.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definitions } from '../../src/query/definitions/definitions.js';
import { answer } from '../oracle/answer.js';
import { differenceOf } from '../oracle/compare.js';
import { type Round, rounds, type Source } from '../oracle/generate-questions.js';
import type { Question } from '../oracle/question.js';
import { cohortText, toQueryText } from '../oracle/to-query-text.js';
import { type Ask, type OracleService, startOracleService, toServiceAnswer } from './oracle-service.js';
import { SEED } from './seed.js';

const RUNS = Number(process.env.ORACLE_RUNS ?? 12);
/** Rounds that are stored in the same inserts: an insert costs as much as several answers. */
const STORED_TOGETHER = 10;

export type OracleGroup = 'rows' | 'behaviour';

/** Two groups of similar duration, so that two test files run in parallel. */
const GROUPS: Readonly<Record<Source, OracleGroup>> = {
  events: 'rows',
  latest: 'rows',
  user: 'rows',
  users: 'rows',
  formula: 'rows',
  fields: 'rows',
  inspect: 'rows',
  sessions: 'rows',
  funnel: 'behaviour',
  retention: 'behaviour',
  paths: 'behaviour',
  lifecycle: 'behaviour',
  stickiness: 'behaviour',
  choice: 'behaviour',
};
const SOURCES = Object.keys(GROUPS) as Source[];
const isWholeRun = process.env.ORACLE_RUNS === undefined && process.env.ORACLE_SOURCES === undefined;

/** Declares the tests of a group. */
export function compareWithOracle(group: OracleGroup): void {
  const asked = process.env.ORACLE_SOURCES?.split(',') ?? SOURCES;
  const sources = SOURCES.filter((source) => GROUPS[source] === group && asked.includes(source));
  let service: OracleService;
  let compared = 0;

  beforeAll(async () => {
    service = await startOracleService();
  });

  afterAll(() => service?.close());

  /** Throws where an answer of the service is not the oracle's; returns the number of answers. */
  async function compare({ context, history, questions }: Round, ask: Ask): Promise<number> {
    for (const question of questions) {
      const definitions = definitionsOf(question);
      const text = [toQueryText(question), ...definitions.map(({ query }) => `where cohort.it is ${query}`)].join('\n');
      const given = await ask(toQueryText(question), { definitions }).catch((error: unknown) => {
        throw new Error(`${text}\n${String(error)}`, { cause: error });
      });
      const difference = differenceOf(toServiceAnswer(given), answer(question, history, context));
      if (difference !== undefined) {
        throw new Error(`${text}\nin ${context.timezone} at ${new Date(context.now).toISOString()}\n${difference}`);
      }
    }
    return questions.length;
  }

  /** Stores one round after the other, and shrinks the first that fails. */
  const compareAndShrink = (source: Source): Promise<void> =>
    fc.assert(
      fc.asyncProperty(rounds(source, { hasCohorts: true }), async (round) => {
        const [ask] = await service.store([round]);
        if (ask !== undefined) await compare(round, ask);
      }),
      { numRuns: RUNS, seed: SEED },
    );

  test.each(sources)(
    '%s',
    async (source) => {
      let answered = 0;
      try {
        for (const stored of chunksOf(
          fc.sample(rounds(source, { hasCohorts: true }), { numRuns: RUNS, seed: SEED }),
          STORED_TOGETHER,
        )) {
          const asks = await service.store(stored);
          for (const [index, ask] of asks.entries()) answered += await compare(stored[index] as Round, ask);
        }
      } catch (error) {
        // Shrinking may take longer than the test may.
        process.stderr.write(`ORACLE_SEED=${SEED} finds a difference, which is shrunk now: ${String(error)}\n`);
        await compareAndShrink(source);
        throw new Error(`Rounds that are stored together differ, with ORACLE_SEED=${SEED}`, { cause: error });
      }
      // A run without answers has proved nothing.
      expect(answered).toBeGreaterThan(RUNS);
      compared += answered;
    },
    600_000,
  );

  test.runIf(isWholeRun)('many answers are compared', () => {
    expect(compared).toBeGreaterThan(300);
  });
}

const definitionsOf = (question: Question): Definitions =>
  question.cohort === undefined ? [] : [{ kind: 'cohort', name: 'it', query: cohortText(question), line: 1 }];

function chunksOf<T>(values: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  );
}
