// The demo shop of an organization: its state, and the questions that find what is in it.
import { queryOptions } from '@tanstack/react-query';
import type { demo } from '../../../src/demo/answers.js';
import type { JsonOf } from '../../../src/platform/answer-fields.js';
import type { Project } from '../boot.js';
import { getJson } from './request.js';

export type DemoState = JsonOf<typeof demo>;

export const demoPath = ({ organizationId }: Project): string => `/api/orgs/${organizationId}/demo`;

export const demoKey = ({ organizationId }: Project) => ['demo', organizationId] as const;

export const demoQuery = (project: Project) =>
  queryOptions({
    queryKey: demoKey(project),
    queryFn: ({ signal }) => getJson<DemoState>(demoPath(project), signal),
    staleTime: 0,
  });
