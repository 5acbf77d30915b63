// Reads small bodies and parses JSON by a schema, with every invalid field named.
import { isUtf8 } from 'node:buffer';
import express, { type RequestHandler } from 'express';
import type { z } from 'zod';
import { PublicError } from '../errors.js';
import { describeProblem, describeProblems, quoteName } from './field-problem.js';

const BODY_BYTES_MAX = 64 * 1024;

/** Of every content type. Other bytes would be read as replacement characters. */
const UTF8 = {
  type: () => true,
  verify: (_req: unknown, _res: unknown, bytes: Buffer) => {
    if (!isUtf8(bytes)) throw new Error('not UTF-8');
  },
};

/** `req.body` is a Buffer. */
export const readBytes = (limit: number): RequestHandler => express.raw({ ...UTF8, limit });

/** `req.body` is the parsed JSON, undefined without a body. */
export const readJson = (limit: number): RequestHandler => express.json({ ...UTF8, limit, strict: false });

export const readJsonBody: RequestHandler = readJson(BODY_BYTES_MAX);

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
  throw new PublicError('bad_request', `unknown parameter ${quoteName(unknown)}; ${hint}`);
}

/** Of a body or a query string; whether unknown fields are refused is for the schema to say. */
export function parseFields<S extends z.ZodType>(schema: S, fields: object): z.output<S> {
  const parsed = schema.safeParse(fields, { error: describeProblem });
  if (parsed.success) return parsed.data;
  const problems = describeProblems(parsed.error, schema, { field: 'field', holder: 'the body' });
  throw new PublicError('bad_request', problems.join('; '));
}
