// What a query names of the project's data: event types, properties, and values that fields are
// compared with. Names that the project has never sent are said in the warnings of the answer.
import { type Definitions, writtenDefinition } from '../definitions/definitions.js';
import type { AnyBag } from '../fields.js';
import type { Literal, ResolvedField } from './resolved.js';

export interface MentionedProperty {
  readonly written: string;
  readonly bag: AnyBag;
  readonly key: string;
}

export interface MentionedValue {
  /** The field as written. */
  readonly written: string;
  /** The column of an event, or the property. */
  readonly of: { readonly column: string } | Pick<MentionedProperty, 'bag' | 'key'>;
  readonly text: string;
}

export interface Mentions {
  readonly events: Set<string>;
  readonly properties: MentionedProperty[];
  readonly values: MentionedValue[];
  /** What the project has defined, as a query writes it: its events are names too. */
  readonly defined: readonly string[];
}

export const noMentions = (definitions: Definitions = []): Mentions => ({
  ...{ events: new Set(), properties: [], values: [] },
  defined: definitions.map(writtenDefinition),
});

/**
 * Texts that a field is compared with. Numbers and booleans have several spellings. A column of the
 * answer has the values of the field that it is grouped by.
 */
export function mentionValues(mentions: Mentions, field: ResolvedField, values: readonly Literal[]): void {
  const named = ('valuesOf' in field && field.valuesOf) || field;
  if (named.kind !== 'column' && named.kind !== 'property') return;
  const of = named.kind === 'column' ? { column: named.field.column } : { bag: named.bag, key: named.key };
  for (const value of values) {
    if (value.kind === 'text' && value.text !== '') mentions.values.push({ written: field.name, of, text: value.text });
  }
}
