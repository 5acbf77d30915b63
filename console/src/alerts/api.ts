// Types and requests of the routes of alerts (/api/projects/{projectID}/alerts).
import { queryOptions } from '@tanstack/react-query';
import type * as alerts from '../../../src/alerts/answers.js';
import type { JsonOf } from '../../../src/platform/answer-fields.js';
import type * as reports from '../../../src/reports/answers.js';
import { getJson, postJson, sendJson } from '../api/request.js';
import type { NewAlert, NewReport } from './document.js';

export type Alert = JsonOf<typeof alerts.alert>;
export type Check = JsonOf<typeof alerts.alertCheck>;
export type Delivery = Check['deliveries'][number];
export type DryRun = JsonOf<typeof alerts.alertDryRun>;
export type Report = JsonOf<typeof reports.report>;
type ReportRun = JsonOf<typeof reports.reportRun>;
type ReportDryRun = JsonOf<typeof reports.reportDryRun>;

const pathOf = (projectId: string, rest = ''): string => `/api/projects/${projectId}/alerts${rest}`;
const REFRESHED_MS = 15_000;

export const alertsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['alerts', projectId],
    queryFn: ({ signal }) => getJson<readonly Alert[]>(pathOf(projectId), signal),
    staleTime: 0,
    refetchInterval: REFRESHED_MS,
  });

export const checksQuery = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ['alert-checks', projectId, id],
    queryFn: ({ signal }) => getJson<readonly Check[]>(pathOf(projectId, `/${id}/checks`), signal),
    staleTime: 0,
    refetchInterval: REFRESHED_MS,
  });

const reportsPathOf = (projectId: string, rest = ''): string => `/api/projects/${projectId}/reports${rest}`;

export const reportsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['reports', projectId],
    queryFn: ({ signal }) => getJson<readonly Report[]>(reportsPathOf(projectId), signal),
    staleTime: 0,
  });

export const runsQuery = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ['report-runs', projectId, id],
    queryFn: ({ signal }) => getJson<readonly ReportRun[]>(reportsPathOf(projectId, `/${id}/runs`), signal),
    staleTime: 0,
    refetchInterval: REFRESHED_MS,
  });

export const dryRunReport = (projectId: string, id: string): Promise<ReportDryRun> =>
  postJson(reportsPathOf(projectId, `/${id}/dry-run`), {});

export const dryRunAlert = (projectId: string, id: string): Promise<DryRun> =>
  postJson(pathOf(projectId, `/${id}/dry-run`), {});

export const dryRunNew = (projectId: string, { query, when }: NewAlert): Promise<DryRun> =>
  postJson(pathOf(projectId, '/dry-run'), { query, when });

export const addAlert = async (projectId: string, dashboardId: string, alert: NewAlert): Promise<void> => {
  await sendJson('POST', `/api/projects/${projectId}/dashboards/${dashboardId}/alerts`, alert);
};

export const addReport = async (projectId: string, dashboardId: string, report: NewReport): Promise<void> => {
  await sendJson('POST', `/api/projects/${projectId}/dashboards/${dashboardId}/reports`, report);
};
