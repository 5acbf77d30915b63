// Names of a project's events, properties and values, for completion and for the questions in
// words: its catalog, kept for a minute.
import { queryOptions } from '@tanstack/react-query';
import type { catalog } from '../../../src/catalog/answers.js';
import type { JsonOf } from '../../../src/platform/answer-fields.js';
import type { Names } from './answer.js';
import { getJson } from './request.js';

export const namesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['names', projectId],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<Names> => {
      const { events, properties, profile, values, definitions } = await getJson<JsonOf<typeof catalog>>(
        `/api/projects/${projectId}/catalog`,
        signal,
      );
      return {
        events: events.map(({ event_type, count }) => ({ name: event_type, detail: count.toLocaleString('en') })),
        fields: [...properties, ...profile].map(({ field, types }) => ({ name: field, detail: types.join(', ') })),
        values: new Map(values.map((of) => [of.field, of.values])),
        definitions: [
          ...definitions.events.map((of) => ({ kind: 'event' as const, ...of })),
          ...definitions.cohorts.map((of) => ({ kind: 'cohort' as const, ...of })),
          ...definitions.metrics.map((of) => ({ kind: 'metric' as const, ...of })),
        ],
      };
    },
  });
