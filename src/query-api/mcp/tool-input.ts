// Input of a tool: a zod schema, whose JSON schema is shorter in tools/list.
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';

/** Without the name of the dialect, which is the default of the protocol. */
export function toolInput<Schema extends z.ZodObject>(
  schema: Schema,
): StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>> {
  const standard = schema['~standard'] as StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>>['~standard'];
  const input: typeof standard.jsonSchema.input = (options) => {
    const { $schema: _, ...rest } = standard.jsonSchema.input(options);
    return rest;
  };
  return { '~standard': { ...standard, jsonSchema: { ...standard.jsonSchema, input } } };
}
