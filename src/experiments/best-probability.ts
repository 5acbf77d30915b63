// Bayesian probability that a variant has the highest conversion rate. Shown to readers only:
// decisions use the sequential test, because this figure is not valid under repeated looks.
//
// Each rate has the posterior Beta(1 + conversions, 1 + non-conversions), from a uniform prior,
// independently. Then
//     P(i is best) = ∫ f_i(x) · Π_{j≠i} F_j(x) dx
// with densities f and distribution functions F. One sweep over x integrates all F and all P
// together by Simpson's rule: deterministic, unlike sampling, and free of special functions.
// Checked against the closed form for two variants (E. Miller, "Formulas for Bayesian A/B Testing",
// 2015) to 1e-7.
import type { Moments } from './means.js';
import type { Counts } from './proportions.js';

/**
 * Largest number of variants that is computed. More usually means that an id was sent as
 * variant_key.
 */
export const VARIANTS_MAX = 100;

/**
 * Steps over the support of one posterior, which for many units is about 18 standard deviations
 * wide.
 */
const STEPS = 400;

/**
 * The support ends where the density has fallen to exp(-40) of its mode; what lies beyond is below
 * 1e-16.
 */
const LOG_DENSITY_MIN = -40;

interface Posterior {
  readonly low: number;
  readonly high: number;
  readonly density: (x: number) => number;
}

/**
 * Probabilities in the order given, summing to 1; absolute error below 1e-7. Grows with the square
 * of the variants.
 */
export const toBestProbabilities = (variants: readonly Counts[]): number[] => integrateBest(variants.map(toPosterior));

/**
 * Probability that a variant has the highest mean, with normal posteriors; undefined while a
 * variance is not known, or is no more than the rounding of equal values.
 */
export function findBestProbabilitiesOfMeans(variants: readonly Moments[]): number[] | undefined {
  if (variants.some(({ units, variance }) => units < 2 || variance <= 0)) return undefined;
  const posteriors = variants.map(toNormalPosterior);
  return posteriors.every(hasWidth) ? integrateBest(posteriors) : undefined;
}

/** A step that is smaller than the rounding of the numbers would never reach the end. */
const hasWidth = ({ low, high }: Posterior): boolean =>
  (high - low) / STEPS > 4 * Number.EPSILON * Math.max(Math.abs(low), Math.abs(high));

function integrateBest(posteriors: readonly Posterior[]): number[] {
  const below = posteriors.map(() => 0);
  const best = posteriors.map(() => 0);
  const borders = posteriors.flatMap(({ low, high }) => [low, high]).sort((a, b) => a - b);

  let x = borders[0] ?? 0;
  for (const border of borders) {
    while (x < border) {
      const step = smallestStep(posteriors, x);
      // Skip a last step that is much shorter than the others: it would only add rounding errors.
      const end = x + step * 1.001 < border ? x + step : border;
      integrateCell({ posteriors, below, best, from: x, to: end });
      x = end;
    }
  }
  const total = best.reduce((sum, probability) => sum + probability, 0);
  return best.map((probability) => probability / total);
}

/** Infinity between supports, where all densities are 0. */
function smallestStep(posteriors: readonly Posterior[], x: number): number {
  let step = Number.POSITIVE_INFINITY;
  for (const { low, high } of posteriors) if (low <= x && x < high) step = Math.min(step, (high - low) / STEPS);
  return step;
}

interface Cell {
  readonly posteriors: readonly Posterior[];
  /** Distribution function F: at `from` before the step, at `to` after it. */
  readonly below: number[];
  /** Integrals up to `from` before the step, up to `to` after it. */
  readonly best: number[];
  readonly from: number;
  readonly to: number;
}

/**
 * No support begins or ends inside a cell, so each posterior covers the whole cell or none of it.
 */
function integrateCell({ posteriors, below, best, from, to }: Cell): void {
  const width = to - from;
  const middle = from + width / 2;
  const densities = posteriors.map(({ low, high, density }) =>
    low <= from && to <= high ? [density(from), density(middle), density(to)] : [0, 0, 0],
  ) as [number, number, number][];
  const atFrom = below.slice();
  const atMiddle = densities.map(([a, b, c], i) => (below[i] ?? 0) + (width / 24) * (5 * a + 8 * b - c));
  densities.forEach(([a, b, c], i) => {
    below[i] = (below[i] ?? 0) + (width / 6) * (a + 4 * b + c);
  });

  const others = [atFrom, atMiddle, below].map(productsOfOthers);
  densities.forEach(([a, b, c], i) => {
    const integrand = a * (others[0]?.[i] ?? 0) + 4 * b * (others[1]?.[i] ?? 0) + c * (others[2]?.[i] ?? 0);
    best[i] = (best[i] ?? 0) + (width / 6) * integrand;
  });
}

/**
 * For each factor the product of all other factors, without division, because a factor may be 0.
 */
function productsOfOthers(factors: readonly number[]): number[] {
  const products = new Array<number>(factors.length).fill(1);
  let before = 1;
  for (let i = 0; i < factors.length; i++) {
    products[i] = before;
    before *= factors[i] ?? 1;
  }
  let after = 1;
  for (let i = factors.length - 1; i >= 0; i--) {
    products[i] = (products[i] ?? 1) * after;
    after *= factors[i] ?? 1;
  }
  return products;
}

function toPosterior({ exposures, conversions }: Counts): Posterior {
  const rest = exposures - conversions;
  const mode = exposures === 0 ? 0.5 : conversions / exposures;
  // Relative to the mode, because x^conversions alone underflows; a power of 0 is 1, at 0 as well.
  const logDensity = (x: number): number =>
    (conversions && conversions * Math.log(x / mode)) + (rest && rest * Math.log((1 - x) / (1 - mode)));
  const low = conversions === 0 ? 0 : findEdge(logDensity, { inside: mode, outside: 0 });
  const high = rest === 0 ? 1 : findEdge(logDensity, { inside: mode, outside: 1 });
  const area = integrate((x) => Math.exp(logDensity(x)), low, high);
  return { low, high, density: (x) => Math.exp(logDensity(x)) / area };
}

/**
 * As wide as those of rates: beyond nine standard deviations the density is below exp(-40) of its
 * mode.
 */
function toNormalPosterior({ units, mean, variance }: Moments): Posterior {
  const sd = Math.sqrt(variance / units);
  const scale = 1 / (sd * Math.sqrt(2 * Math.PI));
  return { low: mean - 9 * sd, high: mean + 9 * sd, density: (x) => scale * Math.exp(-(((x - mean) / sd) ** 2) / 2) };
}

/** Where the log density, which falls from the mode outwards, reaches its minimum, by bisection. */
function findEdge(logDensity: (x: number) => number, ends: { inside: number; outside: number }): number {
  let { inside, outside } = ends;
  for (let step = 0; step < 50; step++) {
    const middle = (inside + outside) / 2;
    if (logDensity(middle) > LOG_DENSITY_MIN) inside = middle;
    else outside = middle;
  }
  return outside;
}

function integrate(density: (x: number) => number, low: number, high: number): number {
  const width = (high - low) / STEPS;
  let sum = 0;
  for (let step = 0; step < STEPS; step++) {
    const from = low + step * width;
    const to = step === STEPS - 1 ? high : from + width;
    sum += density(from) + 4 * density((from + to) / 2) + density(to);
  }
  return (width / 6) * sum;
}
