// Text of the result packet of a choice, for the text formats.
import type { PacketGuard } from '../../../experiments/guards.js';
import type { PacketPlan } from '../../../experiments/needed-units.js';
import type { ChoicePacket } from '../../../experiments/packet.js';
import { shortenName } from '../../../experiments/warnings.js';

interface Guard {
  readonly event: string;
  readonly comparisons: readonly Pick<
    PacketGuard['comparisons'][number],
    | 'treatment'
    | 'control'
    | 'treatment_rate'
    | 'control_rate'
    | 'absolute_lift'
    | 'sequential_ci_low'
    | 'sequential_ci_high'
  >[];
}

interface Described extends Pick<ChoicePacket, 'decision_status' | 'warnings' | 'plan'> {
  readonly diagnostics: { readonly guards?: readonly Guard[] | undefined };
  readonly comparisons: readonly Pick<
    ChoicePacket['comparisons'][number],
    'treatment' | 'control' | 'absolute_lift' | 'ci_low' | 'ci_high' | 'always_valid_p_value'
  >[];
}

const percent = (share: number | null): string => (share === null ? 'none' : `${Number((share * 100).toFixed(2))}%`);

const amount = (value: number | null): string => (value === null ? 'none' : String(Number(value.toPrecision(6))));

/** More usually means that an id was sent as variant_key, which a warning says. */
const COMPARISONS_SHOWN = 20;

interface Compared {
  readonly treatment: string;
  readonly control: string;
  readonly absolute_lift: number | null;
}

const compared = (
  { treatment, control, absolute_lift }: Compared,
  show: typeof percent,
  interval: readonly (number | null)[],
): string =>
  `${shortenName(treatment)} against ${shortenName(control)}: lift ${show(absolute_lift)} (${interval.map(show).join(' to ')})`;

/**
 * Text of the decision: its basis, a line for each comparison, also of guards, and the warnings.
 * `hasMeans`: of a choice by a value, which has means in the place of rates.
 */
export function describeChoice(
  { decision_status, comparisons, diagnostics, warnings, plan }: Described,
  { hasMeans }: { readonly hasMeans: boolean },
): string[] {
  const show = hasMeans ? amount : percent;
  const lines = [
    ...comparisons.map((of) => {
      const p = of.always_valid_p_value;
      const shown = p < 0.0001 ? 'below 0.0001' : Number(p.toFixed(4));
      return `${compared(of, show, [of.ci_low, of.ci_high])}, always-valid p-value ${shown}.`;
    }),
    ...(diagnostics.guards ?? []).flatMap((guard) =>
      guard.comparisons.map(
        (of) =>
          `Guard ${shortenName(guard.event)}: ${compared(of, percent, [of.sequential_ci_low, of.sequential_ci_high])}, ` +
          `${percent(of.treatment_rate)} of the units against ${percent(of.control_rate)}.`,
      ),
    ),
  ];
  const more = lines.length - COMPARISONS_SHOWN;
  return [
    `Decision: ${decision_status}.`,
    ...lines.slice(0, COMPARISONS_SHOWN),
    ...(more > 0 ? [`${more} more comparisons: format json has all.`] : []),
    ...describePlan(plan),
    ...warnings.map((warning) => `Warning: ${warning}.`),
  ];
}

/** A plan without a number has a warning. */
function describePlan(plan: PacketPlan | undefined): string[] {
  if (plan === undefined || plan.units_needed === null) return [];
  const lift = `a lift of ${percent(plan.relative_lift)} with ${percent(plan.power)} power`;
  const days = plan.days_left === null ? '' : `, about ${plan.days_left} days at ${amount(plan.units_per_day)} a day`;
  return [
    plan.units_left === 0
      ? `Plan: ${plan.units_needed} units show ${lift}; there are enough.`
      : `Plan: ${plan.units_left} more units${days} to show ${lift}; ${plan.units_needed} in all.`,
  ];
}
