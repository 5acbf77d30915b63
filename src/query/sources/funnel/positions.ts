// Position of an event in a person's history, in one integer: its time and its rank among the
// person's events of equal time.
import { map } from '../../plan/behaviour.js';
import { constant, type Expression, infix, lambda } from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';

export const RANK_BITS = constant(5);
export const RANK_MAX = constant(31);

/** Positions of moments that are in order. */
export function positionsOf(moments: Expression, timeOf: (moment: Expression) => Expression): Expression {
  const ranked = lambda(['moment', 'count'], (moment, count) =>
    infix('+', fn.bitShiftLeft(timeOf(moment), RANK_BITS), fn.least(infix('-', count, constant(1)), RANK_MAX)),
  );
  const counts = fn.arrayEnumerateUniq(map(moments, 'moment', timeOf));
  return fn.arrayMap(ranked, moments, counts);
}

export const timeOfPosition = (position: Expression): Expression => fn.bitShiftRight(position, RANK_BITS);
