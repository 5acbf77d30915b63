// Schemas of the answers of the routes of reports.
import { z } from 'zod';
import { deliveries, named } from '../alerts/answers.js';
import { type AnswerOf, count, instant } from '../platform/answer-fields.js';

export const report = z.strictObject({
  ...named,
  dashboard: named.dashboard.meta({ description: 'null when the definitions name a dashboard that was deleted' }),
  at: z.string().meta({ examples: ['monday 08:00'] }),
  timezone: z.string(),
  to: z.array(z.string()).meta({ description: 'webhooks without their path' }),
  last_run_at: instant.nullable(),
  next_due_at: instant,
});
export const reportRun = z.strictObject({
  at: instant,
  error: z.string().nullable().meta({ description: 'why no card could be answered; such a run is repeated' }),
  deliveries,
});
const shownTable = z.strictObject({
  title: z.string(),
  columns: z.array(z.string()),
  numbers: z.array(z.boolean()).meta({ description: 'whether all cells of a column are numbers' }),
  rows: z.array(z.array(z.string())).meta({ description: 'the first ten, of a series in time the last ten' }),
  rows_before: count.meta({ description: 'rows of the answer before them' }),
  /** Rows of the answer. */
  total: count,
  columns_left_out: count,
});
const reportCard = z.union([z.strictObject({ title: z.string(), error: z.string() }), shownTable]);
export const reportDryRun = z.strictObject({
  subject: z.string(),
  text: z.string(),
  html: z.string(),
  cards: z.array(reportCard),
});

export type ReportItem = AnswerOf<typeof report>;
export type RunItem = AnswerOf<typeof reportRun>;
export type ShownTable = AnswerOf<typeof shownTable>;
export type ReportCard = AnswerOf<typeof reportCard>;
export type ReportDryRun = AnswerOf<typeof reportDryRun>;
