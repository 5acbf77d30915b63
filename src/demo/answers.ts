// Schema of the answer of the routes of the demo project.
import { z } from 'zod';
import { type AnswerOf, count } from '../platform/answer-fields.js';

export const demo = z.strictObject({
  status: z.enum(['none', 'waiting', 'loading', 'ready', 'failed']),
  project_id: z.uuid().nullable(),
  events: count.meta({ description: 'sent so far' }),
  users: count.meta({ description: 'devices of users identified so far' }),
  share: z.number().min(0).max(1),
  error: z.string().nullable().meta({ description: 'why loading failed' }),
  questions: z.array(z.strictObject({ question: z.string(), q: z.string() })),
});

export type DemoState = AnswerOf<typeof demo>;
