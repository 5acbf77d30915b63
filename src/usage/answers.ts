// Schema of the answer of the usage routes.
import { z } from 'zod';
import { type AnswerOf, count } from '../platform/answer-fields.js';

export const usageDay = z.strictObject({
  date: z.iso.date(),
  events_ingested: count,
  events_stored: count,
  queries_run: count,
});

export type UsageDay = AnswerOf<typeof usageDay>;
