// Reads small JSON bodies and parses them by a schema, with every invalid field named.
import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import { PublicError } from '../errors.js';

const BODY_BYTES_MAX = 64 * 1024;
/** Of a name in an error. */
const NAME_LENGTH_MAX = 100;

/** Parses the body as JSON for every content type. Without a body `req.body` is undefined. */
export const readJsonBody: RequestHandler = express.json({ type: () => true, limit: BODY_BYTES_MAX, strict: false });

/**
 * Throws a bad request that lists all problems at once: `name is required; role is one of member,
 * admin`.
 */
export function parseJsonBody<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new PublicError('bad_request', 'the body is not a JSON object');
  }
  return parseFields(schema, body);
}

/**
 * Parses the parameters of a query string likewise. Refuses others: with a misspelled `dry_run`, a
 * change would be stored.
 */
export function parseParameters<S extends z.ZodObject>(schema: S, query: object): z.output<S> {
  const known = Object.keys(schema.shape);
  const unknown = Object.keys(query).find((name) => !known.includes(name));
  if (unknown === undefined) return parseFields(schema, query);
  const hint = known.length === 0 ? 'the route has none' : `the route has ${known.join(', ')}`;
  throw new PublicError(
    'bad_request',
    `unknown parameter ${JSON.stringify(unknown.slice(0, NAME_LENGTH_MAX))}; ${hint}`,
  );
}

/** Of a body or a query string; whether unknown fields are refused is for the schema to say. */
export function parseFields<S extends z.ZodType>(schema: S, fields: object): z.output<S> {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => [...issue.path, describe(issue, schema)].join(' '));
  throw new PublicError('bad_request', problems.join('; '));
}

function describe(issue: z.core.$ZodIssue, schema: z.ZodType): string {
  if (issue.code !== 'unrecognized_keys') return issue.message;
  const unknown = `unknown field ${JSON.stringify(issue.keys[0]?.slice(0, NAME_LENGTH_MAX))}`;
  const isOfBody = issue.path.length === 0 && schema instanceof z.ZodObject;
  return isOfBody ? `${unknown}; the body has ${Object.keys(schema.shape).join(', ')}` : unknown;
}
