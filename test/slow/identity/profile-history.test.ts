// Profile operations may arrive in any order and repeatedly, and the snapshot may advance at any
// time: the result equals applying every operation once, in the order of sequence numbers.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  currentState,
  extendHistory,
  importIntoHistory,
  type ProfileHistory,
  type ProfileOperation,
} from '../../../src/identity/profile-history.js';
import type { PropertyOps } from '../../../src/identity/property-ops.js';
import { applyInOrder } from '../../support/identify-model.js';

const NOTHING: ProfileHistory = { checkpoint: undefined, checkpointSeq: 0, tail: [] };

const key = fc.constantFrom('a', 'b', 'email');
const value = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constantFrom('x', '7', ''), fc.boolean());
const ops: fc.Arbitrary<PropertyOps> = fc.record(
  {
    set: fc.dictionary(key, fc.option(value)),
    setOnce: fc.dictionary(key, value),
    // Fractions, whose sums depend on the order in which they are added.
    add: fc.dictionary(key, fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e3, max: 1e3 })),
    unset: fc.array(key, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

interface Arrival {
  readonly operation: ProfileOperation;
  /** Arrives once more, later. */
  readonly isRepeated: boolean;
  /** Fraction of the low watermark that is used, because a worker may have read it earlier. */
  readonly eagerness: number;
  readonly delay: number;
}

const arrivals: fc.Arbitrary<Arrival[]> = fc
  .array(
    fc.record({
      ops,
      isRepeated: fc.boolean(),
      eagerness: fc.double({ min: 0, max: 1, noNaN: true }),
      delay: fc.nat(20),
    }),
    { maxLength: 30 },
  )
  .map((drawn) =>
    drawn.map(({ ops: own, ...rest }, index) => ({ ...rest, operation: { seq: 1_000_000 + index * 700, ops: own } })),
  );

test('operations in any order give the profile of sequential application', () => {
  fc.assert(
    fc.property(arrivals, (drawn) => {
      const operations = drawn.map(({ operation }) => operation);
      const sequential = currentState(extendHistory(NOTHING, operations, Number.POSITIVE_INFINITY));

      const order = drawn
        .map((arrival, index) => ({ ...arrival, at: index + arrival.delay }))
        .sort((one, other) => one.at - other.at);
      const waiting = new Set(operations.map(({ seq }) => seq));
      let history = NOTHING;
      const repeats: ProfileOperation[] = [];
      for (const { operation, isRepeated, eagerness } of order) {
        waiting.delete(operation.seq);
        const lowest = Math.min(...waiting, 1_000_000 + operations.length * 700);
        const watermark = Math.floor(1_000_000 + (lowest - 1_000_000) * eagerness);
        history = extendHistory(history, [operation, ...repeats.splice(0, 1)], watermark);
        if (isRepeated) repeats.push(operation);
      }
      expect(currentState(history)).toEqual(sequential);
      const settled = extendHistory(history, [], Number.POSITIVE_INFINITY);
      expect(settled.tail).toEqual([]);
      expect(currentState(settled)).toEqual(sequential);
    }),
    { numRuns: 500 },
  );
});

const FIRST_SEQ = 1_000_000;
const STEP = 1000;

/** Live calls and imported ones of a user, in the order of their times. */
const calls = fc
  .array(fc.record({ ops, isImported: fc.boolean(), set: fc.dictionary(key, value), arrival: fc.nat(1000) }), {
    maxLength: 30,
  })
  .map((drawn) => drawn.map((call, index) => ({ ...call, seq: FIRST_SEQ + index * STEP })));

test('imported values and live calls in any order, twice, give the profile of the order of their times', () => {
  fc.assert(
    fc.property(calls, (drawn) => {
      let history = NOTHING;
      const live = new Set(drawn.filter(({ isImported }) => !isImported).map(({ seq }) => seq));
      for (const { seq, ops: own, isImported, set } of drawn.toSorted((one, other) => one.arrival - other.arrival)) {
        live.delete(seq);
        if (!isImported) history = extendHistory(history, [{ seq, ops: own }], Math.min(...live, FIRST_SEQ * 2));
        else history = importIntoHistory(importIntoHistory(history, [{ seq, ops: { set } }]), [{ seq, ops: { set } }]);
      }
      const again = drawn.filter(({ isImported }) => isImported).map(({ seq, set }) => ({ seq, ops: { set } }));
      const state = currentState(history);
      expect(currentState(importIntoHistory(history, again))).toEqual(state);

      const expected = applyInOrder(
        drawn.map(({ seq, ops: { set, setOnce, add, unset }, ...call }) => ({
          seq,
          call: {
            user_id: 'u',
            user_property_ops: call.isImported
              ? { $set: call.set }
              : {
                  ...(set && { $set: set }),
                  ...(setOnce && { $set_once: setOnce }),
                  ...(add && { $add: add }),
                  ...(unset && { $unset: unset }),
                },
          },
        })),
      ).profiles.u;
      expect(state?.properties).toEqual(expected?.properties);
      expect([state?.firstSeen, state?.lastSeen]).toEqual([expected?.first_seen, expected?.last_seen]);
    }),
    { numRuns: 1000 },
  );
});

test('of imported values of the same time one counts, in whichever order they arrive', () => {
  const imported = ['x', 'y', '7', 7, true].map((a) => ({ seq: 5000, ops: { set: { a } } }));
  const state = currentState(importIntoHistory(NOTHING, imported));
  for (const [index] of imported.entries()) {
    const turned = [...imported.slice(index), ...imported.slice(0, index)].toReversed();
    expect(currentState(importIntoHistory(NOTHING, turned))).toEqual(state);
  }
});

test('a property from before times were kept is as new as the last call of its profile', () => {
  const checkpoint = { properties: { plan: 'pro' }, times: {}, firstSeen: 1000, lastSeen: 5000 };
  const imported = (seq: number) =>
    currentState(importIntoHistory({ ...NOTHING, checkpoint }, [{ seq, ops: { set: { plan: 'free', city: 'Rome' } } }]))
      ?.properties;
  expect(imported(4_000_000)).toEqual({ plan: 'pro', city: 'Rome' });
  expect(imported(6_000_000)).toEqual({ plan: 'free', city: 'Rome' });
});

test('times are bounded: of increments and removed keys the newest count', () => {
  const many = Array.from({ length: 2000 }, (_, index) => ({
    seq: 1_000_000 + index,
    ops: index % 2 === 0 ? { add: { [`sum ${index % 50}`]: 1 } } : { unset: [`gone ${index}`] },
  }));
  const state = currentState(extendHistory(NOTHING, many, Number.POSITIVE_INFINITY));
  expect(state?.properties['sum 0']).toBe(40);
  expect(JSON.stringify(state?.times).length).toBeLessThan(20_000);
});

test('firstSeen and lastSeen come from the sequence numbers, not from the arrivals', () => {
  const history = extendHistory(NOTHING, [{ seq: 5_000_999, ops: {} }], 0);
  expect(currentState(extendHistory(history, [{ seq: 2_000_000, ops: {} }], 0))).toMatchObject({
    properties: {},
    firstSeen: 2000,
    lastSeen: 5000,
  });
});

test('an imported value without a time is no first sight, unless nothing else is known', () => {
  const [unknown, known] = [Date.UTC(2000, 0, 1), Date.UTC(2026, 0, 1)];
  const imported = importIntoHistory(NOTHING, [{ seq: unknown * 1000, ops: { set: { plan: 'pro' } } }]);
  expect(currentState(imported)).toMatchObject({ firstSeen: unknown, lastSeen: unknown });
  const called = extendHistory(imported, [{ seq: known * 1000, ops: {} }], known * 1000 + 1);
  expect(currentState(called)).toMatchObject({ properties: { plan: 'pro' }, firstSeen: known, lastSeen: known });
});

test('the snapshot includes only operations below the low watermark', () => {
  const history = extendHistory(
    NOTHING,
    [
      { seq: 3, ops: { set: { a: 3 } } },
      { seq: 1, ops: { set: { a: 1 } } },
    ],
    3,
  );
  expect(history.checkpointSeq).toBe(1);
  expect(history.tail.map(({ seq }) => seq)).toEqual([3]);
});

test('a profile without operations has no state', () => {
  expect(currentState(NOTHING)).toBeUndefined();
});
