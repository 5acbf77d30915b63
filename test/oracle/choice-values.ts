// Reference implementation of the value of units in results of an experiment.
import { averageOf, quantile, sumOf } from './aggregate.js';
import type { Unit } from './choice.js';
import { eventField } from './fields.js';
import type { Event } from './history.js';
import type { Value } from './question.js';
import { numberOf } from './values.js';
import type { World } from './world.js';

interface Given {
  readonly units: ReadonlyMap<string, Unit>;
  /** Of the value, within the window of their unit. */
  readonly events: readonly Event[];
  readonly unitOf: (event: Event) => string | undefined;
  readonly world: World;
}

interface Values {
  /** Units with an event; for averages, with a number. */
  readonly converted: ReadonlySet<string | undefined>;
  /** The mean of these units; null without values. */
  readonly meanOf: (units: readonly string[]) => number | null;
  /** The values that count of these units. */
  readonly numbersOf: (units: readonly string[]) => number[];
}

/**
 * A sum is 0 for units without events, and an average missing. Values above the 99.9th percentile
 * of all units of the variants count as that. Reading: a percentile that is not above 0 cuts
 * nothing.
 */
export function valuesOf({ function: kind, field, isWhole }: Value, { units, events, unitOf, world }: Given): Values {
  const read = eventField(world);
  const numbers = new Map<string | undefined, number[]>();
  for (const event of events) {
    const number = numberOf(read(event, field));
    if (number === undefined && kind === 'avg') continue;
    numbers.set(unitOf(event), [...(numbers.get(unitOf(event)) ?? []), number ?? 0]);
  }
  const valueFor = (unit: string): number | null => {
    const own = numbers.get(unit) ?? [];
    return kind === 'sum' ? sumOf(own) : averageOf(own);
  };
  const present = (all: Iterable<string>): number[] => [...all].map(valueFor).filter((value) => value !== null);
  const percentile = quantile(present(units.keys()), 0.999);
  const cap = isWhole || percentile === null || percentile <= 0 ? Number.POSITIVE_INFINITY : percentile;
  const numbersOf = (own: readonly string[]): number[] => present(own).map((value) => Math.min(value, cap));
  return { converted: new Set(numbers.keys()), meanOf: (own) => averageOf(numbersOf(own)), numbersOf };
}
