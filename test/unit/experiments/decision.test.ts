// Decision rule of an experiment: which status follows from which counts and p-values.
import { describe, expect, test } from 'vitest';
import { type DecisionStatus, toDecisionStatus } from '../../../src/experiments/decision.js';
import type { Counts } from '../../../src/experiments/proportions.js';
import { of } from './counts.js';

const control = of(100, 1000);
const better = of(150, 1000);
const worse = of(60, 1000);

const against = (treatment: Counts, alwaysValidPValue: number, other: Counts = control) => ({
  control: other,
  treatment,
  alwaysValidPValue,
});

describe('toDecisionStatus', () => {
  test.each<[string, ReturnType<typeof against>[], number | undefined, DecisionStatus]>([
    ['better', [against(better, 0.01)], 0.5, 'treatment_better'],
    ['worse', [against(worse, 0.01)], 0.5, 'control_better'],
    ['alpha itself decides', [against(better, 0.05)], 0.5, 'treatment_better'],
    ['just above does not', [against(better, 0.0500001)], 0.5, 'inconclusive'],
    ['the split cannot be tested', [against(better, 0.01)], undefined, 'treatment_better'],
    ['a wrong split', [against(better, 0.01)], 0.0009, 'invalid'],
    ['a split at the threshold', [against(better, 0.01)], 0.001, 'treatment_better'],
    ['a wrong split before too few units', [against(of(1, 10), 1)], 0.0001, 'invalid'],
    ['a wrong split before no comparison', [], 0, 'invalid'],
    ['no comparison', [], undefined, 'collecting'],
    ['99 units', [against(of(50, 99), 0.001)], 0.5, 'collecting'],
    ['100 units', [against(of(50, 100), 0.001)], 0.5, 'treatment_better'],
    ['4 conversions', [against(of(4, 1000), 0.001)], 0.5, 'collecting'],
    ['5 conversions', [against(of(5, 1000), 0.001)], 0.5, 'control_better'],
    ['too few in the control', [against(better, 0.001, of(4, 1000))], 0.5, 'collecting'],
    ['too few in one of two treatments', [against(better, 0.001), against(of(9, 90), 1)], 0.5, 'collecting'],
    ['one of two is better', [against(better, 0.01), against(worse, 0.9)], 0.5, 'treatment_better'],
    ['one better, one worse', [against(worse, 0.01), against(better, 0.01)], 0.5, 'treatment_better'],
    ['one of two is worse', [against(worse, 0.01), against(better, 0.9)], 0.5, 'inconclusive'],
    ['both are worse', [against(worse, 0.01), against(worse, 0.04)], 0.5, 'control_better'],
  ])('%s', (_, comparisons, sampleRatioPValue, expected) => {
    expect(toDecisionStatus({ comparisons, sampleRatioPValue })).toBe(expected);
  });
});
