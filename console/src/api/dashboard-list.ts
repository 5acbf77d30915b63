// The dashboards of a project that a person may see. Apart from the other requests of dashboards,
// because every screen loads it with the palette.
import { queryOptions } from '@tanstack/react-query';
import { getJson } from './request.js';

export interface DashboardItem {
  readonly id: string;
  readonly key: string;
  readonly title: string;
  readonly visibility: 'personal' | 'project';
  readonly version: number;
  readonly updated_at: string;
  /** Set for a dashboard that a repository syncs: it is not edited here. */
  readonly synced_at: string | null;
}

export const listQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['dashboards', projectId],
    queryFn: ({ signal }) => getJson<readonly DashboardItem[]>(`/api/projects/${projectId}/dashboards`, signal),
    staleTime: 0,
  });
