// Property test that compares the service with the oracle: random histories and questions must get
// equal answers. A failure prints the seed and the shrunk history; ORACLE_SEED and ORACLE_RUNS
// repeat or extend a run, ORACLE_SOURCES selects sources.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answer } from '../oracle/answer.js';
import { differenceOf } from '../oracle/compare.js';
import { rounds, type Source } from '../oracle/generate-questions.js';
import { toQueryText } from '../oracle/to-query-text.js';
import { type OracleService, startOracleService, toServiceAnswer } from './oracle-service.js';

const RUNS = Number(process.env.ORACLE_RUNS ?? 60);
const SEED = process.env.ORACLE_SEED;

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

  test.each(sources)(
    '%s',
    async (source) => {
      let answered = 0;
      const agrees = fc.asyncProperty(rounds(source), async ({ context, history, questions }) => {
        const ask = await service.store(history, context);
        for (const question of questions) {
          const text = toQueryText(question);
          const given = await ask(text).catch((error: unknown) => {
            throw new Error(`${text}\n${String(error)}`, { cause: error });
          });
          answered += 1;
          const difference = differenceOf(toServiceAnswer(given), answer(question, history, context));
          if (difference !== undefined) {
            throw new Error(`${text}\nin ${context.timezone} at ${new Date(context.now).toISOString()}\n${difference}`);
          }
        }
      });
      await fc.assert(agrees, { numRuns: RUNS, ...(SEED !== undefined && { seed: Number(SEED) }) });
      // A run without answers has proved nothing.
      expect(answered).toBeGreaterThan(RUNS);
      compared += answered;
    },
    600_000,
  );

  test.runIf(isWholeRun)('thousands of answers are compared', () => {
    expect(compared).toBeGreaterThan(1200);
  });
}
