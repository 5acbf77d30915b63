// Sample size of an experiment (`plan 10%`) and the plan in its result packet.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findUnitsForMean,
  findUnitsForRate,
  type PacketPlan,
  POWER,
  toPacketPlan,
  warnOfPlan,
} from '../../../src/experiments/needed-units.js';
import { criticalValue } from '../../../src/experiments/normal.js';
import { toChoicePacket } from '../../../src/experiments/packet.js';

const NOW = Date.UTC(2026, 10, 20, 9, 30);
const DAY = 86_400_000;
const HALVES = [0.5, 0.5];

/** Units of both variants for a test of fixed sample size, by the standard formula. */
function fixedUnits(rate: number, relativeLift: number): number {
  const raised = rate * (1 + relativeLift);
  const z = criticalValue(0.05) + criticalValue(2 * (1 - POWER));
  return (2 * z ** 2 * (rate * (1 - rate) + raised * (1 - raised))) / (raised - rate) ** 2;
}

describe('findUnitsForRate', () => {
  test.each([
    [0.1, 0.1],
    [0.02, 0.2],
    [0.5, 0.05],
  ])('of rate %f and lift %f is 1.3 to 2.5 times a fixed sample size', (rate, relativeLift) => {
    const units = findUnitsForRate(rate, { ratios: HALVES, relativeLift }) ?? 0;
    expect(units / fixedUnits(rate, relativeLift)).toBeGreaterThan(1.3);
    expect(units / fixedUnits(rate, relativeLift)).toBeLessThan(2.5);
  });

  test('decreases with the lift and is least for equal weights', () => {
    const rates = fc.double({ min: 0.01, max: 0.6, noNaN: true });
    const lifts = fc.double({ min: 0.02, max: 0.5, noNaN: true });
    const shares = fc.double({ min: 0.05, max: 0.45, noNaN: true });
    fc.assert(
      fc.property(rates, lifts, shares, (rate, relativeLift, share) => {
        const units = (ratios: readonly number[], lift: number): number =>
          findUnitsForRate(rate, { ratios, relativeLift: lift }) ?? Number.POSITIVE_INFINITY;
        expect(units(HALVES, relativeLift * 1.2)).toBeLessThanOrEqual(units(HALVES, relativeLift));
        expect(units([share, 1 - share], relativeLift)).toBeGreaterThan(units(HALVES, relativeLift) * 0.95);
      }),
    );
  });

  test('increases with the number of treatments', () => {
    const [one = 0, two = 0] = [HALVES, [1 / 3, 1 / 3, 1 / 3]].map((ratios) =>
      findUnitsForRate(0.1, { ratios, relativeLift: 0.1 }),
    );
    expect(two).toBeGreaterThan(one * 1.5);
  });

  test.each([
    ['no conversions', 0, HALVES, 0.1],
    ['a rate that cannot rise so far', 0.95, HALVES, 0.1],
    ['one variant', 0.1, [1], 0.1],
    ['a tiny lift', 0.001, HALVES, 1e-6],
  ])('is undefined for %s', (_, rate, ratios, relativeLift) => {
    expect(findUnitsForRate(rate, { ratios, relativeLift })).toBeUndefined();
  });
});

describe('findUnitsForMean', () => {
  const values = { mean: 10, variance: 400, countedShare: 1, convertedShare: 1 };

  test('scales with the share of units that count', () => {
    const split = { ratios: HALVES, relativeLift: 0.1 };
    const [all = 0, half = 0] = [1, 0.5].map((countedShare) => findUnitsForMean({ ...values, countedShare }, split));
    expect(half).toBeGreaterThanOrEqual(2 * all - 2);
    expect(half).toBeLessThanOrEqual(2 * all + 2);
  });

  test('is at least the minimum for a decision', () => {
    const split = { ratios: [0.9, 0.1], relativeLift: 5 };
    expect(findUnitsForMean({ ...values, variance: 0.001 }, split)).toBe(1000);
    expect(findUnitsForMean({ ...values, variance: 0.001, convertedShare: 0.01 }, split)).toBe(30_000);
  });

  test('is undefined for a mean that is not above 0', () => {
    for (const mean of [0, -1])
      expect(findUnitsForMean({ ...values, mean }, { ratios: HALVES, relativeLift: 0.1 })).toBeUndefined();
  });
});

describe('the plan of a choice packet', () => {
  const plan = { relativeLift: 0.1, untilMs: NOW };
  const countsOf = (...variants: readonly (readonly [string, number, number])[]) => ({
    ...{ choiceKey: 'checkout', conversionEvent: 'pay', unit: 'distinct_id', multiVariantUnits: 0 },
    ...{ exposuresWithoutUnit: 0, immatureUnits: 0, firstExposureAtMs: NOW - 10 * DAY, lastExposureAtMs: NOW },
    variants: variants.map(([variantKey, exposures, conversions]) => ({
      ...{ variantKey, exposures, conversions, weight: null },
    })),
  });
  const packetOf = (control: readonly [number, number], treatment: readonly [number, number]) =>
    toChoicePacket({ ...countsOf(['control', ...control], ['new', ...treatment]), plan }, NOW);

  test('contains remaining units and days at the traffic so far', () => {
    const packet = packetOf([1000, 100], [1000, 130]);
    const needed = findUnitsForRate(0.1, { ratios: HALVES, relativeLift: 0.1 }) ?? 0;
    expect(packet.plan).toEqual({
      relative_lift: 0.1,
      power: 0.8,
      units_needed: needed,
      units_left: needed - 2000,
      units_per_day: 200,
      days_left: Math.ceil((needed - 2000) / 200),
    });
  });

  test('has nothing left when there are enough units', () => {
    expect(packetOf([100_000, 10_000], [100_000, 10_000]).plan).toMatchObject({ units_left: 0, days_left: 0 });
  });

  test('adds a warning when the units are unknown', () => {
    const packet = packetOf([1000, 0], [1000, 130]);
    expect(packet.plan).toMatchObject({ units_needed: null, units_left: null, units_per_day: 200, days_left: null });
    expect(packet.warnings).toContain(
      'there is no plan for a lift of 10%: the rate of the control is not above 0 so far',
    );
  });

  test('is absent by default', () => {
    expect('plan' in toChoicePacket(countsOf(['control', 1000, 100], ['new', 1000, 130]), NOW)).toBe(false);
  });

  test('has no days when all traffic came at one time', () => {
    expect(toPacketPlan(0.1, 500, { units: 3, fromMs: NOW, untilMs: NOW })).toMatchObject({
      units_left: 497,
      units_per_day: null,
      days_left: null,
    });
  });

  const unknown: PacketPlan = toPacketPlan(0.1, undefined, { units: 3, fromMs: NOW - DAY, untilMs: NOW });
  test.each([
    ['the experiment has no exposure so far', { level: null, isRate: true, variants: 0 }],
    ['the experiment has one variant so far', { level: 0.1, isRate: true, variants: 1 }],
    ['the mean of the control is not above 0 so far', { level: -2, isRate: false, variants: 2 }],
    ['the rate 0.95 of the control cannot rise so far', { level: 0.95, isRate: true, variants: 2 }],
    ['too few values, or more than 1000000000000 units', { level: 3, isRate: false, variants: 2 }],
  ])('warns with the reason: %s', (reason, control) => {
    expect(warnOfPlan(unknown, control)).toContain(reason);
  });
});
