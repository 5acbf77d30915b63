// The project as its settings and its start page show it: one query, so that both show the same
// keys.
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { getJson } from './request.js';

export interface ProjectDetails {
  readonly id: string;
  readonly name: string;
  readonly public_key: string;
  /** For admins and owners; null when it cannot be decrypted. */
  readonly secret_key?: string | null;
  /** Whether SDKs of other products may send. */
  readonly other_sdks: boolean;
  readonly ip_policy: 'anonymize' | 'full' | 'drop';
  readonly timezone: string;
}

/** A page that opens or gets the focus reads it again: the key may have been rotated elsewhere. */
export const detailsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['settings', `/api/projects/${projectId}`],
    queryFn: ({ signal }) => getJson<ProjectDetails>(`/api/projects/${projectId}`, signal),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: true,
  });

/** Shows the key of a rotation instead of the one that stopped working. */
export async function showSecretKey(client: QueryClient, details: ProjectDetails): Promise<void> {
  const { queryKey } = detailsQuery(details.id);
  // An answer that is on its way may have the key from before.
  await client.cancelQueries({ queryKey });
  client.setQueryData(queryKey, (known) => known && { ...known, ...details });
}
