// Schemas of the answers of the routes of definitions.
import { z } from 'zod';
import { type AnswerOf, count, instant } from '../platform/answer-fields.js';
import { DEFINITION_KINDS } from '../query/definitions/definitions.js';

const shownDefinition = z.strictObject({
  name: z.string(),
  query: z.string(),
  about: z.string().optional(),
  line: z.int().min(1).meta({ description: 'in the document' }),
});
export const shownMetric = shownDefinition.extend({ unit: z.string().optional() });
export const definitionLists = {
  events: z.array(shownDefinition),
  cohorts: z.array(shownDefinition),
  metrics: z.array(shownMetric),
};

const definitionsSummary = {
  /** 0 when the project has never defined anything. */
  version: count,
  checksum: z.string(),
};
export const definitionsVersionItem = z.strictObject({
  ...definitionsSummary,
  created_at: instant.nullable(),
  is_synced: z.boolean().meta({ description: 'a key or a token stored it, not a person in the console' }),
});
const dropRule = z.strictObject({
  key: z.string().meta({ description: 'the same while the rule has the same text' }),
  when: z.string().optional(),
  event: z.string().optional(),
  about: z.string().optional(),
  line: z.int().min(1),
});
const days = z.int().min(1);
const botChoice = z.enum(['keep', 'drop']);
export const definitions = definitionsVersionItem.extend({
  ...{ source_yaml: z.string(), ...definitionLists },
  ...{ drop: z.array(dropRule), bots: botChoice },
  annotations: z.array(z.strictObject({ at: z.string(), text: z.string() })),
  keep: z
    .strictObject({ default: days.optional(), events: z.array(z.strictObject({ event: z.string(), days })) })
    .nullable(),
});
const droppedCounts = {
  events: count.meta({ description: 'of the last 30 days' }),
  days: z.array(z.strictObject({ date: z.iso.date(), events: z.int().min(1) })).meta({ description: 'newest first' }),
};
export const droppedEvents = z.strictObject({
  rules: z.array(dropRule.extend(droppedCounts)),
  bots: z.strictObject({ choice: botChoice, ...droppedCounts }),
});
export const savedDefinitions = z.strictObject({
  definitions: z.strictObject(definitionsSummary),
  changed: z.boolean().meta({ description: 'a new version was stored, or would be with dry_run' }),
  warnings: z.array(z.string()),
});
export const definitionUse = z.strictObject({
  kind: z.enum(DEFINITION_KINDS).meta({ description: 'of the definition that is used' }),
  name: z.string(),
  in: z.enum(['card', 'variable', 'alert', 'definition']),
  dashboard: z
    .strictObject({ id: z.uuid(), key: z.string(), title: z.string() })
    .nullable()
    .meta({ description: 'null for a use by another definition, and by an alert beside the definitions' }),
  id: z.string().meta({ description: 'of the card or the alert; the name of the variable or the definition' }),
  /** That of the card; otherwise the same as `id`. */
  title: z.string(),
});

export type DefinitionsVersionItem = AnswerOf<typeof definitionsVersionItem>;
export type DefinitionUse = AnswerOf<typeof definitionUse>;
