// An alert as text for a dashboard document, and an example of a report.

/** An alert as it stands in a document. */
export interface NewAlert {
  readonly id: string;
  readonly query: string;
  readonly when: string;
  readonly every: string;
  readonly to: readonly string[];
}

/** A JSON text is a YAML text, too. Without quotes, an id such as 404 would be a number. */
export function toYamlAlert({ id, query, when, every, to }: NewAlert): string {
  const texts = Object.entries({ id, query, when }).map(([name, text]) => `${name}: ${JSON.stringify(text)}`);
  const lines = [...texts, `every: ${every}`];
  return `alerts:\n  - ${lines.join('\n    ')}\n    to: ${JSON.stringify(to)}\n`;
}

export const EXAMPLE_REPORT = `reports:
  - id: monday
    at: monday 08:00
    to: ['mailto:team@example.com']
`;
