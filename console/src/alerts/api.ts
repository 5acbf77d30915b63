// Types and requests of the routes of alerts (/api/projects/{projectID}/alerts).
import { queryOptions } from '@tanstack/react-query';
import { getJson, postJson, sendJson } from '../api/request.js';
import type { NewAlert, NewReport } from './document.js';

export type AlertState = 'ok' | 'firing' | 'failing';
export type Outcome = 'ok' | 'firing' | 'failed';

export interface Checked {
  readonly outcome: Outcome;
  readonly value: number | null;
  /** Why the check failed. */
  readonly error: string | null;
}

export interface Alert {
  readonly id: string;
  /** The id in the document. */
  readonly key: string;
  /** Null for an alert of the definitions. */
  readonly dashboard: { readonly id: string; readonly key: string; readonly title: string } | null;
  readonly written_in: 'dashboard' | 'definitions';
  readonly query: string;
  readonly when: string;
  readonly every_seconds: number;
  readonly to: readonly string[];
  readonly timezone: string;
  readonly state: AlertState;
  /** Null when the state has not changed. */
  readonly changed_at: string | null;
  readonly checked_at: string | null;
  readonly next_due_at: string;
  readonly last_check: Checked | null;
}

export interface Delivery {
  readonly to: string;
  readonly status: 'waiting' | 'sent' | 'failed';
  readonly attempts: number;
  readonly error: string | null;
  readonly ended_at: string | null;
}

export interface Check extends Checked {
  readonly at: string;
  readonly state: AlertState;
  /** Empty unless the check changed the state. */
  readonly deliveries: readonly Delivery[];
}

export interface DryRun extends Checked {
  /** What would be sent; null when the state would not change. */
  readonly text: string | null;
}

export interface Report {
  readonly id: string;
  /** The id in the document. */
  readonly key: string;
  readonly dashboard: Alert['dashboard'];
  readonly written_in: Alert['written_in'];
  /** Such as `monday 08:00`. */
  readonly at: string;
  readonly timezone: string;
  readonly to: readonly string[];
  readonly last_run_at: string | null;
  readonly next_due_at: string;
}

export interface ReportRun {
  readonly at: string;
  /** Why no card could be answered. */
  readonly error: string | null;
  readonly deliveries: readonly Delivery[];
}

export interface ReportDryRun {
  readonly subject: string;
  readonly text: string;
}

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
