// Guardrail metrics of an experiment (`guard error, refund`): events that should not become more
// frequent. They never decide. A guard that is worse, by an interval that stays valid under daily
// looks, adds a warning.
import { ALPHA } from './decision.js';
import { findAbsoluteLift, findRate, toNewcombeInterval } from './proportions.js';
import { toAlwaysValidPValue, toSequentialInterval } from './sequential-test.js';

export interface GuardCounts {
  /** As the query has it. */
  readonly event: string;
  /** Units with the event, by variant; left out: none. */
  readonly units: ReadonlyMap<string, number>;
}

export interface PacketGuard {
  readonly event: string;
  readonly comparisons: readonly PacketGuardComparison[];
}

export interface PacketGuardComparison {
  readonly control: string;
  readonly treatment: string;
  readonly control_rate: number | null;
  readonly treatment_rate: number | null;
  readonly absolute_lift: number | null;
  readonly ci_low: number;
  readonly ci_high: number;
  readonly always_valid_p_value: number;
  /** Interval for all looks, and all treatments together. */
  readonly sequential_ci_low: number;
  readonly sequential_ci_high: number;
}

interface Variant {
  readonly variantKey: string;
  readonly exposures: number;
}

/** `variants` has the control first. */
export function toGuards(guards: readonly GuardCounts[], variants: readonly Variant[]): PacketGuard[] {
  return guards.map(({ event, units }) => {
    const [control, ...treatments] = variants.map(({ variantKey, exposures }) => ({
      variantKey,
      exposures,
      conversions: units.get(variantKey) ?? 0,
    }));
    if (control === undefined) return { event, comparisons: [] };
    const comparisons = treatments.map((treatment): PacketGuardComparison => {
      const pair = { control, treatment };
      const interval = toNewcombeInterval(pair, ALPHA);
      const sequential = toSequentialInterval(pair, ALPHA / treatments.length);
      return {
        control: control.variantKey,
        treatment: treatment.variantKey,
        control_rate: findRate(control) ?? null,
        treatment_rate: findRate(treatment) ?? null,
        absolute_lift: findAbsoluteLift(pair) ?? null,
        ci_low: interval.low,
        ci_high: interval.high,
        always_valid_p_value: toAlwaysValidPValue(pair),
        sequential_ci_low: sequential.low,
        sequential_ci_high: sequential.high,
      };
    });
    return { event, comparisons };
  });
}

const percent = (share: number | null): string => `${((share ?? 0) * 100).toFixed(1)} %`;

/** One for each guard that is worse in a treatment. */
export const warnOfGuards = (guards: readonly PacketGuard[]): string[] =>
  guards.flatMap(({ event, comparisons }) =>
    comparisons
      .filter(({ sequential_ci_low }) => sequential_ci_low > 0)
      .map(
        (of) =>
          `the guard ${JSON.stringify(event)} is worse in ${JSON.stringify(of.treatment)}: ${percent(of.treatment_rate)} of its units ` +
          `have it, and ${percent(of.control_rate)} of ${JSON.stringify(of.control)}; look into it before you decide for that variant`,
      ),
  );
