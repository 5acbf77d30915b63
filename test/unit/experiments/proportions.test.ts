// Intervals, lifts and p-value of conversion rates at a fixed sample size, compared with published
// values.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findAbsoluteLift,
  findRate,
  findRelativeLift,
  toNewcombeInterval,
  toPooledPValue,
  toWilsonInterval,
} from '../../../src/experiments/proportions.js';
import { arbitraryCounts, mirrored, of } from './counts.js';

describe('findAbsoluteLift and findRelativeLift', () => {
  test('return the difference and the ratio of rates', () => {
    const comparison = { control: of(10, 100), treatment: of(30, 200) };
    expect(findRate(comparison.treatment)).toBe(0.15);
    expect(findAbsoluteLift(comparison)).toBeCloseTo(0.05, 15);
    expect(findRelativeLift(comparison)).toBeCloseTo(0.5, 15);
  });

  test('return undefined without units, or relative to a rate of 0', () => {
    expect(findRate(of(0, 0))).toBeUndefined();
    expect(findAbsoluteLift({ control: of(0, 0), treatment: of(1, 2) })).toBeUndefined();
    expect(findAbsoluteLift({ control: of(1, 2), treatment: of(0, 0) })).toBeUndefined();
    expect(findRelativeLift({ control: of(0, 10), treatment: of(1, 2) })).toBeUndefined();
    expect(findRelativeLift({ control: of(1, 10), treatment: of(0, 10) })).toBe(-1);
  });
});

describe('toWilsonInterval', () => {
  // Newcombe, Statistics in Medicine 17 (1998) 857–872, Table I, method 3, four decimals; then
  // computed with thirty digits.
  test.each([
    [81, 263, [0.2553, 0.3662], [0.2552885198782742, 0.36620957698280004]],
    [15, 148, [0.0624, 0.1605], [0.06238639953073628, 0.16048724172330803]],
    [0, 20, [0, 0.1611], [0, 0.16112515805281938]],
    [1, 29, [0.0061, 0.1718], [0.00611321429276266, 0.17175521879320288]],
  ])('equals the values of Newcombe for %i of %i', (conversions, exposures, published, exact) => {
    const { low, high } = toWilsonInterval(of(conversions, exposures), 0.05);
    expect([low, high].map((limit) => Number(limit.toFixed(4)))).toEqual(published);
    expect(low).toBeCloseTo(exact[0] ?? Number.NaN, 13);
    expect(high).toBeCloseTo(exact[1] ?? Number.NaN, 13);
  });

  test.each([
    ['no unit', of(0, 0), 0, 1],
    ['one unit without conversion', of(0, 1), 0, 0.7934506856227627],
    ['one that did', of(1, 1), 0.2065493143772374, 1],
    ['all', of(29, 29), 0.8830302015002592, 1],
    ['a million', of(500_000, 1_000_000), 0.4990200198900048, 0.5009799801099952],
  ])('%s', (_, counts, low, high) => {
    const interval = toWilsonInterval(counts, 0.05);
    expect(interval.low).toBeCloseTo(low, 13);
    expect(interval.high).toBeCloseTo(high, 13);
  });

  test('lies within 0 and 1 around the rate, is symmetric, and widens with confidence', () => {
    fc.assert(
      fc.property(arbitraryCounts(), (counts) => {
        const { low, high } = toWilsonInterval(counts, 0.05);
        const rate = counts.conversions / counts.exposures;
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThanOrEqual(rate);
        expect(high).toBeGreaterThanOrEqual(rate);
        expect(high).toBeLessThanOrEqual(1);
        const mirror = toWilsonInterval(mirrored(counts), 0.05);
        expect(mirror.low).toBeCloseTo(1 - high, 12);
        expect(mirror.high).toBeCloseTo(1 - low, 12);
        const wider = toWilsonInterval(counts, 0.01);
        expect(wider.low).toBeLessThanOrEqual(low);
        expect(wider.high).toBeGreaterThanOrEqual(high);
      }),
    );
  });
});

describe('toNewcombeInterval', () => {
  // Newcombe, Statistics in Medicine 17 (1998) 873–890, Table II, method 10, four decimals; then
  // computed with thirty digits.
  test.each([
    [of(56, 70), of(48, 80), [0.0524, 0.3339], [0.05243147240236488, 0.33387265403690597]],
    [of(9, 10), of(3, 10), [0.1705, 0.809], [0.17052272393450288, 0.809017973535488]],
    [of(6, 7), of(2, 7), [0.0582, 0.8062], [0.0582279274823122, 0.8062496375242277]],
    [of(5, 56), of(0, 29), [-0.0381, 0.1926], [-0.0381371479035369, 0.19256001385511162]],
    [of(0, 10), of(0, 20), [-0.1611, 0.2775], [-0.16112515805281938, 0.27753279986288926]],
    [of(0, 10), of(0, 10), [-0.2775, 0.2775], [-0.27753279986288926, 0.27753279986288926]],
    [of(10, 10), of(0, 20), [0.6791, 1], [0.6790860371419146, 1]],
    [of(10, 10), of(0, 10), [0.6075, 1], [0.6075093504305241, 1]],
  ])('equals the values of Newcombe for %o less %o', (treatment, control, published, exact) => {
    const { low, high } = toNewcombeInterval({ control, treatment }, 0.05);
    expect([low, high].map((limit) => Number(limit.toFixed(4)))).toEqual(published);
    expect(low).toBeCloseTo(exact[0] ?? Number.NaN, 13);
    expect(high).toBeCloseTo(exact[1] ?? Number.NaN, 13);
  });

  test('is -1 to 1 without units', () => {
    expect(toNewcombeInterval({ control: of(0, 0), treatment: of(5, 10) }, 0.05)).toEqual({ low: -1, high: 1 });
  });

  test('lies within -1 and 1 around the lift, and changes sign when sides are swapped', () => {
    fc.assert(
      fc.property(arbitraryCounts(), arbitraryCounts(), (control, treatment) => {
        const { low, high } = toNewcombeInterval({ control, treatment }, 0.05);
        const lift = treatment.conversions / treatment.exposures - control.conversions / control.exposures;
        expect(low).toBeGreaterThanOrEqual(-1);
        expect(low).toBeLessThanOrEqual(lift);
        expect(high).toBeGreaterThanOrEqual(lift);
        expect(high).toBeLessThanOrEqual(1);
        const swapped = toNewcombeInterval({ control: treatment, treatment: control }, 0.05);
        expect(swapped.low).toBeCloseTo(-high, 12);
        expect(swapped.high).toBeCloseTo(-low, 12);
      }),
    );
  });
});

/** Pearson's chi-square of the 2×2 table, from its cells. */
function pearson([a, b, c, d]: readonly [number, number, number, number]): number {
  return ((a + b + c + d) * (a * d - b * c) ** 2) / ((a + b) * (c + d) * (a + c) * (b + d));
}

describe('toPooledPValue', () => {
  // A. Agresti, Categorical Data Analysis, aspirin and myocardial infarction (Physicians' Health
  // Study): X² = 25.01.
  test('equals the value of Agresti for 104 of 11,037 on aspirin against 189 of 11,034 on placebo', () => {
    const comparison = { control: of(189, 11_034), treatment: of(104, 11_037) };
    expect(pearson([104, 11_037 - 104, 189, 11_034 - 189])).toBeCloseTo(25.01, 2);
    expect(toPooledPValue(comparison) / 5.691896973740856e-7).toBeCloseTo(1, 11);
  });

  // Computed with thirty digits.
  test.each([
    [of(48, 80), of(56, 70), 0.008045081368196585],
    [of(100, 1000), of(120, 1000), 0.15291778186394597],
    [of(90, 93), of(83, 86), 0.9223200957342685],
  ])('has twelve correct digits for %o against %o', (control, treatment, expected) => {
    expect(toPooledPValue({ control, treatment })).toBeCloseTo(expected, 12);
  });

  test.each([
    ['no conversions', of(0, 50), of(0, 60)],
    ['all converted', of(50, 50), of(60, 60)],
    ['no units on one side', of(0, 0), of(6, 60)],
    ['no units at all', of(0, 0), of(0, 0)],
    ['equal rates', of(5, 50), of(6, 60)],
  ])('is 1 when %s', (_, control, treatment) => {
    expect(toPooledPValue({ control, treatment })).toBeCloseTo(1, 12);
  });

  test("is symmetric in sides and conversions, and equals Pearson's chi-square test", () => {
    fc.assert(
      fc.property(arbitraryCounts(10_000), arbitraryCounts(10_000), (control, treatment) => {
        const pValue = toPooledPValue({ control, treatment });
        expect(pValue).toBeGreaterThanOrEqual(0);
        expect(pValue).toBeLessThanOrEqual(1);
        expect(toPooledPValue({ control: treatment, treatment: control })).toBeCloseTo(pValue, 10);
        expect(toPooledPValue({ control: mirrored(control), treatment: mirrored(treatment) })).toBeCloseTo(pValue, 10);
      }),
    );
  });
});
