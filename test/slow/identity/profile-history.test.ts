// Profile operations may arrive in any order and repeatedly, and the snapshot may advance at any
// time: the result equals applying every operation once, in the order of sequence numbers.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  currentState,
  extendHistory,
  type ProfileHistory,
  type ProfileOperation,
} from '../../../src/identity/profile-history.js';
import type { PropertyOps } from '../../../src/identity/property-ops.js';

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

test('firstSeen and lastSeen come from the sequence numbers, not from the arrivals', () => {
  const history = extendHistory(NOTHING, [{ seq: 5_000_999, ops: {} }], 0);
  expect(currentState(extendHistory(history, [{ seq: 2_000_000, ops: {} }], 0))).toEqual({
    properties: {},
    firstSeen: 2000,
    lastSeen: 5000,
  });
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
