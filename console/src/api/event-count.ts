// How many events a project has received lately: none at all means that it is new.
import { queryOptions } from '@tanstack/react-query';
import { query } from './query.js';

const QUESTION = '* | last 30d | count';

export const eventCountQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['event-count', projectId],
    queryFn: async ({ signal }) =>
      Number((await query({ projectId, q: QUESTION, timezone: 'UTC' }, signal)).rows[0]?.count ?? 0),
    staleTime: 0,
    gcTime: 0,
  });
