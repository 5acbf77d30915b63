// Schemas of the answers of the routes of erasure and of the audit trail.
import { z } from 'zod';
import { type AnswerOf, count, instant } from '../platform/answer-fields.js';

const erasureCounts = { events: count, mappings: count, profiles: count, devices: count };
export const erasureReceipt = z.strictObject({
  status: z.literal('deleted'),
  request_id: z.uuid(),
  user_id: z.string(),
  ...erasureCounts,
  verified_at: instant,
  purge_by: instant,
});
export const pendingErasure = z.strictObject({
  status: z.literal('pending'),
  request_id: z.uuid(),
  status_url: z.string(),
});
export const erasureRequest = z.looseObject({
  status: z.enum(['pending', 'deleted', 'purged']),
  request_id: z.uuid(),
  purge_by: instant.nullable(),
  waiting_for: z
    .array(z.string())
    .meta({ description: 'databases that do not answer now, and keep an unfinished request open' }),
});

export const auditEntry = z.strictObject({
  id: z.uuid(),
  at: instant,
  actor: z.strictObject({ kind: z.string(), id: z.string() }),
  action: z.string().meta({ examples: ['erasure.requested'] }),
  subject: z.string().nullable(),
  subject_hash: z.string().nullable(),
  outcome: z.string(),
  details: z.record(z.string(), z.unknown()),
});

export type AuditEntry = AnswerOf<typeof auditEntry>;
