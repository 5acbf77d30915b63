// Runs the checks of checks.ts: all at once, each within a time limit. Used by `npm run doctor` and
// by the console.
import { setTimeout as delay } from 'node:timers/promises';
import { CHECKS, type Check, type Finding, type Stores } from './checks.js';

export const CHECK_TIMEOUT_MS = 5000;

export interface Examined extends Finding {
  readonly name: string;
  /** For findings other than ok. */
  readonly advice: string;
}

export const examineAll = (stores: Stores): Promise<Examined[]> =>
  Promise.all(
    CHECKS.map(async (check) => ({ name: check.name, advice: check.advice, ...(await examine(check, stores)) })),
  );

async function examine(check: Check, stores: Stores): Promise<Finding> {
  const silence = delay(CHECK_TIMEOUT_MS, { state: 'failed', found: 'no answer within 5 s' } as const, { ref: false });
  const failure = (error: unknown): Finding => ({ state: 'failed', found: reasonOf(error) });
  return Promise.race([check.run(stores).catch(failure), silence]);
}

// Refused connections to several addresses are an AggregateError without message.
const reasonOf = (error: unknown): string =>
  error instanceof AggregateError ? String(error.errors[0]) : error instanceof Error ? error.message : String(error);
