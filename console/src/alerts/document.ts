// An alert as text for a dashboard document, what the forms of alerts and reports take and begin
// with, and an example of a report.
import { numbered } from '../dashboards/numbered-key.js';

/** An alert as it stands in a document. */
export interface NewAlert {
  readonly id: string;
  readonly query: string;
  readonly when: string;
  readonly every: string;
  readonly to: readonly string[];
}

/** An id that YAML reads as a text; 404 would be a number. */
const PLAIN_ID = /^(?!(?:true|false|null)$)[a-z]/i;

/** A JSON text is a YAML text, too. */
export function toYamlAlert({ id, query, when, every, to }: NewAlert): string {
  const lines = [
    `id: ${PLAIN_ID.test(id) ? id : JSON.stringify(id)}`,
    ...[`query: ${JSON.stringify(query)}`, `when: ${JSON.stringify(when)}`, `every: ${every}`],
  ];
  return `alerts:\n  - ${lines.join('\n    ')}\n    to: ${JSON.stringify(to)}\n`;
}

/** A condition that the answer of the query has the column for. */
export function conditionFor(query: string): string {
  const isCompared = /\|\s*compare\b/.test(query);
  if (/^\s*funnel\b/.test(query)) return isCompared ? 'change_rate < -0.3' : 'rate < 0.1';
  return isCompared ? 'change < -0.3' : 'value < 5';
}

/** The targets in what was typed: webhooks, and mailboxes with or without `mailto:`. */
export const toTargets = (typed: string): readonly string[] =>
  typed
    .split(/\s+/)
    .map((target) => target.replace(/[,;]$/, ''))
    .filter((target) => target !== '')
    .map((target) => (/^[^:/]+@[^:/]+$/.test(target) ? `mailto:${target}` : target));

/** A report as it stands in a document. */
export interface NewReport {
  readonly id: string;
  readonly at: string;
  readonly to: readonly string[];
}

/** When a report is sent, before the time of day. */
export const DAYS = [
  ...(['daily', 'weekdays', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const),
  'monthly 1',
] as const;

/** An id that no report of the dashboard has: the day, with a number from the second on. */
export function reportId(day: string, taken: readonly string[]): string {
  const [name = day] = day.split(' ');
  let count = 1;
  while (taken.includes(numbered(name, count))) count += 1;
  return numbered(name, count);
}

export const EXAMPLE_REPORT = `reports:
  - id: monday
    at: monday 08:00
    to: ['mailto:team@example.com']
`;
