// Hook for screens that show several answers: runs a query, paced (paced.ts), and caches its answer
// for a minute.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Project } from '../boot.js';
import type { Answer } from './answer.js';
import { paced } from './paced.js';
import { query } from './query.js';
import type { RequestFailed } from './request.js';

const LIMIT = 1000;
/** After a minute, opening the screen asks again. */
const FRESH_MS = 60_000;

/** `q` undefined asks nothing. Times are in the zone of the project. */
export const useProjectAnswer = (project: Project, q: string | undefined, limit = LIMIT) =>
  useQuery<Answer, RequestFailed>({
    queryKey: ['project-answer', project.id, project.timezone, q, limit],
    queryFn: ({ signal }) =>
      paced(() => query({ projectId: project.id, q: q ?? '', timezone: project.timezone, limit }, signal), signal),
    enabled: q !== undefined,
    placeholderData: keepPreviousData,
    networkMode: 'always',
    staleTime: FRESH_MS,
  });
