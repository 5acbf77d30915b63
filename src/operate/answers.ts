// Schemas of the answers of the routes of delivery.
import { z } from 'zod';
import { type AnswerOf, count } from '../platform/answer-fields.js';

const failedJob = z.strictObject({
  queue: z.string(),
  id: z.string(),
  failed_at: z.iso.datetime(),
  attempts: count,
  reason: z.string(),
  events: count.nullable().meta({ description: 'events or identify calls of the job' }),
});
const queueState = z.strictObject({
  queue: z.string(),
  waiting: count,
  active: count,
  delayed: count,
  failed: count,
  /** Null when none waits. */
  oldest_waiting_seconds: z.number().min(0).nullable(),
});
const finding = z.strictObject({
  name: z.string(),
  state: z.enum(['ok', 'attention', 'failed']),
  found: z.string(),
  advice: z.string(),
});

export const delivery = z.strictObject({
  /** Null before it was first measured. */
  lag_seconds: z.number().min(0).nullable().meta({ description: 'from acceptance until queries see an event' }),
  /** Accepted events and identify calls of the project that are not stored yet. */
  backlog: z.strictObject({ events_bytes: z.number().min(0), calls_bytes: z.number().min(0) }),
  failed: z.array(failedJob).meta({ description: 'jobs with events of this project alone; for operators all' }),
  installation: z
    .strictObject({ queues: z.array(queueState), checks: z.array(finding) })
    .nullable()
    .meta({ description: 'for operators' }),
});
const decidedJob = z.strictObject({ queue: z.string(), id: z.string() });
export const replayedJob = decidedJob.extend({ status: z.literal('replayed') });
export const discardedJob = decidedJob.extend({ status: z.literal('discarded') });

export type Delivery = AnswerOf<typeof delivery>;
export type QueueState = AnswerOf<typeof queueState>;
