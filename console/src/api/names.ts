// Names of a project's events, properties and values, for completion and for the questions in
// words: its catalog, kept for a minute.
import { queryOptions } from '@tanstack/react-query';
import type { Definition } from '../../../src/query/definitions/definitions.js';
import type { Names } from './answer.js';
import { getJson } from './request.js';

interface Property {
  readonly field: string;
  readonly types: readonly string[];
}

interface Catalog {
  readonly events: readonly { readonly event_type: string; readonly count: number }[];
  readonly properties: readonly Property[];
  readonly profile: readonly Property[];
  readonly values: readonly { readonly field: string; readonly values: readonly string[] }[];
  readonly definitions: Readonly<Record<'events' | 'cohorts' | 'metrics', readonly Omit<Definition, 'kind'>[]>>;
}

export const namesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['names', projectId],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<Names> => {
      const { events, properties, profile, values, definitions } = await getJson<Catalog>(
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
