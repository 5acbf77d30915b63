// Parses the day range of a usage request.
import { z } from 'zod';
import { PublicError } from '../platform/errors.js';
import { parseFields } from '../platform/http/json-body.js';
import { DAY_MS, toDay } from '../platform/utc-day.js';

const DAYS_MAX = 400;
const EARLIEST = '2000-01-01';

const dayField = z
  .string({ error: 'is a date written as YYYY-MM-DD' })
  .pipe(z.iso.date({ error: 'is a date written as YYYY-MM-DD', abort: true }))
  .refine((day) => day >= EARLIEST, { error: `is before ${EARLIEST}` })
  .optional();

export const usageQuery = z.object({ from: dayField, to: dayField });

/** Inclusive range of UTC days, formatted YYYY-MM-DD. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Defaults: `to` is today, `from` is the first day of the month of `to`. */
export function parseUsageRange(query: object, now: Date): DayRange {
  const fields = parseFields(usageQuery, query);
  const to = fields.to ?? toDay(now);
  const from = fields.from ?? `${to.slice(0, 8)}01`;
  if (from > to) throw new PublicError('bad_request', `from (${from}) is after to (${to})`);
  if ((Date.parse(to) - Date.parse(from)) / DAY_MS >= DAYS_MAX) {
    throw new PublicError('bad_request', `the range is longer than ${DAYS_MAX} days`);
  }
  return { from, to };
}
