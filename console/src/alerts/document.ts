// An alert as text for a dashboard document.

/** An alert as it stands in a document. */
export interface NewAlert {
  readonly id: string;
  readonly query: string;
  readonly when: string;
  readonly every: string;
  readonly to: readonly string[];
}

/** A JSON text is a YAML text, too. */
export function toYamlAlert({ id, query, when, every, to }: NewAlert): string {
  const lines = [`id: ${id}`, `query: ${JSON.stringify(query)}`, `when: ${JSON.stringify(when)}`, `every: ${every}`];
  return `alerts:\n  - ${lines.join('\n    ')}\n    to: ${JSON.stringify(to)}\n`;
}
