// Types and requests of the dashboard routes (/api/projects/{projectID}/dashboards).
import { queryOptions } from '@tanstack/react-query';
import type * as answers from '../../../src/dashboards/answers.js';
import type { JsonOf } from '../../../src/platform/answer-fields.js';
import type { DashboardItem } from '../api/dashboard-list.js';
import { getJson, postJson, putJson, request } from '../api/request.js';
import { isAtLeast, type Project } from '../boot.js';

interface Named {
  readonly label?: string;
  readonly default?: string;
}

interface WithOptions {
  readonly options?: readonly { readonly value: string; readonly label?: string; readonly fragment?: string }[];
}

export type Variable =
  | (Named & WithOptions & { readonly type: 'date_range' })
  | (Named & {
      readonly type: 'input';
      readonly allow_domain?: boolean;
      readonly placeholder?: string;
      readonly required?: boolean;
      readonly submit?: boolean;
    })
  | (Named &
      WithOptions & {
        readonly type: 'select';
        readonly query?: string;
        readonly value_column?: string;
        readonly label_column?: string;
      });

export interface Card {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly viz: string;
  readonly markdown?: string;
  readonly layout?: { readonly w?: number; readonly h?: number };
  readonly options?: Readonly<Record<string, unknown>>;
}

export interface Config {
  readonly title: string;
  readonly refresh?: string;
  readonly timezone?: string;
  readonly variables?: Readonly<Record<string, Variable>>;
  readonly sections: readonly { readonly title: string; readonly cards: readonly Card[] }[];
}

export interface Dashboard extends DashboardItem {
  readonly config: Config;
  readonly source_yaml: string;
}

export type NamedQuery = JsonOf<typeof answers.filledQuery>;
export type FilledCard = JsonOf<typeof answers.filledCard>;
export type VersionItem = JsonOf<typeof answers.dashboardVersionItem>;

const pathOf = (projectId: string, rest = ''): string => `/api/projects/${projectId}/dashboards${rest}`;

export const dashboardQuery = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ['dashboard', projectId, id],
    queryFn: ({ signal }) => getJson<Dashboard>(pathOf(projectId, `/${id}`), signal),
    staleTime: 0,
  });

/** Whether the person may change it in the console. */
export const isEditableBy = ({ role }: Project, { synced_at: syncedAt, visibility }: Dashboard): boolean =>
  syncedAt === null && (visibility === 'personal' || isAtLeast(role, 'admin'));

export const versionsQuery = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ['dashboard-versions', projectId, id],
    queryFn: ({ signal }) => getJson<readonly VersionItem[]>(pathOf(projectId, `/${id}/versions`), signal),
    staleTime: 0,
  });

export const readVersion = (projectId: string, id: string, version: number): Promise<{ source_yaml: string }> =>
  getJson(pathOf(projectId, `/${id}/versions/${version}`));

export type Values = Readonly<Record<string, string>>;

export const filledQuery = (projectId: string, { id, version }: DashboardItem, variables: Values) =>
  queryOptions({
    queryKey: ['filled', projectId, id, version, variables],
    queryFn: ({ signal }) =>
      postJson<readonly FilledCard[]>(pathOf(projectId, `/${id}/queries`), { variables }, signal),
  });

interface Written {
  readonly dashboard: DashboardItem;
  readonly changed: boolean;
}

export interface NewDashboard {
  readonly key: string;
  readonly source_yaml: string;
  readonly visibility?: 'personal' | 'project';
}

export const createDashboard = async (projectId: string, { key, ...body }: NewDashboard): Promise<DashboardItem> =>
  (await postJson<Written>(pathOf(projectId, `?key=${encodeURIComponent(key)}`), body)).dashboard;

export const addCard = async (projectId: string, id: string, card: Omit<Card, 'id'> & { query: string }) =>
  (await postJson<Written>(pathOf(projectId, `/${id}/cards`), card)).dashboard;

interface Change {
  readonly source: string;
  readonly baseVersion: number;
  /** Checks the document and stores nothing. */
  readonly isDryRun: boolean;
}

export function changeDashboard(
  projectId: string,
  id: string,
  { source, baseVersion, isDryRun }: Change,
): Promise<Written> {
  const path = pathOf(projectId, `/${id}?base_version=${baseVersion}&dry_run=${isDryRun}`);
  return putJson(path, { source_yaml: source });
}

export const deleteDashboard = (projectId: string, id: string): Promise<Response> =>
  request(pathOf(projectId, `/${id}`), { method: 'DELETE' });

/** Replacing this piece of the text solves a problem. All numbers count characters, from 1. */
export interface TextFix {
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly text: string;
}

/** A problem of the document at its place. */
export interface Problem {
  readonly message: string;
  readonly hint: string;
  readonly line: number;
  readonly column: number;
  readonly fix?: TextFix;
}

/** A card of a text that is being edited: what of it a form shows. */
export interface DraftCard {
  readonly id: string;
  readonly title?: string;
  readonly kind?: string;
  readonly viz?: string;
  readonly query?: string;
  readonly queries?: readonly CardQuery[];
  readonly markdown?: string;
  readonly layout?: { readonly w?: number; readonly h?: number };
  /** Where it begins in the text. */
  readonly line: number;
  readonly has_queries: boolean;
}

/** One of several queries of a card. */
export interface CardQuery {
  readonly name: string;
  readonly query: string;
}

export interface DraftVariable {
  readonly name: string;
  readonly line: number;
  /** Null when it is not valid. */
  readonly variable: Variable | null;
}

export interface Draft {
  readonly source_yaml: string;
  readonly problems: readonly Problem[];
  readonly sections: readonly { readonly title: string; readonly cards: readonly DraftCard[] }[];
  readonly variables: readonly DraftVariable[];
}

export interface CardChange {
  /** Absent for a new card. */
  readonly id?: string;
  readonly section?: number;
  readonly title: string;
  readonly kind: string;
  readonly viz: string;
  readonly query?: string | null;
  readonly queries?: readonly CardQuery[] | null;
  readonly markdown?: string;
  readonly layout?: Card['layout'] | null;
}

/** Index among the other cards of the section. */
export interface CardMove {
  readonly card: string;
  readonly section: number;
  readonly index: number;
}

export interface VariableChange {
  /** Absent for a new variable. */
  readonly name?: string;
  readonly new_name: string;
  /** Null removes it. */
  readonly variable: Variable | null;
}

/** One change of a text, or several in one step. */
export interface Edit {
  readonly card?: CardChange;
  readonly move?: CardMove;
  /** Without an index it is a new one; a title of null removes it with its cards. */
  readonly section?: { readonly index?: number; readonly title: string | null };
  readonly variable?: VariableChange;
  /** The id of a card. */
  readonly remove?: string;
}

/** Checks a text, and changes it. Nothing is stored. */
export const editDraft = (
  projectId: string,
  id: string,
  { source, ...edit }: Edit & { readonly source: string },
  signal?: AbortSignal,
): Promise<Draft> => postJson(pathOf(projectId, `/${id}/draft`), { source_yaml: source, ...edit }, signal);
