// An alert as text for a dashboard document.
import type { NewAlert } from './api.js';

/** A JSON text is a YAML text, too. */
export function toYamlAlert({ id, query, when, every, to }: NewAlert): string {
  const lines = [`id: ${id}`, `query: ${JSON.stringify(query)}`, `when: ${JSON.stringify(when)}`, `every: ${every}`];
  return `alerts:\n  - ${lines.join('\n    ')}\n    to: ${JSON.stringify(to)}\n`;
}
