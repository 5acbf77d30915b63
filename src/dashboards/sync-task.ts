// Thread task of a dashboard sync: parses the JSON body and the YAML document, and compiles its
// queries.
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { type DashboardContext, type ParsedDashboard, parseDashboard } from './parse-dashboard.js';
import { parseSyncBody, type SyncBody } from './schema.js';

export interface SyncRequest {
  /** The request body, as JSON. */
  readonly body: Uint8Array;
  readonly context: DashboardContext;
}

export type SyncResult = ParsedDashboard & { readonly sourceYaml: string; readonly visibility: SyncBody['visibility'] };

export const syncTask: ThreadTask<SyncRequest, SyncResult> = {
  module: import.meta.url,
  name: 'syncTask',
  run: ({ body, context }) => {
    const { source_yaml: sourceYaml, visibility } = parseSyncBody(body);
    return { ...parseDashboard(sourceYaml, context), sourceYaml, visibility };
  },
  tooCostly:
    'the dashboard takes more than {limit} to check; give it fewer cards, options of its variables, or aliases, or split it',
};
