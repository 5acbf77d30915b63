// Texts of the plan of a query, which loads them.
export const explainTexts = {
  title: 'Plan of the query',
  parts: 'What it says',
  reads: 'Time',
  columns: 'Columns of the answer',
  calls: 'People who pass each call',
  pass: (passing: string, all: string) => `${passing} of ${all} people`,
  sql: 'SQL',
  sqlNote: 'For a client of ClickHouse: it sets the parameters, then runs the query. It was not run for this.',
  close: 'Close',
} as const;
