// Types and requests of the routes of definitions (/api/projects/{projectID}/definitions).
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import type { Definition, DefinitionKind } from '../../../src/query/definitions/definitions.js';
import { getJson, putJson } from '../api/request.js';
import type { VersionItem } from '../dashboards/api.js';

type Listed = readonly Omit<Definition, 'kind'>[];

export interface Definitions {
  /** 0 when nothing is defined. */
  readonly version: number;
  /** Whether a key or a token stored it, not a person here. */
  readonly is_synced: boolean;
  readonly source_yaml: string;
  readonly events: Listed;
  readonly cohorts: Listed;
  readonly metrics: Listed;
}

export interface Use {
  readonly kind: DefinitionKind;
  readonly name: string;
  readonly in: 'card' | 'variable' | 'alert' | 'definition';
  /** Null for a use by another definition, and by an alert beside the definitions. */
  readonly dashboard: { readonly id: string; readonly key: string; readonly title: string } | null;
  readonly id: string;
  readonly title: string;
}

/** Counts of the last 30 days. */
interface Counts {
  readonly events: number;
  /** Days of UTC, the newest first. */
  readonly days: readonly { readonly date: string; readonly events: number }[];
}

export interface DropRule extends Counts {
  readonly key: string;
  readonly when?: string;
  readonly event?: string;
  readonly about?: string;
  readonly line: number;
}

export interface Dropped {
  readonly rules: readonly DropRule[];
  readonly bots: Counts & { readonly choice: 'keep' | 'drop' };
}

interface Edge {
  /** Null: the types without an edge of their own. */
  readonly events: readonly string[] | null;
  readonly days: number;
  /** Older events are deleted. */
  readonly before: string;
}

/** What one night deleted. */
export interface Receipt {
  readonly day: string;
  readonly events: number;
  readonly deleted: readonly { readonly event: string; readonly events: number }[];
  readonly status: 'begun' | 'deleted' | 'purged';
  readonly deleted_at: string | null;
  readonly purged_at: string | null;
}

export interface Kept {
  /** `due` is null when the events could not be counted. */
  readonly edges: readonly (Edge & { readonly due: number | null })[];
  /** The newest first. */
  readonly receipts: readonly Receipt[];
}

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
