// Confidence sequence of means, and the result packet of an experiment of value.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findBestProbabilitiesOfMeans } from '../../../src/experiments/best-probability.js';
import { findMeanSequence, toAlwaysValidMeanPValue } from '../../../src/experiments/confidence-sequence.js';
import { findLiftInterval, type Moments, toMeanPValue } from '../../../src/experiments/means.js';
import { twoSidedTail } from '../../../src/experiments/normal.js';
import { toChoicePacket } from '../../../src/experiments/packet.js';
import { toValuePacket, type VariantValues } from '../../../src/experiments/value-packet.js';

const of = (units: number, mean: number, variance: number): Moments => ({ units, mean, variance });
const moments = fc.record({
  units: fc.integer({ min: 2, max: 100_000 }),
  mean: fc.double({ min: -100, max: 100, noNaN: true }),
  variance: fc.double({ min: 0.01, max: 1e4, noNaN: true }),
});

describe('findMeanSequence', () => {
  test('equals the formula of the theorem with the pooled variance', () => {
    const [control, treatment] = [of(5_000, 3, 16), of(5_000, 3, 16)];
    const { low, high } = findMeanSequence({ control, treatment }, 0.05) ?? { low: 0, high: 0 };
    // s² / N is the variance of the lift: 16 / 5,000 + 16 / 5,000, or a little more, because the
    // pooled one divides by N - 1.
    const [units, scale] = [10_000, (5.991464547107979 + Math.log(6.991464547107979)) / 10_000];
    const sd = Math.sqrt(units * (16 / 5_000) * 2);
    const margin =
      sd * Math.sqrt(((units * scale + 1) / (units ** 2 * scale)) * Math.log((units * scale + 1) / 0.05 ** 2));
    expect(high / margin).toBeCloseTo(1, 3);
    expect(low / -margin).toBeCloseTo(1, 3);
  });

  test('excludes 0 exactly when its p-value is below alpha', () => {
    fc.assert(
      fc.property(moments, moments, (control, treatment) => {
        const sequence = findMeanSequence({ control, treatment }, 0.05);
        const excludes = sequence !== undefined && (sequence.low > 0 || sequence.high < 0);
        expect(toAlwaysValidMeanPValue({ control, treatment }) < 0.05).toBe(excludes);
      }),
    );
  });

  test('is wider than the interval of a fixed sample size', () => {
    fc.assert(
      fc.property(moments, moments, (control, treatment) => {
        const sequence = findMeanSequence({ control, treatment }, 0.05) ?? { low: 0, high: 0 };
        const fixed = findLiftInterval({ control, treatment }, 0.05) ?? { low: 0, high: 0 };
        expect(sequence.low).toBeLessThan(fixed.low);
        expect(sequence.high).toBeGreaterThan(fixed.high);
      }),
    );
  });

  test.each([
    ['no units', of(0, 0, 0), of(10, 1, 1)],
    ['one unit', of(1, 3, 0), of(10, 1, 1)],
    ['no value', of(500, 0, 0), of(500, 0, 0)],
  ])('is undefined for %s', (_, control, treatment) => {
    expect(findMeanSequence({ control, treatment }, 0.05)).toBeUndefined();
    expect(toAlwaysValidMeanPValue({ control, treatment })).toBe(1);
    expect(toMeanPValue({ control, treatment })).toBe(1);
  });
});

test('findBestProbabilitiesOfMeans() equals the normal probability of the difference', () => {
  const [first, second] = findBestProbabilitiesOfMeans([of(100, 1, 4), of(400, 1.3, 9)]) ?? [];
  const z = 0.3 / Math.sqrt(4 / 100 + 9 / 400);
  expect(second).toBeCloseTo(1 - twoSidedTail(z) / 2, 7);
  expect((first ?? 0) + (second ?? 0)).toBeCloseTo(1, 12);
});

test.each([1e-40, 1.9e-34, 1e-31])('a variance of %d is rounding: no variant is said to be best', (variance) => {
  expect(findBestProbabilitiesOfMeans([of(2, 0.1, variance), of(2, 0.1, variance)])).toBeUndefined();
  expect(findBestProbabilitiesOfMeans([of(2, 0.1, 1), of(2, 0.1, variance)])).toBeUndefined();
});

const NOW = Date.UTC(2026, 10, 20, 9, 30);
const variant = (variantKey: string, mean: number, more: Partial<VariantValues> = {}): VariantValues => ({
  ...{ variantKey, exposures: 20_000, conversions: 900, weight: 1, units: 20_000, mean, variance: 25 },
  ...{ earlierMean: 0, earlierVariance: 0, covariance: 0 },
  ...more,
});
const counts = (variants: readonly VariantValues[]) => ({
  choiceKey: 'checkout',
  conversionEvent: 'purchase',
  unit: 'distinct_id',
  variants,
  multiVariantUnits: 0,
  exposuresWithoutUnit: 0,
  immatureUnits: 0,
  firstExposureAtMs: NOW - 1000,
  lastExposureAtMs: NOW,
});
const packetOf = (variants: readonly VariantValues[]) =>
  toValuePacket({ ...counts(variants), value: 'sum(purchase, price)', winsorizedAt: 120 }, NOW);

describe('toValuePacket', () => {
  test('has the fields of the packet of conversions', () => {
    const both = [variant('control', 1), variant('new', 1.5)];
    const keysOf = (value: unknown): unknown =>
      typeof value === 'object' && value !== null ? Object.keys(value) : typeof value;
    const [ofValues, ofConversions] = [packetOf(both), toChoicePacket(counts(both), NOW)];
    expect(keysOf(ofValues)).toEqual(keysOf(ofConversions));
    expect(ofValues.variants.map(keysOf)).toEqual(ofConversions.variants.map(keysOf));
    expect(ofValues.comparisons.map(keysOf)).toEqual(ofConversions.comparisons.map(keysOf));
    expect(ofValues.method).toMatchObject({ value: 'sum(purchase, price)', winsorized_at: 120 });
  });

  test.each([
    ['treatment_better', 1, 1.5],
    ['control_better', 1.5, 1],
    ['inconclusive', 1, 1.02],
  ])('decides %s', (status, control, treatment) => {
    const packet = packetOf([variant('new', treatment), variant('control', control)]);
    expect(packet.decision_status).toBe(status);
    expect(packet.comparisons[0]?.absolute_lift).toBeCloseTo(treatment - control, 12);
    expect(packet.comparisons[0]?.relative_lift).toBeCloseTo(treatment / control - 1, 12);
  });

  test('is collecting without a sequence while few units have a value', () => {
    const packet = packetOf([variant('control', 1), variant('new', 50, { conversions: 29 })]);
    expect(packet.decision_status).toBe('collecting');
    expect(packet.comparisons[0]).toMatchObject({ sequential_ci_low: null, always_valid_p_value: 1 });
    expect(packet.warnings.join()).toContain('wait until every variant has 100 units and 30 conversions');
  });

  test.each([0, -1])('has no relative lift for a mean of %d of the control', (control) => {
    const packet = packetOf([variant('control', control), variant('new', 2)]);
    expect(packet.comparisons[0]).toMatchObject({ absolute_lift: 2 - control, relative_lift: null });
  });

  test('has null for unknown numbers', () => {
    const none = { exposures: 0, conversions: 0, units: 0, variance: 0 };
    const packet = packetOf([variant('control', 0, none), variant('new', 0, none)]);
    expect(packet.variants[0]).toMatchObject({ rate: null, ci_low: null, ci_high: null });
    expect(packet.comparisons[0]).toMatchObject({ absolute_lift: null, relative_lift: null, probability_best: null });
  });
});
