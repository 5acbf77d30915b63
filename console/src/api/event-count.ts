// How many events a project has received lately, and whether it has any: without, it is new.
import { queryOptions } from '@tanstack/react-query';
import { query } from './query.js';

const LATELY = '* | last 30d | count';
/** All that an import may have brought. */
const EVER = '* | from 1970-01-02 to 2100-01-01 | count';

const count = async (projectId: string, q: string, signal: AbortSignal): Promise<number> =>
  Number((await query({ projectId, q, timezone: 'UTC' }, signal)).rows[0]?.count ?? 0);

export const eventCountQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['event-count', projectId],
    queryFn: ({ signal }) => count(projectId, LATELY, signal),
    staleTime: 0,
    gcTime: 0,
  });

const hasEvents = async (projectId: string, signal: AbortSignal): Promise<boolean> =>
  (await count(projectId, LATELY, signal)) > 0 || (await count(projectId, EVER, signal)) > 0;

export const hasEventsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['has-events', projectId],
    queryFn: ({ signal }) => hasEvents(projectId, signal),
    staleTime: 0,
    gcTime: 0,
  });

/** Each is a request or two. */
const SEARCHED_MAX = 10;

/** The first of the projects that has events, or null. */
export const newestWithEventsQuery = (newestFirst: readonly string[]) =>
  queryOptions({
    queryKey: ['newest-with-events', newestFirst],
    queryFn: async ({ signal }) => {
      for (const id of newestFirst.slice(0, SEARCHED_MAX)) if (await hasEvents(id, signal)) return id;
      return null;
    },
    staleTime: 0,
    gcTime: 0,
  });
