// Names of the columns that `compare` adds. A metric that is alone has short ones.

export const previousName = (metric: string, isOnly = false): string => (isOnly ? 'previous' : `previous_${metric}`);
export const changeName = (metric: string, isOnly = false): string => (isOnly ? 'change' : `change_${metric}`);

/** Columns that `compare` adds for all metrics of an answer. */
export const namesOfCompared = (...metrics: readonly string[]): string[] =>
  metrics.flatMap((metric) => [previousName(metric, metrics.length === 1), changeName(metric, metrics.length === 1)]);
