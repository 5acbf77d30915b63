// The demo shop of an organization: its state, and the questions that find what is in it.
import { queryOptions } from '@tanstack/react-query';
import type { Project } from '../boot.js';
import { getJson } from './request.js';

export interface DemoState {
  readonly status: 'none' | 'waiting' | 'loading' | 'ready' | 'failed';
  readonly project_id: string | null;
  readonly events: number;
  readonly share: number;
  readonly error: string | null;
  readonly questions: readonly { readonly question: string; readonly q: string }[];
}

export const demoPath = ({ organizationId }: Project): string => `/api/orgs/${organizationId}/demo`;

export const demoKey = ({ organizationId }: Project) => ['demo', organizationId] as const;

export const demoQuery = (project: Project) =>
  queryOptions({
    queryKey: demoKey(project),
    queryFn: ({ signal }) => getJson<DemoState>(demoPath(project), signal),
    staleTime: 0,
  });
