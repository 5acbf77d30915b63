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

const probability = (p: number): string => (p < 0.0001 ? 'below 0.0001' : String(Number(p.toFixed(4))));

/**
 * Text of the decision: its basis, a line for each comparison, those of guards, and the warnings.
 * `hasMeans`: of a choice by a value, which has means in the place of rates.
 */
export function describeChoice(
  { decision_status, comparisons, diagnostics, warnings, plan }: Described,
  { hasMeans }: { readonly hasMeans: boolean },
): string[] {
  const show = hasMeans ? amount : percent;
  const lines = comparisons
    .slice(0, COMPARISONS_SHOWN)
    .map(
      (of) =>
        `${shortenName(of.treatment)} against ${shortenName(of.control)}: lift ${show(of.absolute_lift)} (${show(of.ci_low)} to ` +
        `${show(of.ci_high)}), always-valid p-value ${probability(of.always_valid_p_value)}.`,
    );
  const more = comparisons.length - lines.length;
  return [
    `Decision: ${decision_status}.`,
    ...lines,
    ...(more > 0 ? [`${more} more comparisons: format json has all.`] : []),
    ...describeGuards(diagnostics.guards ?? []),
    ...describePlan(plan),
    ...warnings.map((warning) => `Warning: ${warning}.`),
  ];
}

function describeGuards(guards: readonly Guard[]): string[] {
  const lines = guards.flatMap(({ event, comparisons }) =>
    comparisons.map(
      (of) =>
        `Guard ${shortenName(event)}: ${shortenName(of.treatment)} ${percent(of.treatment_rate)}, ${shortenName(of.control)} ` +
        `${percent(of.control_rate)}, lift ${percent(of.absolute_lift)} (at every look ${percent(of.sequential_ci_low)} to ${percent(of.sequential_ci_high)}).`,
    ),
  );
  const more = lines.length - COMPARISONS_SHOWN;
  return [
    ...lines.slice(0, COMPARISONS_SHOWN),
    ...(more > 0 ? [`${more} more comparisons of guards: format json has all.`] : []),
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
