// Schemas of errors, of answers of queries, and of drafts of dashboards; the others are in
// answers.ts of their features. test/integration/openapi.test.ts validates real responses of every
// route against all of them.
import { z } from 'zod';
import { variableSchema } from '../../dashboards/config-schema.js';
import { shownMetric } from '../../definitions/answers.js';
import { count } from '../../platform/answer-fields.js';
import { DEFINITION_KINDS } from '../../query/definitions/definitions.js';
import { MODES } from '../../query/sources/index.js';
import { ALL_PERIODS } from '../../query/time/calendar-periods.js';

const moment = z.iso.datetime();

const fix = z
  .strictObject({ line: z.int().min(1), column: z.int().min(1), length: count, text: z.string() })
  .optional()
  .meta({ description: 'replacing this piece of the text solves the problem' });

export const errorAnswer = z.strictObject({
  error: z.string(),
  code: z.int().optional().meta({ description: 'the status again, for the SDKs of Amplitude' }),
  details: z
    .array(
      z.strictObject({
        message: z.string(),
        hint: z.string(),
        line: z.int().min(1),
        column: z.int().min(1),
        length: count.optional().meta({ description: 'of a query: length in characters' }),
        path: z.string().optional().meta({ description: 'of a dashboard: path in the document' }),
        fix,
      }),
    )
    .optional()
    .meta({ description: 'every problem of a query or of a dashboard' }),
});

export const ok = z.strictObject({ ok: z.literal(true) });

const cell = z.unknown();
const range = z.strictObject({ from: moment, to: moment });

export const queryExplanation = z.strictObject({
  mode: z.enum(MODES),
  period: z.string().meta({ examples: ['2026-11-13T09:30:00Z/2026-11-20T09:30:00Z'] }),
  timezone: z.string(),
  columns: z.array(z.string()),
  warnings: z.array(z.string()),
  definitions: z
    .array(shownMetric.extend({ kind: z.enum(DEFINITION_KINDS) }))
    .meta({ description: 'those that the query uses' }),
  sql: z.string().meta({ description: 'for a client of ClickHouse: sets the parameters, then runs the query' }),
});

/** The choice result packet is at the top level, beside the rows. */
export const queryAnswer = z.looseObject({
  columns: z.array(z.string()),
  rows: z.array(z.record(z.string(), cell)).meta({
    description: 'a value for each column; aggregates also have `value` and `metric`',
  }),
  total: count.meta({ description: 'rows of the query, of which these are a page' }),
  elapsed_ms: count,
  rows_scanned: count,
  period: z.string().meta({ examples: ['2026-11-13T09:30:00Z/2026-11-20T09:30:00Z'] }),
  timezone: z.string().meta({ description: 'of the query, else of the project', examples: ['Europe/Berlin'] }),
  mode: z.enum(MODES),
  metadata: z.strictObject({
    truncated: z.literal(true).optional(),
    warnings: z.array(z.string()).optional(),
    funnel_steps: z.array(z.string()).optional(),
    window_seconds: z
      .number()
      .optional()
      .meta({ description: 'the `window` of a funnel, of paths or of retention, also by default', examples: [3600] }),
    granularity: z
      .enum(ALL_PERIODS)
      .optional()
      .meta({ description: 'the periods of retention without a `window`', examples: ['week'] }),
    compare: z
      .strictObject({ current: range, previous: range })
      .optional()
      .meta({ description: 'the two ranges of `compare`' }),
    unit: z
      .string()
      .optional()
      .meta({ description: 'what is counted instead of people', examples: ['session_id'] }),
    without_unit: count.optional().meta({ description: 'events that are left out, because they do not have the unit' }),
    people_of: z
      .string()
      .optional()
      .meta({ description: 'first day of the period of a list of people of a lifecycle', examples: ['2026-11-09'] }),
    incomplete: z
      .array(z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])))
      .optional()
      .meta({ description: 'cohorts and periods of retention that are not over' }),
    partial: z
      .array(z.record(z.string(), z.string()))
      .optional()
      .meta({ description: 'time buckets that the range, or the present, covers only in part' }),
    incomplete_from: z
      .string()
      .optional()
      .meta({ description: 'bucket of a funnel from which on attempts are not over', examples: ['2026-11-20'] }),
    bucket_width: z
      .number()
      .optional()
      .meta({ description: 'width of the groups of `bucket(…)`', examples: [10] }),
    annotations: z
      .array(
        z.strictObject({
          at: z.string().meta({ description: 'as the definitions have it', examples: ['2026-11-01'] }),
          time: moment.meta({ description: 'the instant, or that at which the day begins' }),
          text: z.string(),
        }),
      )
      .optional()
      .meta({ description: 'annotations of the project in the range' }),
  }),
});

const draftCard = z.strictObject({
  id: z.string(),
  title: z.string().optional(),
  kind: z.string().optional(),
  viz: z.string().optional(),
  query: z.string().optional(),
  queries: z.array(z.strictObject({ name: z.string(), query: z.string() })).optional(),
  markdown: z.string().optional(),
  layout: z.strictObject({ w: z.int().optional(), h: z.int().optional() }).optional(),
  line: z.int().min(1),
  has_queries: z.boolean(),
});
export const draft = z.strictObject({
  source_yaml: z.string().meta({ description: 'the text with the change' }),
  problems: z.array(
    z.strictObject({ message: z.string(), hint: z.string(), line: z.int(), column: z.int(), path: z.string(), fix }),
  ),
  sections: z.array(z.strictObject({ title: z.string(), cards: z.array(draftCard) })),
  variables: z.array(
    z.strictObject({
      name: z.string(),
      line: z.int().min(1),
      variable: variableSchema.nullable().meta({ description: 'null when it is not valid' }),
    }),
  ),
});
