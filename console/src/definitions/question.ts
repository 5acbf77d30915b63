// The query that opens a definition in Ask, and an example of a document.
import type { Definition, DefinitionKind } from '../../../src/query/definitions/definitions.js';

const QUESTIONS: Readonly<Record<DefinitionKind, (name: string) => string>> = {
  event: (name) => `${name} | last 30d | count by day`,
  cohort: (name) => `* | where cohort.${name} = true | last 30d | unique by day`,
  metric: (name) => `metric ${name} | last 30d | by day`,
};

export const questionOf = ({ kind, name }: Pick<Definition, 'kind' | 'name'>): string => QUESTIONS[kind](name);

/** Valid in every project: its event, which a project may not have, is a comment. */
export const EXAMPLE = `version: 1
# events:
#   # A name for an event, or for several. In a query: bought | count
#   bought: { query: '(purchase, renewal)', about: 'paid for something' }
cohorts:
  # People, as "* | where …". In a query: where cohort.regular = true
  regular: { query: '* | where count(* last 30d) >= 5', about: 'came often in the last 30 days' }
metrics:
  # A number. In a query: metric visitors | by week
  visitors: { query: '* | unique', about: 'people with any event' }
`;
