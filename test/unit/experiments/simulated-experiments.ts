// Simulated experiments from a seeded generator, evaluated once a day: the same seed gives the same
// experiments on every machine.
import { type DecisionStatus, toDecisionStatus } from '../../../src/experiments/decision.js';
import { adjustByHolm } from '../../../src/experiments/holm.js';
import type { Counts } from '../../../src/experiments/proportions.js';
import { toAlwaysValidPValue } from '../../../src/experiments/sequential-test.js';

export interface Design {
  readonly looks: number;
  /** The first is the control. */
  readonly variants: readonly { readonly rate: number; readonly unitsPerLook: number }[];
  /** Conversions come evenly up to this many looks after the exposure; 0 means at once. */
  readonly delayLooksMax?: number;
}

/** Counts at each look of one experiment. Every look yields the same objects, updated. */
export function* simulateLooks(design: Design, random: () => number): Generator<readonly Counts[]> {
  const delays = (design.delayLooksMax ?? 0) + 1;
  const counts = design.variants.map(() => ({ exposures: 0, conversions: 0 }));
  const arriving = design.variants.map(() => new Array<number>(design.looks + delays).fill(0));
  for (let look = 0; look < design.looks; look++) {
    for (const [index, { rate, unitsPerLook }] of design.variants.entries()) {
      const [count, arrivals] = [counts[index], arriving[index]];
      if (!count || !arrivals) continue;
      for (let unit = 0; unit < unitsPerLook; unit++) {
        if (random() >= rate) continue;
        const at = delays === 1 ? look : look + Math.floor(random() * delays);
        arrivals[at] = (arrivals[at] ?? 0) + 1;
      }
      count.exposures += unitsPerLook;
      count.conversions += arrivals[look] ?? 0;
    }
    yield counts;
  }
}

export interface Verdict {
  readonly status: DecisionStatus;
  /**
   * Any treatment differs from the control, in either direction; with several this is more than a
   * decision.
   */
  readonly isAnyRejected: boolean;
}

/**
 * The decision of the packet without its descriptive figures. packet.test.ts tests that both agree.
 */
export function judge([control, ...treatments]: readonly Counts[]): Verdict {
  if (!control) throw new Error('there is no control');
  const pairs = treatments.map((treatment) => ({ control, treatment }));
  const pValues = adjustByHolm(pairs.map(toAlwaysValidPValue));
  const comparisons = pairs.map((pair, index) => ({ ...pair, alwaysValidPValue: pValues[index] ?? 1 }));
  const status = toDecisionStatus({ comparisons, sampleRatioPValue: undefined });
  return { status, isAnyRejected: status !== 'collecting' && pValues.some((pValue) => pValue <= 0.05) };
}
