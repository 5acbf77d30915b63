// Zod schema of `reports:` in a document.
import { z } from 'zod';
import { alertId, targetsSchema } from '../alerts/config-schema.js';
import { findTimeZone } from '../query/time/timezone.js';
import { SCHEDULE_FORM, tryParseSchedule } from './schedule.js';

/** Reports in one document. */
export const REPORTS_MAX = 10;

function refuse(context: z.RefinementCtx): never {
  context.addIssue({ code: 'custom', message: 'is an IANA name such as Europe/Berlin' });
  return z.NEVER;
}

export const timezoneSchema = z
  .string()
  // In the case of the database, because ClickHouse knows no other.
  .transform((name, context) => findTimeZone(name) ?? refuse(context));

export const reportSchema = z.strictObject({
  id: alertId,
  at: z.string().refine((text) => tryParseSchedule(text) !== undefined, { error: SCHEDULE_FORM }),
  timezone: timezoneSchema.optional(),
  to: targetsSchema,
});
export type ReportConfig = z.infer<typeof reportSchema>;

export const reportsSchema = z.array(reportSchema).max(REPORTS_MAX);
