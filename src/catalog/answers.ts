// Schema of the answer of the routes of the catalog.
import { z } from 'zod';
import { definitionLists } from '../definitions/answers.js';
import { type AnswerOf, count } from '../platform/answer-fields.js';

const catalogField = z.strictObject({
  field: z.string().meta({ description: 'prefix and key, unquoted', examples: ['event_properties.plan'] }),
  types: z.array(z.enum(['string', 'number', 'boolean'])),
});

/** Everything by frequency. */
export const catalog = z.strictObject({
  complete: z.boolean().meta({ description: 'false until the stored events of the project have been read once' }),
  events: z.array(z.strictObject({ event_type: z.string(), count })).meta({ description: 'counts are approximate' }),
  properties: z.array(catalogField).meta({ description: 'of events' }),
  profile: z.array(catalogField).meta({ description: 'of profiles' }),
  values: z
    .array(z.strictObject({ field: z.string(), values: z.array(z.string()), distinct: count }))
    .meta({ description: 'the most frequent texts of fields with at most 1,000 different ones' }),
  definitions: z.strictObject({ version: count, ...definitionLists }),
});

export type CatalogAnswer = AnswerOf<typeof catalog>;
