// Parses parameters of the privacy routes: the page of the audit trail, the id of a request.
import { z } from 'zod';
import { PublicError } from '../platform/errors.js';

const AUDIT_PAGE_MAX = 1000;

/** Body of the requests about a person. */
export const personBody = z.strictObject({ user_id: z.string({ error: 'is required: the user id' }) });

export const auditPage = z.object({
  limit: z.coerce.number().int().min(1).max(AUDIT_PAGE_MAX).default(100),
  before: z.uuid().optional(),
});

export function parseAuditPage(query: unknown): { limit: number; before: string | undefined } {
  const parsed = auditPage.safeParse(query);
  if (!parsed.success) {
    throw new PublicError('bad_request', `"limit" must be 1 to ${AUDIT_PAGE_MAX}, "before" the id of an entry`);
  }
  return { limit: parsed.data.limit, before: parsed.data.before };
}

/** Undefined for what cannot be the id of a request. */
export const tryParseRequestId = (text: unknown): string | undefined => z.uuid().safeParse(text).data;
