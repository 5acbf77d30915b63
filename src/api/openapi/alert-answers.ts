// Response schemas of the routes of alerts.
import { z } from 'zod';
import { OUTCOMES, STATES } from '../../alerts/state.js';

const moment = z.iso.datetime();
const alertState = z.enum(STATES);
export const alert = z.strictObject({
  id: z.uuid(),
  key: z.string().meta({ description: 'the id in the document' }),
  dashboard: z.strictObject({ id: z.uuid(), key: z.string(), title: z.string() }),
  query: z.string(),
  when: z.string(),
  every_seconds: z.int(),
  to: z.array(z.string()).meta({ description: 'webhooks without their path' }),
  timezone: z.string(),
  state: alertState,
  changed_at: moment.nullable(),
  checked_at: moment.nullable(),
  next_due_at: moment,
});
const alertOutcome = {
  outcome: z.enum(OUTCOMES),
  value: z.number().nullable(),
  error: z.string().nullable().meta({ description: 'why the check failed' }),
};
export const alertCheck = z.strictObject({
  at: moment,
  ...alertOutcome,
  state: alertState,
  deliveries: z.array(
    z.strictObject({
      to: z.string(),
      status: z.enum(['waiting', 'sent', 'failed']),
      attempts: z.int().min(0),
      error: z.string().nullable(),
      ended_at: moment.nullable(),
    }),
  ),
});
export const alertDryRun = z.strictObject({
  ...alertOutcome,
  rows: z.array(z.record(z.string(), z.unknown())).meta({ description: 'at most ten that fulfill the condition' }),
  text: z.string().nullable().meta({ description: 'what would be sent; null when the state would not change' }),
});
export const webhookSecret = z.strictObject({ secret: z.string() });
