// The dashboards of a project that a person may see. Apart from the other requests of dashboards,
// because every screen loads it with the palette.
import { queryOptions } from '@tanstack/react-query';
import type { dashboardItem } from '../../../src/dashboards/answers.js';
import type { JsonOf } from '../../../src/platform/answer-fields.js';
import { getJson } from './request.js';

export type DashboardItem = JsonOf<typeof dashboardItem>;

export const listQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['dashboards', projectId],
    queryFn: ({ signal }) => getJson<readonly DashboardItem[]>(`/api/projects/${projectId}/dashboards`, signal),
    staleTime: 0,
  });
