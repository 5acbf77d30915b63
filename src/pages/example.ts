// Example of the landing page: a query and its real answer. A test sends such events, runs the
// query, and compares.

export const EXAMPLE_QUERY = 'funnel page_view -> signup -> purchase | last 30d | window 7d';

export interface ExampleRow {
  readonly step: number;
  readonly event: string;
  readonly users: number;
  readonly rate: number;
  readonly step_rate: number;
  readonly median_seconds: number | null;
}

export const EXAMPLE_ROWS: readonly ExampleRow[] = [
  { step: 1, event: 'page_view', users: 480, rate: 1, step_rate: 1, median_seconds: null },
  { step: 2, event: 'signup', users: 132, rate: 0.275, step_rate: 0.275, median_seconds: 252 },
  { step: 3, event: 'purchase', users: 33, rate: 0.06875, step_rate: 0.25, median_seconds: 93_600 },
];

/** A query with an error, and the service's response to it. */
export const MISTAKE_QUERY = 'signup | last 7d | count by _contry';
export const MISTAKE_ANSWER = 'unknown field "_contry" at line 1, column 29; nearest is "_country"';
