// Result packet of an experiment of conversions: its fields, decision and warnings.
import { describe, expect, test } from 'vitest';
import { type ChoiceCounts, toChoicePacket } from '../../../src/experiments/packet.js';
import { choice } from './counts.js';

const NOW = Date.UTC(2026, 10, 20, 9, 30);

const variant = (variantKey: string, conversions: number, exposures: number, weight: number | null = null) => ({
  variantKey,
  exposures,
  conversions,
  weight,
});

const packetOf = (...args: Parameters<typeof choice>) => toChoicePacket(choice(...args), NOW);

describe('toChoicePacket', () => {
  // The figures were computed independently: quantiles and tails by another library, mixture and
  // posterior by quadrature.
  test('has exactly the documented shape', () => {
    const packet = packetOf([variant('new', 170, 1010, 50), variant('control', 100, 990, 50)]);
    expect(packet).toEqual({
      choice_key: 'checkout',
      conversion_event: 'pay',
      generated_at: '2026-11-20T09:30:00Z',
      variants: [
        {
          variant_key: 'control',
          exposures: 990,
          conversions: 100,
          rate: 100 / 990,
          ci_low: expect.closeTo(0.08375412192927, 13),
          ci_high: expect.closeTo(0.12135048204104, 13),
          weight: 50,
        },
        {
          variant_key: 'new',
          exposures: 1010,
          conversions: 170,
          rate: 170 / 1010,
          ci_low: expect.closeTo(0.14650869054466, 13),
          ci_high: expect.closeTo(0.1926384767261, 13),
          weight: 50,
        },
      ],
      comparisons: [
        {
          control: 'control',
          treatment: 'new',
          absolute_lift: expect.closeTo(170 / 1010 - 100 / 990, 13),
          relative_lift: expect.closeTo((170 / 1010) * 9.9 - 1, 13),
          ci_low: expect.closeTo(0.03748515927917, 13),
          ci_high: expect.closeTo(0.09712805243507, 13),
          p_value: expect.closeTo(1.06275259222e-5, 15),
          always_valid_p_value: expect.closeTo(0.00074846672323, 13),
          sequential_ci_low: expect.closeTo(0.020564166742, 11),
          sequential_ci_high: expect.closeTo(0.114049294604, 11),
          probability_best: expect.closeTo(0.999995027224, 8),
        },
      ],
      diagnostics: {
        sample_ratio_p_value: 1,
        expected_ratios: { control: 0.5, new: 0.5 },
        multi_variant_units: 0,
        exposures_without_unit: 0,
        immature_units: 0,
        first_exposure_at: '2026-11-01T00:00:00Z',
        last_exposure_at: '2026-11-20T09:29:59.123Z',
      },
      warnings: [],
      decision_status: 'treatment_better',
      method: {
        interval: 'wilson',
        test: 'two-sided z, pooled',
        sequential: 'mSPRT',
        alpha: 0.05,
        correction: 'holm',
      },
    });
  });

  test.each([
    ['the one named control', ['b', 'control', 'a'], ['control', 'a', 'b']],
    ['the first by name', ['b', 'Control', 'a'], ['Control', 'a', 'b']],
    ['by code unit, not by locale', ['ä', 'b', 'B'], ['B', 'b', 'ä']],
  ])('chooses as control %s', (_, keys, expected) => {
    const packet = packetOf(keys.map((key) => variant(key, 10, 100)));
    expect(packet.variants.map(({ variant_key }) => variant_key)).toEqual(expected);
    expect(packet.comparisons.map(({ control }) => control)).toEqual([expected[0], expected[0]]);
    expect(packet.comparisons.map(({ treatment }) => treatment)).toEqual(expected.slice(1));
  });

  test('has no variants when nothing is exposed', () => {
    const packet = packetOf([], { firstExposureAtMs: undefined, lastExposureAtMs: undefined });
    expect(packet).toMatchObject({
      variants: [],
      comparisons: [],
      decision_status: 'collecting',
      diagnostics: {
        sample_ratio_p_value: null,
        expected_ratios: {},
        first_exposure_at: null,
        last_exposure_at: null,
      },
      warnings: [expect.stringContaining('no unit was exposed to choice "checkout"')],
    });
  });

  test('has no comparison for one variant', () => {
    const packet = packetOf([variant('control', 10, 100)]);
    expect(packet).toMatchObject({ comparisons: [], decision_status: 'collecting' });
    expect(packet.diagnostics.sample_ratio_p_value).toBeNull();
    expect(packet.warnings).toEqual([expect.stringContaining('nothing to compare it with')]);
  });

  test('has null for what is undefined without units or conversions', () => {
    const packet = packetOf([variant('control', 0, 0), variant('new', 1, 1)]);
    expect(packet.variants[0]).toMatchObject({ rate: null, ci_low: 0, ci_high: 1 });
    expect(packet.comparisons[0]).toMatchObject({
      absolute_lift: null,
      relative_lift: null,
      ci_low: -1,
      ci_high: 1,
      p_value: 1,
      always_valid_p_value: 1,
      sequential_ci_low: -1,
      sequential_ci_high: 1,
      probability_best: expect.closeTo(2 / 3, 6),
    });
    expect(packetOf([variant('control', 0, 9), variant('new', 3, 9)]).comparisons[0]?.relative_lift).toBeNull();
  });

  test('accepts variant names such as __proto__', () => {
    const { diagnostics } = packetOf([variant('__proto__', 10, 100, 1), variant('constructor', 10, 100, 3)]);
    expect(JSON.stringify(diagnostics.expected_ratios)).toBe('{"__proto__":0.25,"constructor":0.75}');
  });

  test('adjusts both p-values for the number of treatments, and not the intervals of a comparison', () => {
    const [control, first] = [variant('control', 100, 1000), variant('a', 140, 1000)];
    const single = packetOf([control, first]).comparisons[0];
    const double = packetOf([control, first, variant('b', 101, 1000)]).comparisons[0];
    expect(double?.p_value).toBeCloseTo(2 * (single?.p_value ?? 0), 12);
    expect(double?.always_valid_p_value).toBeCloseTo(2 * (single?.always_valid_p_value ?? 0), 12);
    expect([double?.ci_low, double?.ci_high]).toEqual([single?.ci_low, single?.ci_high]);
    expect(double?.sequential_ci_low).toBeLessThan(single?.sequential_ci_low ?? 0);
    expect(double?.sequential_ci_high).toBeGreaterThan(single?.sequential_ci_high ?? 0);
  });

  test('gives as probability_best the probability of being best of all variants', () => {
    const counts = [variant('control', 10, 100), variant('a', 10, 100), variant('b', 10, 100), variant('c', 10, 100)];
    for (const { probability_best } of packetOf(counts).comparisons) expect(probability_best).toBeCloseTo(1 / 4, 9);
  });

  test('bounds time and size when an id is sent as variant_key', () => {
    const counts = Array.from({ length: 5_000 }, (_, index) => variant(`person-${index}`, 0, 1));
    const packet = packetOf(counts);
    expect(packet.decision_status).toBe('collecting');
    expect(packet.comparisons[0]?.probability_best).toBeNull();
    expect(packet.warnings.join('\n')).toContain('check that variant_key names a variant and not a person');
    expect(packet.warnings.join('\n').length).toBeLessThan(2_000);
  });

  test.each([
    ['more conversions than units', variant('a', 11, 10)],
    ['negative', variant('a', -1, 10)],
    ['a fraction', variant('a', 1.5, 10)],
    ['not a number', variant('a', Number.NaN, 10)],
  ])('refuses impossible counts: %s', (_, counts) => {
    expect(() => packetOf([counts])).toThrow(RangeError);
  });
});

describe('warnings of toChoicePacket', () => {
  const fine = [variant('control', 100, 1000, 1), variant('new', 101, 1000, 1)];

  test.each<[string, ChoiceCounts, string]>([
    [
      'a wrong split',
      choice([variant('control', 100, 1000, 1), variant('new', 100, 1300, 1)]),
      'the units are not split by the weights (p = 0.0000021): "control" has 43.5 % of the units where 50.0 % are expected, ' +
        '"new" has 56.5 % of the units where 50.0 % are expected; do not read the lifts: look for lost or repeated ' +
        'exposures, forced variants and weights that were changed, then start again under a new choice key',
    ],
    [
      'units of a variant without weight',
      choice([...fine, variant('off', 10, 100, 0)]),
      'the units are not split by the weights (p < 1e-12): "control" has 47.6 % of the units where 50.0 % are expected, ' +
        '"new" has 47.6 % of the units where 50.0 % are expected, "off" has 4.8 % of the units where 0.0 % are expected; ' +
        'do not read the lifts: look for lost or repeated exposures, forced variants and weights that were changed, then ' +
        'start again under a new choice key',
    ],
    [
      'no variant named control',
      choice([variant('a', 100, 1000), variant('b', 101, 1000)]),
      'no variant is named "control", so "a", the first by name, is the control; name the variant that the others are ' +
        'measured against "control"',
    ],
    [
      'some weights are missing',
      choice([variant('control', 100, 1000, 1), variant('new', 101, 1000)]),
      'no variant_weight is known of "new", so equal weights are expected; send it with every exposure',
    ],
    [
      'too few units',
      choice([variant('control', 100, 1000, 1000), variant('new', 1, 990, 1000), variant('c', 50, 99, 100)]),
      '"c" has 99 units and 50 conversions, "new" has 990 units and 1 conversion; wait until every variant has 100 units ' +
        'and 5 conversions',
    ],
    [
      'units in several variants',
      choice(fine, { multiVariantUnits: 40, unit: 'user_id' }),
      '40 units (2.0 %) saw more than one variant and are left out; assign by the same id that results are counted by, ' +
        'here user_id',
    ],
    [
      'exposures without a unit',
      choice(fine, { exposuresWithoutUnit: 1, unit: 'user_id' }),
      '1 exposure without user_id is left out; send user_id with every exposure, or count by a unit that every exposure has',
    ],
    [
      'immature units',
      choice(fine, { immatureUnits: 500 }),
      '500 units (25.0 %) may still convert, because the window after the exposure has not ended; rates may rise, so look ' +
        'again when it has',
    ],
    [
      'significant only for a fixed sample size',
      choice([variant('control', 100, 1000, 1), variant('new', 130, 1000, 1)]),
      'a p_value is below 0.05, which counts only for a sample size that was fixed in advance; wait until ' +
        'always_valid_p_value is',
    ],
  ])('%s', (_, counts, expected) => {
    expect(toChoicePacket(counts, NOW).warnings).toEqual([expected]);
  });

  test('say that equal weights were assumed when none are stated and the split differs', () => {
    const { warnings } = packetOf([variant('control', 90, 900), variant('new', 10, 100)]);
    expect(warnings).toHaveLength(2);
    expect(warnings[1]).toContain('no variant_weight is known of "control", "new", so equal weights are expected');
  });

  test('are empty for a sound experiment', () => {
    expect(packetOf(fine).warnings).toEqual([]);
    expect(packetOf(fine).decision_status).toBe('inconclusive');
  });

  test('quote and truncate names', () => {
    const [warning] = packetOf([variant(`x"\n${'y'.repeat(500)}`, 1, 10)]).warnings;
    expect(warning).toContain('"x\\"\\n');
    expect(warning).not.toContain('\n');
    expect(warning?.length).toBeLessThan(300);
  });
});
