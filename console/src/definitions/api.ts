// Types and requests of the routes of definitions (/api/projects/{projectID}/definitions).
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import type * as answers from '../../../src/definitions/answers.js';
import type { keptEvents } from '../../../src/keeping/answers.js';
import type { JsonOf } from '../../../src/platform/answer-fields.js';
import { getJson, putJson } from '../api/request.js';
import type { VersionItem } from '../dashboards/api.js';

export type Definitions = JsonOf<typeof answers.definitions>;
export type Use = JsonOf<typeof answers.definitionUse>;
export type Dropped = JsonOf<typeof answers.droppedEvents>;
export type DropRule = Dropped['rules'][number];
export type Kept = JsonOf<typeof keptEvents>;
export type Receipt = Kept['receipts'][number];

const pathOf = (projectId: string, rest = ''): string => `/api/projects/${projectId}/definitions${rest}`;

const read = <T>(projectId: string, part: string, path = '') =>
  queryOptions({
    queryKey: ['definitions', projectId, part],
    queryFn: ({ signal }) => getJson<T>(pathOf(projectId, path), signal),
    staleTime: 0,
  });

export const definitionsQuery = (projectId: string) => read<Definitions>(projectId, 'current');
export const usesQuery = (projectId: string) => read<readonly Use[]>(projectId, 'uses', '/uses');
export const droppedQuery = (projectId: string) => read<Dropped>(projectId, 'dropped', '/dropped');
export const keptQuery = (projectId: string) => read<Kept>(projectId, 'keep', '/keep');
export const versionsQuery = (projectId: string) => read<readonly VersionItem[]>(projectId, 'versions', '/versions');

export const readVersion = (projectId: string, version: number): Promise<{ source_yaml: string }> =>
  getJson(pathOf(projectId, `/versions/${version}`));

interface Change {
  readonly source: string;
  readonly baseVersion: number;
  /** Checks the document and stores nothing. */
  readonly isDryRun: boolean;
}

/** Also changes what a repository syncs: the editor has said that the next sync undoes it. */
export function changeDefinitions(
  projectId: string,
  { source, baseVersion, isDryRun }: Change,
  signal?: AbortSignal,
): Promise<{ readonly warnings: readonly string[] }> {
  const path = pathOf(projectId, `?base_version=${baseVersion}&dry_run=${isDryRun}&detach=true`);
  return putJson(path, { source_yaml: source }, signal);
}

/** What the definitions say, and what is named by them, after a change. */
export const readAgain = (client: QueryClient, projectId: string): Promise<unknown> =>
  Promise.all(
    ['definitions', 'names', 'catalog'].map((key) => client.invalidateQueries({ queryKey: [key, projectId] })),
  );
