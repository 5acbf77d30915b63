// Schema of the answer of the routes of keeping.
import { z } from 'zod';
import { type AnswerOf, count, instant } from '../platform/answer-fields.js';

const days = z.int().min(1);
const edge = {
  events: z.array(z.string()).nullable().meta({ description: 'null: the types without an edge of their own' }),
  days,
  before: instant,
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
      deleted_at: instant.nullable(),
      purged_at: instant.nullable(),
    }),
  ),
});

export type KeptEvents = AnswerOf<typeof keptEvents>;
