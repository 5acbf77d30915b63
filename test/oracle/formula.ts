// Reference implementation of arithmetic over aggregates.
import { measured } from './aggregate.js';
import { type Interval, intervalOf, timeGroupOf, timeGroupsOf } from './calendar.js';
import { eventsOf, isOneOf } from './events.js';
import { eventField } from './fields.js';
import type { Event } from './history.js';
import type { Aggregate, Expression, FormulaQuestion } from './question.js';
import { type Answer, inThisOrder } from './table.js';
import type { World } from './world.js';

export function answerFormula(question: FormulaQuestion, world: World): Answer {
  const { timezone } = world.clock;
  const { by, expression } = question;
  const interval: Interval = intervalOf(question.range, { count: 7, unit: 'd' }, world.clock);
  const events = eventsOf(world, null, interval, question.where);
  if (by === undefined) {
    const rows = [{ value: evaluated(expression, events, world) }];
    return { mode: 'formula', columns: ['value'], ...inThisOrder(rows) };
  }
  const rows = timeGroupsOf(interval, by, timezone).map((bucket) => {
    const own = events.filter((event) => timeGroupOf(event.time, by, timezone) === bucket);
    return { [by]: bucket, value: evaluated(expression, own, world) };
  });
  return { mode: 'formula', columns: [by, 'value'], ...inThisOrder(rows) };
}

/** Operations with null, and division by zero, are null. */
function evaluated(expression: Expression, events: readonly Event[], world: World): number | null {
  switch (expression.kind) {
    case 'number':
      return expression.value;
    case 'term': {
      const own = events.filter(isOneOf(world, expression.event));
      return measured(aggregateOf(expression), own, eventField(world));
    }
    case 'binary': {
      const left = evaluated(expression.left, events, world);
      const right = evaluated(expression.right, events, world);
      return left === null || right === null ? null : calculated(expression.operator, left, right);
    }
  }
}

function aggregateOf(term: Extract<Expression, { kind: 'term' }>): Aggregate {
  const { function: kind, field } = term;
  if (kind === 'count') return { kind };
  if (kind === 'unique') return field === undefined ? { kind } : { kind, field };
  if (field === undefined) throw new Error(`${kind} needs a field`);
  return { kind, field };
}

function calculated(operator: '+' | '-' | '*' | '/', left: number, right: number): number | null {
  if (operator === '+') return left + right;
  if (operator === '-') return left - right;
  if (operator === '*') return left * right;
  return right === 0 ? null : left / right;
}
