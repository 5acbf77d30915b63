// Schemas of the answers of the routes of dashboards. What contains parts of a document is in
// src/api/openapi/answers.ts: its schemas need modules of Node, which the console cannot import.
import { z } from 'zod';
import { type AnswerOf, instant } from '../platform/answer-fields.js';
import { VISIBILITIES } from './visibility.js';

const dashboardSummary = z.strictObject({
  id: z.uuid(),
  key: z.string(),
  title: z.string(),
  visibility: z.enum(VISIBILITIES),
  checksum: z.string().regex(/^[0-9a-f]{64}$/),
  version: z.int().min(1),
});
export const syncedDashboard = z.strictObject({
  dashboard: dashboardSummary,
  changed: z.boolean().meta({ description: 'a new version was stored' }),
  metadata_changed: z.boolean().meta({ description: 'only the visibility changed' }),
});
export const filledQuery = z.strictObject({
  name: z.string().meta({ description: 'name of the query, or title of a card with a single query' }),
  q: z.string(),
  timezone: z.string(),
});
export const filledCard = z.strictObject({
  id: z.string(),
  queries: z.array(filledQuery).optional(),
  error: z.string().optional().meta({ description: 'why the queries cannot be filled' }),
});
export const dashboardVersionItem = z.strictObject({
  version: z.int(),
  checksum: z.string(),
  created_at: instant,
});
export const dashboardItem = dashboardSummary.extend({
  order: z.int().nullable(),
  updated_at: instant,
  /** The person who created it; null for a key or a service token. */
  owner: z.uuid().nullable(),
  synced_at: instant
    .nullable()
    .meta({ description: 'when a sync last changed it; null when it is edited in the console' }),
});
export const deletedDashboard = z.strictObject({ status: z.literal('deleted'), id: z.uuid() });

export type DashboardSummary = AnswerOf<typeof dashboardSummary>;
export type DashboardItem = AnswerOf<typeof dashboardItem>;
