// Parses the body of POST /query.
import { z } from 'zod';
import { PublicError } from '../platform/errors.js';
import { describeProblem } from '../platform/http/field-problem.js';
import { QUERY_BYTES_MAX } from '../query/compile.js';
import { findNearest, quote } from '../query/errors.js';
import { findTimeZone } from '../query/time/timezone.js';

const FORMATS = ['llm', 'json', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

const LIMIT_MAX = 10_000;

export const queryBodySchema = z.object({
  q: z
    .string({ error: 'is required: the text of the query' })
    .refine((text) => text.trim() !== '', { error: 'is empty; a query is: source | stage | stage' })
    .refine((text) => Buffer.byteLength(text) <= QUERY_BYTES_MAX, { error: `is longer than ${QUERY_BYTES_MAX} bytes` }),
  format: z.enum(FORMATS, { error: `is one of ${FORMATS.join(', ')}` }).default('llm'),
  limit: z
    .int({ error: `is a whole number from 1 to ${LIMIT_MAX}` })
    .min(1, { error: `is at least 1` })
    .max(LIMIT_MAX, { error: `is at most ${LIMIT_MAX}; page with offset` })
    .default(100),
  offset: z.int({ error: 'is a whole number' }).min(0, { error: 'is at least 0' }).default(0),
  timezone: z
    .string({ error: 'is an IANA name such as Europe/Berlin' })
    .transform((name, { addIssue }) => {
      const zone = findTimeZone(name);
      if (zone === undefined) addIssue('is not a known IANA time zone; write a name such as Europe/Berlin');
      return zone ?? z.NEVER;
    })
    .optional()
    .meta({ description: 'default: that of the project' }),
  explain: z
    .boolean({ error: 'is true or false' })
    .optional()
    .meta({ description: 'true: answers the plan of the query instead of running it, as JSON in every format' }),
});

export type QueryRequest = Readonly<z.infer<typeof queryBodySchema>> & {
  readonly timezone: string;
  /** Of fields that the body has and no query reads. */
  readonly warnings: readonly string[];
};

const FIELDS = Object.keys(queryBodySchema.shape);
const UNKNOWN_SHOWN_MAX = 5;

/**
 * `timezone` is that of a query that names none. Throws bad_request with every invalid field.
 */
export function parseQueryBody(body: unknown, timezone: string): QueryRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new PublicError('bad_request', 'the body is not a JSON object; send {"q": "signup | last 7d | count"}');
  }
  const parsed = queryBodySchema.safeParse(body, { error: describeProblem });
  if (parsed.success) {
    return { ...parsed.data, timezone: parsed.data.timezone ?? timezone, warnings: warningsOfUnknown(body) };
  }
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
  throw new PublicError('bad_request', problems.join('; '));
}

function warningsOfUnknown(body: object): string[] {
  const unknown = Object.keys(body).filter((name) => !FIELDS.includes(name));
  return unknown.slice(0, UNKNOWN_SHOWN_MAX).map((name) => {
    const nearest = findNearest(name, FIELDS);
    const known = nearest === undefined ? `fields are ${FIELDS.join(', ')}` : `nearest: ${quote(nearest)}`;
    return `the field ${quote(name)} of the body is unknown and was ignored; ${known}`;
  });
}
