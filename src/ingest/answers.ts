// Schemas of the answers of the routes of events: what was accepted, and what was rejected.
import { z } from 'zod';
import { type AnswerOf, count, instant } from '../platform/answer-fields.js';
import { SKIP_REASONS } from './skip-reasons.js';

export const accepted = z.strictObject({
  accepted: count.meta({ description: 'events that passed validation, and that no rule of the project dropped' }),
  dropped: z
    .int()
    .min(1)
    .optional()
    .meta({ description: 'events that rules of the project dropped; not for public keys, absent when none' }),
  counted: z
    .boolean()
    .optional()
    .meta({ description: 'with wait=1: whether queries count them now; false when that took longer than 10 s' }),
});

const reason = z.enum(SKIP_REASONS);
export const rejected = z.strictObject({
  counts: z.array(z.strictObject({ date: z.iso.date(), reason, events: z.int().min(1) })),
  samples: z.array(
    z.strictObject({
      at: instant,
      reason,
      event: z.string().meta({ description: 'the beginning of its JSON, without keys of the service and addresses' }),
    }),
  ),
  ignored_fields: z.array(
    z.strictObject({
      route: z.enum(['/track', '/identify']),
      field: z
        .string()
        .meta({ description: 'an unknown field of an event, of an identify call, or of a batch beside them' }),
      instead: z
        .string()
        .meta({ description: 'the field that takes what it holds', examples: ['time', 'events[].user_id'] }),
      last_at: instant,
    }),
  ),
});

export type Rejected = AnswerOf<typeof rejected>;
