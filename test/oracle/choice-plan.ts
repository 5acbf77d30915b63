// Reference implementation of `plan 10%` of an experiment: sizes are tried until one is enough, by
// the formulas of docs/query-language.md.
import { averageOf, sumOf } from './aggregate.js';

interface Sample {
  readonly variant: string;
  readonly units: number;
  readonly conversions: number;
  /** The values that count, of results of a value. */
  readonly numbers?: readonly number[] | undefined;
}

interface Given {
  readonly samples: readonly Sample[];
  /** Of the units, by variant. */
  readonly shares: Readonly<Record<string, number>>;
  /** With `cuped` the size is open: its test is in experiment-values.test.ts. */
  readonly isAdjusted: boolean;
  /** From the first exposure until now, or the end of the range. */
  readonly days: number;
}

const QUANTILE = 0.8416212335729143;

export function planOf(lift: number, { samples, shares, isAdjusted, days }: Given): object {
  const units = sumOf(samples.map((sample) => sample.units));
  const perDay = units > 0 && days > 0 ? units / days : null;
  const known = { relative_lift: lift, power: 0.8, units_per_day: perDay };
  if (isAdjusted) return known;
  const needed = unitsNeeded(lift, samples, shares);
  const left = needed === null ? null : Math.max(0, needed - units);
  const daysLeft = left === null || perDay === null ? null : Math.ceil(left / perDay);
  return { ...known, units_needed: needed, units_left: left, days_left: left === 0 ? 0 : daysLeft };
}

function unitsNeeded(lift: number, samples: readonly Sample[], shares: Given['shares']): number | null {
  const control = samples.find(({ variant }) => variant === 'control') ?? samples[0];
  const treatments = samples.filter((sample) => sample !== control);
  if (control === undefined || treatments.length === 0 || control.units === 0) return null;
  const alpha = 0.05 / treatments.length;
  const isFound = control.numbers ? meanTest(lift, control, samples, alpha) : rateTest(lift, control, alpha);
  const isEnough = (size: number): boolean =>
    treatments.every(({ variant }) => isFound(size * (shares[control.variant] ?? 0), size * (shares[variant] ?? 0)));
  let step = 1;
  while (!isEnough(step)) {
    step *= 2;
    if (step > 1e12) return null;
  }
  // From below by ever smaller steps: the largest size that is not enough.
  let tooFew = 0;
  for (; step >= 1; step /= 2) if (!isEnough(tooFew + step)) tooFew += step;
  return tooFew + 1;
}

type Test = (before: number, after: number) => boolean;

/**
 * Margin of the mixture sequential probability ratio test, and of the confidence sequence of means.
 */
function rateTest(lift: number, { units, conversions }: Sample, alpha: number): Test {
  const rate = conversions / units;
  const raised = rate + rate * lift;
  if (rate === 0 || raised > 1) return () => false;
  const spread = (share: number): number => share * (1 - share);
  return (before, after) => {
    if (Math.min(before, after) < 100 || before * rate < 5 || after * raised < 5) return false;
    const padded = [
      { size: before + 2, hits: before * rate + 1 },
      { size: after + 2, hits: after * raised + 1 },
    ] as const;
    const pooled = spread((padded[0].hits + padded[1].hits) / (padded[0].size + padded[1].size));
    const separate = spread(padded[0].hits / padded[0].size) / before + spread(padded[1].hits / padded[1].size) / after;
    const v = Math.max(pooled / before + pooled / after, separate);
    const t = (0.3 * pooled) ** 2;
    const margin = Math.sqrt(((v * (v + t)) / t) * (Math.log((v + t) / v) - 2 * Math.log(alpha)));
    const deviation = Math.sqrt(spread(rate) / before + spread(raised) / after);
    return raised - rate - margin >= QUANTILE * deviation;
  };
}

const SQUARES_ROOT = -2 * Math.log(0.05);
const SCALE = (SQUARES_ROOT + Math.log(SQUARES_ROOT + 1)) / 10_000;

function meanTest(lift: number, control: Sample, samples: readonly Sample[], alpha: number): Test {
  const numbers = samples.map((sample) => [...(sample.numbers ?? [])]);
  const mean = averageOf([...(control.numbers ?? [])]) ?? 0;
  const squares = numbers.map((own) => sumOf(own.map((number) => (number - (averageOf(own) ?? 0)) ** 2)));
  const freedom = sumOf(numbers.map((own) => Math.max(0, own.length - 1)));
  const variance = freedom === 0 ? 0 : sumOf(squares) / freedom;
  const all = sumOf(samples.map(({ units }) => units));
  const counted = sumOf(numbers.map((own) => own.length)) / all;
  const converted = sumOf(samples.map(({ conversions }) => conversions)) / all;
  if (mean <= 0 || variance <= 0) return () => false;
  return (before, after) => {
    const smaller = Math.min(before, after);
    if (smaller < 100 || smaller * converted < 30) return false;
    const [n, m] = [before * counted, after * counted];
    if (n < 2 || m < 2) return false;
    const difference = mean * lift;
    const separate = variance / n + variance / m;
    const total = variance * (n + m - 2) + (n * m * difference ** 2) / (n + m);
    const v = Math.max(separate, (total / (n + m - 1)) * (1 / n + 1 / m));
    const size = (n + m) * SCALE;
    const margin = Math.sqrt(v * ((size + 1) / size) * (Math.log(size + 1) - 2 * Math.log(alpha)));
    return difference - margin >= QUANTILE * Math.sqrt(separate);
  };
}
