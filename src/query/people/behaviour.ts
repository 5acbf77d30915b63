// Behaviour of people in conditions: the calls that a scan reads, each group of calls with one key
// as a select over events with a row per key. The scan joins these rows.
import type { ProjectId } from '../../platform/ids.js';
import type { EventSelection, ResolvedCall, TimeRange } from '../analyze/resolved.js';
import { keyOfEvent } from '../conditions/plan-call.js';
import { isIn, typesOf } from '../conditions/plan-events.js';
import { distinctValue } from '../plan/distinct.js';
import {
  allOf,
  anyOf,
  type CallValue,
  column,
  constant,
  type Expression,
  infix,
  instant,
  partsOf,
} from '../plan/expressions.js';
import { isPresentField, readNumber } from '../plan/field-expressions.js';
import { fn } from '../plan/functions.js';
import { planMeasure } from '../plan/measure.js';
import type { Columns } from '../plan/plan.js';

/** Calls with the same key, which one scan aggregates. */
export interface Behaviour {
  /** Key of the row that is filtered. */
  readonly key: Expression;
  /** Column of the key in the aggregated rows. */
  readonly keyName: string;
  readonly columns: Columns;
  readonly selection: EventSelection;
  readonly filter: readonly Expression[];
}

/** The values of calls that these expressions read. */
export const callsIn = (reads: readonly Expression[]): CallValue[] =>
  [...partsOf(reads)].filter((part) => part.kind === 'call_value');

/** The behaviour that these expressions read. */
export function behaviourIn(reads: readonly Expression[], projectId: ProjectId): Behaviour[] {
  const byKey = new Map<string, Map<string, CallValue>>();
  for (const part of callsIn(reads)) {
    const identity = JSON.stringify(part.key);
    const group = byKey.get(identity) ?? new Map<string, CallValue>();
    byKey.set(identity, group.set(part.call.name, part));
  }
  return [...byKey.values()].flatMap((group) => {
    const values = [...group.values()];
    const [first] = values;
    return first
      ? [
          toBehaviour(
            first,
            values.map(({ call }) => call),
            projectId,
          ),
        ]
      : [];
  });
}

function toBehaviour({ key, call: first }: CallValue, calls: readonly ResolvedCall[], projectId: ProjectId): Behaviour {
  const range: TimeRange = {
    fromMs: Math.min(...calls.map((call) => call.range.fromMs)),
    toMs: Math.max(...calls.map((call) => call.range.toMs)),
  };
  const keyName = `key_of_${first.name}`;
  const planValue = (call: ResolvedCall): Expression =>
    calls.length === 1 ? planMeasure(call.measure) : planValueWhen(call, isCounted(call, range, projectId));
  const sets = calls.map(({ events }) => events);
  // Where each call has a condition, other events are not read.
  const isOfAny = sets.every(({ condition }) => condition) ? [anyOf(sets.map((set) => isIn(set, projectId)))] : [];
  return {
    key,
    keyName,
    columns: {
      [keyName]: keyOfEvent(first),
      ...Object.fromEntries(calls.map((call) => [call.name, planValue(call)])),
    },
    selection: { eventTypes: typesOf(sets), range, condition: undefined },
    filter: [...isOfAny, isPresentField(first.key)],
  };
}

/**
 * Whether an event of the scanned range is one of the call. The scan has only these, when it is of
 * one call.
 */
function isCounted({ events, range }: ResolvedCall, scanned: TimeRange, projectId: ProjectId): Expression {
  const time = column('time');
  return allOf([
    isIn(events, projectId),
    ...(range.fromMs > scanned.fromMs ? [infix('>=', time, instant(range.fromMs))] : []),
    ...(range.toMs < scanned.toMs ? [infix('<', time, instant(range.toMs))] : []),
  ]);
}

const NUMERIC = { sum: fn.sumIf, avg: fn.avgIf, min: fn.minIf, max: fn.maxIf } as const;
type NumericName = keyof typeof NUMERIC;

/** Rows without the key read 0, or null where the number is nullable. */
function planValueWhen({ measure }: ResolvedCall, when: Expression): Expression {
  switch (measure.kind) {
    case 'count':
      return fn.countIf(when);
    case 'unique': {
      const { value, isPresent } = distinctValue(measure.field);
      return fn.uniqExactIf(value, isPresent ? allOf([when, isPresent]) : when);
    }
    case 'numeric': {
      const value = NUMERIC[measure.function as NumericName](readNumber(measure.field), when);
      return measure.function === 'sum' ? fn.ifNull(value, constant(0)) : value;
    }
  }
}
