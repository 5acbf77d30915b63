// Descriptive statistics of a sample.

/** Linear interpolation between the two nearest values (type 7). NaN for an empty sample. */
export function percentile(sample: readonly number[], share: number): number {
  const sorted = [...sample].sort((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) return Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

export const median = (sample: readonly number[]): number => percentile(sample, 0.5);
