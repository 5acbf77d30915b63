// Zod schema of a dashboard document. Rules across values (templates, queries, unique names) are in
// the check-*.ts files of this folder.
import { z } from 'zod';
import { alertsSchema } from '../alerts/config-schema.js';
import { reportsSchema, timezoneSchema } from '../reports/config-schema.js';

const KEY_LENGTH_MAX = 63;
const KEY_FORM = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const NAME_FORM = /^[A-Za-z][A-Za-z0-9_]*$/;
const FIELD_FORM = /^[A-Za-z_][A-Za-z0-9_.]*$/;

// biome-ignore format: one list
const CARD_KINDS = [
  'metric', 'chart', 'table', 'events', 'funnel', 'retention', 'journey', 'sessions', 'lifecycle', 'stickiness', 'users',
  'inspect', 'markdown',
] as const;
// biome-ignore format: one list
const CARD_VISUALS = [
  'number', 'line', 'area', 'bar', 'pie', 'table', 'event-stream', 'funnel', 'retention-grid', 'path', 'lifecycle',
  'histogram', 'json', 'markdown',
] as const;

const REFRESH_SECONDS_MIN = 10;
const SECONDS_OF_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const isRefresh = (text: string): boolean => {
  const [, amount, unit = ''] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  return Number(amount) * (SECONDS_OF_UNIT[unit] ?? 0) >= REFRESH_SECONDS_MIN;
};

const title = z.string().trim().min(1).max(200);
const text = z.string().max(8192);
const query = z.string().min(1).max(16_384);
const name = z
  .string()
  .max(KEY_LENGTH_MAX)
  .regex(NAME_FORM, { error: 'has letters, digits and _ only, a letter first' });

/** Format of the key in a dashboard's address, and of the ids in it. */
export const dashboardKey = z
  .string()
  .max(KEY_LENGTH_MAX)
  .regex(KEY_FORM, { error: 'is written in kebab-case: letters a to z and digits, joined with "-"' });

const option = z.strictObject({ value: text, label: title.optional(), fragment: text.optional() });

const select = z.strictObject({
  type: z.literal('select'),
  label: title.optional(),
  default: text.optional(),
  options: z.array(option).min(1).max(100).optional(),
  query: query.optional(),
  value_column: text.min(1).optional(),
  label_column: text.min(1).optional(),
  fragment_template: text.optional(),
});

const fieldName = z.string().max(200).regex(FIELD_FORM, { error: 'is the name of a field, as in user.email' });

const input = z.strictObject({
  type: z.literal('input'),
  label: title.optional(),
  default: text.optional(),
  allow_domain: z.boolean().optional(),
  // Another name of allow_domain.
  allow_domain_wildcard: z.boolean().optional(),
  input: z.literal('email').optional(),
  placeholder: title.optional(),
  required: z.boolean().optional(),
  submit: z.boolean().optional(),
  // Each form is a fragment, or the field that is compared.
  fragments: z
    .record(
      name,
      z.strictObject({
        email: text.optional(),
        domain: text.optional(),
        exact_field: fieldName.optional(),
        domain_field: fieldName.optional(),
      }),
    )
    .optional(),
});

const dateRange = z.strictObject({
  type: z.literal('date_range'),
  label: title.optional(),
  default: text.optional(),
  options: z
    .array(option.omit({ fragment: true }))
    .min(1)
    .max(100)
    .optional(),
});

export const VARIABLE_TYPES = ['select', 'input', 'date_range'] as const;

export const variableSchema = z.discriminatedUnion('type', [select, input, dateRange]);

const scalar = z.union([z.string(), z.number(), z.boolean()], { error: 'is a text, a number or a boolean' });

const cardId = z
  .string()
  .max(KEY_LENGTH_MAX)
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]*$/, { error: 'has letters, digits, _, -, . and : only' });

export const cardSchema = z.strictObject({
  id: cardId,
  title,
  kind: z.enum(CARD_KINDS),
  viz: z.enum(CARD_VISUALS),
  query: query.optional(),
  queries: z
    .array(z.strictObject({ name: title, query }))
    .min(1)
    .max(10)
    .optional(),
  markdown: z.string().max(20_000).optional(),
  layout: z.strictObject({ w: z.int().min(1).max(12).optional(), h: z.int().min(1).max(100).optional() }).optional(),
  // Rendering hints, which are stored unchanged.
  options: z
    .record(
      z.string().max(KEY_LENGTH_MAX),
      z.union([scalar, z.array(scalar).max(100)], { error: 'is a text, a number, a boolean, or a list of those' }),
    )
    .optional(),
});

/** In all sections together. Every sync compiles every query. */
export const CARDS_MAX = 200;

export const configSchema = z.strictObject({
  version: z.literal(1),
  id: dashboardKey.optional(),
  title,
  order: z.int().optional(),
  refresh: z
    .string()
    .refine(isRefresh, { error: `is a number and s, m or h, at least ${REFRESH_SECONDS_MIN}s` })
    .optional(),
  timezone: timezoneSchema.optional(),
  variables: z.record(name, variableSchema).optional(),
  sections: z
    .array(z.strictObject({ title, cards: z.array(cardSchema).max(100) }))
    .min(1)
    .max(50),
  alerts: alertsSchema.optional(),
  reports: reportsSchema.optional(),
});

export type DashboardConfig = z.infer<typeof configSchema>;
export type Card = z.infer<typeof cardSchema>;
export type Variable = z.infer<typeof variableSchema>;
/** By name. A Map, because a variable may be named `constructor`. */
export type Variables = ReadonlyMap<string, Variable>;
