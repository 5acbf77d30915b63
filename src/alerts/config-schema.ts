// Zod schema of `alerts:` in a document, a dashboard or definitions. check-alerts.ts has the rules
// across values.
import { z } from 'zod';
import { parseTarget } from './targets.js';

const ID_LENGTH_MAX = 63;
/** Alerts in one document. */
export const ALERTS_MAX = 50;
const TARGETS_MAX = 10;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const UNIT_MS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: DAY_MS };

/** Milliseconds of `15m`, `6h`, `1d`; undefined below 1m, above 1d, and for other texts. */
export function tryParseInterval(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const ms = Number(amount) * (UNIT_MS[unit] ?? 0);
  return ms >= MINUTE_MS && ms <= DAY_MS ? ms : undefined;
}

export const targetsSchema = z
  .array(
    z.string().superRefine((text, context) => {
      const target = parseTarget(text);
      if ('problem' in target) context.addIssue({ code: 'custom', message: target.problem });
    }),
  )
  .min(1)
  .max(TARGETS_MAX);

export const alertId = z
  .string()
  .max(ID_LENGTH_MAX)
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, { error: 'has letters, digits, _ and - only' });

export const alertSchema = z.strictObject({
  id: alertId,
  query: z.string().min(1).max(16_384),
  when: z.string().min(1).max(300),
  every: z.string().refine((text) => tryParseInterval(text) !== undefined, {
    error: 'is a number and m, h or d, from 1m to 1d: 15m',
  }),
  to: targetsSchema,
});
export type AlertConfig = z.infer<typeof alertSchema>;

export const alertsSchema = z.array(alertSchema).max(ALERTS_MAX);
