// Plan of the counted attempts of a funnel: of each person the attempt that reached most steps, and
// of equals the earliest. By time buckets, one attempt of each bucket in which the person began
// one.

import { filter, first, map } from '../../plan/behaviour.js';
import {
  alias,
  constant,
  type Expression,
  equals,
  integer,
  lambda,
  textValue,
  tupleElement,
} from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import { extend, type Step, select, step } from '../../plan/plan.js';
import { bucketOf } from '../../time/buckets.js';
import { type Counted, type Funnel, numbersTo } from './funnel.js';

/** An attempt is a tuple: the times of its steps, and with a breakdown the value at the first. */
const timesOf = (attempt: Expression): Expression => tupleElement(attempt, 1);
const valueAt = (attempt: Expression): Expression => tupleElement(attempt, 2);

/** Attempts in the order of their start, ranked. */
export const bySteps = (attempts: Expression, steps: number): Expression =>
  fn.arrayConcat(
    ...numbersTo(steps)
      .reverse()
      .map((reached) =>
        filter(attempts, 'attempt', (attempt) => equals(fn.length(timesOf(attempt)), integer(reached))),
      ),
  );

const same = (time: Expression): Expression => time;

/**
 * `bestFirst` are the attempts of a person: those with more steps first, of equals the earlier
 * first.
 */
export function planBest({ query, breakdown, person }: Funnel, people: Step, bestFirst: Expression): Counted {
  const { granularity, timezone } = query;
  const attempts = step('ranked_attempts', extend(people, { ranked: bestFirst }));
  const [ranked, attempt, started] = [alias('ranked'), alias('attempt'), alias('started')];
  const value = breakdown && { value: valueAt(attempt) };
  const times = { times: timesOf(attempt), started: first(timesOf(attempt)) };
  if (granularity === undefined) {
    const best = step('best_attempts', select({ columns: { ...person, attempt: first(ranked) }, from: attempts }));
    const from = step('counted_attempts', select({ columns: { ...person, ...times, ...value }, from: best }));
    return { from, msOf: same, value: breakdown && alias('value') };
  }
  const bucketAt = (ms: Expression): Expression =>
    bucketOf(fn.fromUnixTimestamp64Milli(ms, textValue('UTC')), { granularity, timezone }, query.selection.range);
  const buckets = map(ranked, 'attempt', (of) => bucketAt(first(timesOf(of))));
  const isFirst = lambda(['attempt', 'number'], (_, number) => equals(number, constant(1)));
  const best = fn.arrayJoin(fn.arrayFilter(isFirst, ranked, fn.arrayEnumerateUniq(buckets)));
  const byBucket = step('best_attempts', select({ columns: { attempt: best }, from: attempts }));
  const columns = { ...times, ...value, bucket: bucketAt(started) };
  const from = step('counted_attempts', select({ columns, from: byBucket }));
  return { from, msOf: same, value: breakdown && alias('value') };
}
