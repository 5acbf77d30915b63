// An alert as text for a dashboard document, and an example of a report.

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

export const EXAMPLE_REPORT = `reports:
  - id: monday
    at: monday 08:00
    to: ['mailto:team@example.com']
`;
