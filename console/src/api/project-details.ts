// The project as its settings and its start page show it: one query, so that both show the same
// keys.
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import type { project } from '../../../src/accounts/answers.js';
import type { JsonOf } from '../../../src/platform/answer-fields.js';
import { getJson } from './request.js';

export type ProjectDetails = JsonOf<typeof project>;

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
