// Response schemas of the routes of alerts and reports.
import { z } from 'zod';
import { OUTCOMES, STATES } from '../../alerts/state.js';

const moment = z.iso.datetime();
const alertState = z.enum(STATES);
const alertOutcome = {
  outcome: z.enum(OUTCOMES),
  value: z.number().nullable(),
  error: z.string().nullable().meta({ description: 'why the check failed' }),
};
const named = {
  id: z.uuid(),
  key: z.string().meta({ description: 'the id in the document' }),
  dashboard: z
    .strictObject({ id: z.uuid(), key: z.string(), title: z.string() })
    .nullable()
    .meta({ description: 'null for an alert of the definitions' }),
  written_in: z.enum(['dashboard', 'definitions']),
};
export const alert = z.strictObject({
  ...named,
  query: z.string(),
  when: z.string(),
  every_seconds: z.int(),
  to: z.array(z.string()).meta({ description: 'webhooks without their path' }),
  timezone: z.string(),
  state: alertState,
  changed_at: moment.nullable(),
  checked_at: moment.nullable(),
  next_due_at: moment,
  last_check: z.strictObject(alertOutcome).nullable(),
});
const deliveries = z.array(
  z.strictObject({
    to: z.string(),
    status: z.enum(['waiting', 'sent', 'failed']),
    attempts: z.int().min(0),
    error: z.string().nullable(),
    ended_at: moment.nullable(),
  }),
);
export const alertCheck = z.strictObject({
  at: moment,
  ...alertOutcome,
  state: alertState,
  deliveries,
});
export const alertDryRun = z.strictObject({
  ...alertOutcome,
  rows: z.array(z.record(z.string(), z.unknown())).meta({ description: 'at most ten that fulfill the condition' }),
  text: z.string().nullable().meta({ description: 'what would be sent; null when the state would not change' }),
});
export const report = z.strictObject({
  ...named,
  at: z.string().meta({ examples: ['monday 08:00'] }),
  timezone: z.string(),
  to: z.array(z.string()).meta({ description: 'webhooks without their path' }),
  last_run_at: moment.nullable(),
  next_due_at: moment,
});
export const reportRun = z.strictObject({
  at: moment,
  error: z.string().nullable().meta({ description: 'why no card could be answered; such a run is repeated' }),
  deliveries,
});
const reportCard = z.union([
  z.strictObject({ title: z.string(), error: z.string() }),
  z.strictObject({
    title: z.string(),
    columns: z.array(z.string()),
    numbers: z.array(z.boolean()).meta({ description: 'whether all cells of a column are numbers' }),
    rows: z.array(z.array(z.string())).meta({ description: 'the first ten, of a series in time the last ten' }),
    rows_before: z.int().min(0).meta({ description: 'rows of the answer before them' }),
    total: z.int().min(0),
    columns_left_out: z.int().min(0),
  }),
]);
export const reportDryRun = z.strictObject({
  subject: z.string(),
  text: z.string(),
  html: z.string(),
  cards: z.array(reportCard),
});
export const webhookSecret = z.strictObject({ secret: z.string() });
