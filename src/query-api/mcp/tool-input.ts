// Input of a tool: a zod schema, whose JSON schema is shorter in tools/list.
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';

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
    const { $schema: _, ...rest } = known.get(options.target) ?? standard.jsonSchema.input(options);
    known.set(options.target, rest);
    return rest;
  };
  return { '~standard': { ...standard, jsonSchema: { ...standard.jsonSchema, input } } };
}
