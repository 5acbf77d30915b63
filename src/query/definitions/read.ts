// Reads the text of a definition as the syntax that stands for its name. Its form was checked when
// it was stored (src/definitions/check-form.ts).
import type { QueryProblem } from '../errors.js';
import { parse } from '../parse/parse.js';
import { type Condition, type EventPattern, type Query, stagesOf } from '../parse/syntax.js';
import type { Definition } from './definitions.js';

/** `problems` have places in the text of the definition. */
export interface ReadDefinition {
  readonly query: Query;
  readonly problems: readonly QueryProblem[];
}

// Definitions are kept by those who hold them, so each is parsed once.
const known = new WeakMap<Definition, ReadDefinition>();

export function readDefinition(definition: Definition): ReadDefinition {
  const read = known.get(definition) ?? parse(definition.query);
  known.set(definition, read);
  return read;
}

export function eventOf({ source }: Query): EventPattern | undefined {
  return source !== undefined && source !== 'broken' && source.kind === 'event' ? source.event : undefined;
}

export function cohortOf({ stages }: Query): Condition | undefined {
  const items = stagesOf(stages, 'where').map(({ condition }) => condition);
  const [first] = items;
  return first && (items.length === 1 ? first : { kind: 'and', items, span: first.span });
}
