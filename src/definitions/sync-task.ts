// Thread task of a change of definitions: parses the JSON body and the YAML document, and checks
// every definition.
import { parseSourceBody } from '../dashboards/schema.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { type DefinitionsContext, type ParsedDefinitions, parseDefinitions } from './parse-definitions.js';
import { definitionsBodySchema } from './schema.js';

export interface DefinitionsRequest {
  /** The request body, as JSON. */
  readonly body: Uint8Array;
  readonly context: DefinitionsContext;
}

export type CheckedDefinitions = ParsedDefinitions & { readonly sourceYaml: string };

export const definitionsTask: ThreadTask<DefinitionsRequest, CheckedDefinitions> = {
  module: import.meta.url,
  name: 'definitionsTask',
  run: ({ body, context }) => {
    const { source_yaml: sourceYaml } = parseSourceBody(definitionsBodySchema, body);
    return { ...parseDefinitions(sourceYaml, context), sourceYaml };
  },
  tooCostly: 'the definitions take more than {limit} to check; make them fewer or shorter',
};
