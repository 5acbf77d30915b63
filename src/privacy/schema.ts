// Parses parameters of the privacy routes: the page of the audit trail, the id of a request, the
// range of an export.
import { z } from 'zod';
import { tryParseEventTime } from '../ingest/event-time.js';
import { PublicError } from '../platform/errors.js';

const AUDIT_PAGE_MAX = 1000;

/** Body of the requests about a person. */
export const personBody = z.strictObject({ user_id: z.string({ error: 'is required: the user id' }) });

const TIME_ERROR = 'must be a day or a time from 2000 on, such as 2026-11-01 or 2026-11-01T08:00:00Z';

/** As epoch milliseconds; without an offset it is UTC. */
const time = z.string().transform((text, context) => {
  // Unlike that of an event, it may be of any later day.
  const timeMs = tryParseEventTime(text, Number.POSITIVE_INFINITY);
  if (timeMs !== undefined) return timeMs;
  context.issues.push({ code: 'custom', message: TIME_ERROR, input: text });
  return z.NEVER;
});

/** Events from `from` on and before `to`. */
export const exportRange = z
  .object({ from: time.optional(), to: time.optional() })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    error: 'must be before "to"',
    path: ['from'],
  });

export const noParameters = z.object({});

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
