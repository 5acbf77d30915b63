// Definitions as answers show them: a list for each kind.
import type { Definition, DefinitionKind, Definitions } from '../query/definitions/definitions.js';
import type { SECTIONS } from './config-schema.js';

export type ShownDefinition = Omit<Definition, 'kind'>;

export const toLists = (definitions: Definitions): Record<(typeof SECTIONS)[DefinitionKind], ShownDefinition[]> => {
  const of = (kind: DefinitionKind): ShownDefinition[] =>
    definitions.filter((definition) => definition.kind === kind).map(({ kind: _, ...shown }) => shown);
  return { events: of('event'), cohorts: of('cohort'), metrics: of('metric') };
};
