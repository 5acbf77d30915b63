// Response schemas of the routes of definitions.
import { z } from 'zod';
import { USE_PLACES } from '../../definitions/uses.js';
import { DEFINITION_KINDS } from '../../query/definitions/definitions.js';
import { definitionLists } from './answers.js';

const moment = z.iso.datetime();
const count = z.int().min(0);
const definitionsSummary = { version: count, checksum: z.string() };
export const definitionsVersionItem = z.strictObject({
  ...definitionsSummary,
  created_at: moment.nullable(),
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
  in: z.enum(USE_PLACES),
  dashboard: z
    .strictObject({ id: z.uuid(), key: z.string(), title: z.string() })
    .nullable()
    .meta({ description: 'null for a use by another definition, and by an alert beside the definitions' }),
  id: z.string().meta({ description: 'of the card or the alert; the name of the variable or the definition' }),
  title: z.string(),
});

const edge = {
  events: z.array(z.string()).nullable().meta({ description: 'null: the types without an edge of their own' }),
  days,
  before: moment,
};
export const keptEvents = z.strictObject({
  edges: z.array(
    z.strictObject({ ...edge, due: count.nullable().meta({ description: 'null when they could not be counted' }) }),
  ),
  receipts: z.array(
    z.strictObject({
      day: z.iso.date(),
      events: count,
      deleted: z.array(z.strictObject({ event: z.string(), events: count })),
      edges: z.array(z.strictObject(edge)),
      status: z.enum(['begun', 'deleted', 'purged']),
      deleted_at: moment.nullable(),
      purged_at: moment.nullable(),
    }),
  ),
});
