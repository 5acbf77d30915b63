// Zod schema of the document of definitions. What the texts mean is checked by
// parse-definitions.ts.
import { z } from 'zod';
import { alertsSchema } from '../alerts/config-schema.js';
import { dashboardKey } from '../dashboards/config-schema.js';
import { isMoment } from '../query/annotations.js';
import { REPORTS_MAX, reportSchema } from '../reports/config-schema.js';

const RULES_MAX = 50;
const KEEP_FORM = 'is a number of days from 1d to 9999d: 90d';

const NAME_LENGTH_MAX = 63;
const NAME_FORM = /^[A-Za-z][A-Za-z0-9_-]*$/;

const name = z
  .string()
  .max(NAME_LENGTH_MAX)
  .regex(NAME_FORM, { error: 'has letters, digits, _ and - only, a letter first' });
const about = z.string().trim().min(1).max(1000);
/** Shorter than a query may be, because several stand in one. */
const query = z.string().min(1).max(4096);

const definition = z.strictObject({ query, about: about.optional() });
const metric = z.strictObject({ query, about: about.optional(), unit: z.string().trim().min(1).max(40).optional() });

/** How long events are kept, by their type. */
const days = z.string({ error: KEEP_FORM }).regex(/^[1-9]\d{0,3}d$/, { error: KEEP_FORM });

/** Which events the project does not let in; drop-rules.ts checks what a rule means. */
const dropRule = z.strictObject({
  when: z.string().trim().min(1).max(1024).optional(),
  event: z.string().min(1).max(256).optional(),
  about: about.optional(),
});
const BOT_CHOICES = ['keep', 'drop'] as const;
export type BotChoice = (typeof BOT_CHOICES)[number];

const ANNOTATIONS_MAX = 500;
const annotation = z.strictObject({
  at: z.string().refine(isMoment, { error: 'is a day, 2026-11-01, or a time with its offset, 2026-11-01T09:30:00Z' }),
  text: z.string().trim().min(1).max(300),
});

export const documentSchema = z.strictObject({
  version: z.literal(1),
  events: z.record(name, definition).optional(),
  cohorts: z.record(name, definition).optional(),
  metrics: z.record(name, metric).optional(),
  keep: z.record(z.string().min(1).max(256), days).optional(),
  drop: z.array(dropRule).max(RULES_MAX).optional(),
  bots: z.enum(BOT_CHOICES).optional(),
  annotations: z.array(annotation).max(ANNOTATIONS_MAX).optional(),
  alerts: alertsSchema.optional(),
  reports: z
    .array(reportSchema.extend({ dashboard: dashboardKey }))
    .max(REPORTS_MAX)
    .optional(),
});

export type DefinitionsDocument = z.infer<typeof documentSchema>;

/** The keys of the document by kind of definition. */
export const SECTIONS = { event: 'events', cohort: 'cohorts', metric: 'metrics' } as const;
