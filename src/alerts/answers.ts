// Schemas of the answers of the routes of alerts.
import { z } from 'zod';
import { type AnswerOf, count, instant } from '../platform/answer-fields.js';
import { OUTCOMES, STATES } from './state.js';

const alertState = z.enum(STATES);
const alertOutcome = {
  outcome: z.enum(OUTCOMES),
  value: z.number().nullable(),
  error: z.string().nullable().meta({ description: 'why the check failed' }),
};
/** What alerts and reports have in common. */
export const named = {
  id: z.uuid(),
  key: z.string().meta({ description: 'the id in the document' }),
  dashboard: z.strictObject({ id: z.uuid(), key: z.string(), title: z.string() }).nullable(),
  written_in: z.enum(['dashboard', 'definitions']),
};
export const alert = z.strictObject({
  ...named,
  dashboard: named.dashboard.meta({ description: 'null for an alert of the definitions' }),
  query: z.string(),
  when: z.string(),
  every_seconds: z.int(),
  to: z.array(z.string()).meta({ description: 'webhooks without their path' }),
  timezone: z.string(),
  state: alertState,
  changed_at: instant.nullable(),
  checked_at: instant.nullable(),
  next_due_at: instant,
  /** Null before the first check. */
  last_check: z.strictObject(alertOutcome).nullable(),
});
export const deliveries = z.array(
  z.strictObject({
    to: z.string(),
    status: z.enum(['waiting', 'sent', 'failed']),
    attempts: count,
    error: z.string().nullable(),
    ended_at: instant.nullable(),
  }),
);
export const alertCheck = z.strictObject({
  at: instant,
  ...alertOutcome,
  state: alertState,
  /** Empty unless the check changed the state. */
  deliveries,
});
export const alertDryRun = z.strictObject({
  ...alertOutcome,
  rows: z.array(z.record(z.string(), z.unknown())).meta({ description: 'at most ten that fulfill the condition' }),
  text: z.string().nullable().meta({ description: 'what would be sent; null when the state would not change' }),
});
export const webhookSecret = z.strictObject({ secret: z.string() });

export type AlertItem = AnswerOf<typeof alert>;
export type CheckItem = AnswerOf<typeof alertCheck>;
export type AlertDryRun = AnswerOf<typeof alertDryRun>;
