// Names of a project's events and fields, for completion and for the questions in words: answers of the queries that list them,
// kept for five minutes.
import { queryOptions } from '@tanstack/react-query';
import type { Names } from './answer.js';
import { query } from './query.js';

const EVENTS = '* | last 30d | count by event_type | top 500';
const FIELDS = 'fields | last 30d | limit 1000';

export const namesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['names', projectId],
    staleTime: 5 * 60_000,
    queryFn: async ({ signal }): Promise<Names> => {
      const ask = (q: string) => query({ projectId, q, timezone: 'UTC', limit: 1000 }, signal);
      const [events, fields] = await Promise.all([ask(EVENTS), ask(FIELDS)]);
      return {
        events: events.rows.map(({ event_type, count }) => ({
          name: String(event_type),
          detail: Number(count).toLocaleString('en'),
        })),
        fields: fields.rows.map(({ field, type }) => ({ name: String(field), detail: String(type) })),
      };
    },
  });
