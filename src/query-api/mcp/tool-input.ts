// Input of a tool: a zod schema, whose JSON schema is shorter in tools/list, and whose errors are
// in the words of other requests.
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { describeProblem, describeProblems } from '../../platform/http/field-problem.js';

const INT32_MAX = 2 ** 31 - 1;

/**
 * Without the largest integer, usual defaults, and that other arguments are refused, because every
 * conversation pays for them.
 */
const omitObvious = (key: string, value: unknown): unknown =>
  (key === 'maximum' && value === INT32_MAX) ||
  (key === 'default' && (value === 0 || value === false)) ||
  key === 'additionalProperties'
    ? undefined
    : value;

/**
 * Without the name of the dialect, which is the default of the protocol. Made once: each request
 * has a server of its own, which asks for it.
 */
export function toolInput<Schema extends z.ZodObject>(
  schema: Schema,
): StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>> {
  const standard = schema['~standard'] as StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>>['~standard'];
  const known = new Map<string, Record<string, unknown>>();
  const input: typeof standard.jsonSchema.input = (options) => {
    const made = known.get(options.target);
    if (made !== undefined) return made;
    const { $schema: _, ...rest } = standard.jsonSchema.input(options);
    const short = JSON.parse(JSON.stringify(rest, omitObvious));
    known.set(options.target, short);
    return short;
  };
  const validate = (given: unknown) => {
    const parsed = schema.safeParse(given, { error: describeProblem });
    if (parsed.success) return { value: parsed.data };
    const problems = describeProblems(parsed.error, schema, { field: 'argument', holder: 'the tool' });
    return { issues: problems.map((message) => ({ message })) };
  };
  return { '~standard': { ...standard, validate, jsonSchema: { ...standard.jsonSchema, input } } };
}
