// Fills the queries of all cards of a dashboard at once, so that a viewer needs one request instead
// of one for each card.
import { PublicError } from '../platform/errors.js';
import type { DashboardConfig } from './config-schema.js';
import { fillCard, type VariableValues, variablesOf } from './fill-template.js';

/** For all queries together: placeholders can make a document many times as long. */
const FILLED_BYTES_MAX = 1024 * 1024;

export interface NamedQuery {
  readonly name: string;
  readonly q: string;
  readonly timezone: string;
}

/** `error` says why the queries cannot be filled: a variable without a value. */
export type FilledCard =
  | { readonly id: string; readonly queries: readonly NamedQuery[] }
  | { readonly id: string; readonly error: string };

export function fillCards(config: DashboardConfig, values: VariableValues, timezone: string): FilledCard[] {
  const variables = variablesOf(config.variables);
  for (const name of values.keys()) {
    if (!variables.has(name)) throw new PublicError('bad_request', `the dashboard has no variable "${name}"`);
  }
  let bytes = 0;
  return config.sections
    .flatMap(({ cards }) => cards)
    .map((card): FilledCard => {
      try {
        const queries = fillCard(config, card, values).map(({ name, text }) => {
          bytes += Buffer.byteLength(text);
          return { name: name ?? card.title, q: text, timezone };
        });
        if (bytes <= FILLED_BYTES_MAX) return { id: card.id, queries };
      } catch (error) {
        if (!(error instanceof PublicError)) throw error;
        return { id: card.id, error: error.message };
      }
      throw new PublicError('bad_request', `with these values, the queries have more than ${FILLED_BYTES_MAX} bytes`);
    });
}
