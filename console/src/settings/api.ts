// Types and requests of the management routes that the settings use: project, keys, tokens,
// members, usage, audit trail.
import { queryOptions } from '@tanstack/react-query';
import type * as accounts from '../../../src/accounts/answers.js';
import type { delivery } from '../../../src/operate/answers.js';
import type { JsonOf } from '../../../src/platform/answer-fields.js';
import type { auditEntry } from '../../../src/privacy/answers.js';
import type { usageDay } from '../../../src/usage/answers.js';
import type { ProjectDetails } from '../api/project-details.js';
import { getJson, sendJson } from '../api/request.js';
import type { Project } from '../boot.js';

export type Token = JsonOf<typeof accounts.token>;
export type Member = JsonOf<typeof accounts.member>;
export type Invitation = JsonOf<typeof accounts.openInvitation>;
export type Domain = JsonOf<typeof accounts.domain>;
export type UsageDay = JsonOf<typeof usageDay>;

export type AuditEntry = JsonOf<typeof auditEntry>;
export type Delivery = JsonOf<typeof delivery>;
export type FailedJob = Delivery['failed'][number];
type Installation = NonNullable<Delivery['installation']>;
export type QueueState = Installation['queues'][number];
export type Finding = Installation['checks'][number];

/** Reads again whenever a part of the settings is opened. */
const read = <T>(path: string) =>
  queryOptions({
    queryKey: ['settings', path],
    queryFn: ({ signal }) => getJson<T>(path, signal),
    staleTime: 0,
    gcTime: 0,
  });

const pathOf = ({ id }: Project, rest = ''): string => `/api/projects/${id}${rest}`;
const orgPathOf = ({ organizationId }: Project, rest: string): string => `/api/orgs/${organizationId}${rest}`;

export const tokensQuery = (project: Project) => read<readonly Token[]>(pathOf(project, '/tokens'));
export const membersQuery = (project: Project) => read<readonly Member[]>(orgPathOf(project, '/members'));
export const invitationsQuery = (project: Project) => read<readonly Invitation[]>(orgPathOf(project, '/invitations'));
export const domainsQuery = (project: Project) => read<readonly Domain[]>(orgPathOf(project, '/domains'));
export const deliveryQuery = (project: Project) => read<Delivery>(pathOf(project, '/delivery'));
export const usageQuery = (project: Project, from: string, to: string) =>
  read<readonly UsageDay[]>(pathOf(project, `/usage?from=${from}&to=${to}`));
/** Entries of a page. */
export const AUDIT_PAGE = 50;
export const auditQuery = (project: Project, before: string | undefined) =>
  read<readonly AuditEntry[]>(
    pathOf(project, `/audit?limit=${AUDIT_PAGE}${before === undefined ? '' : `&before=${before}`}`),
  );

const write = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
  (await sendJson(method, path, body)).json();

export const changeProject = (project: Project, changes: Partial<ProjectDetails>): Promise<ProjectDetails> =>
  write('PATCH', pathOf(project), changes);

export const rotateSecretKey = (project: Project): Promise<ProjectDetails> =>
  write('POST', pathOf(project, '/rotate-secret-key'));

export const deleteProject = (project: Project, name: string): Promise<unknown> =>
  write('DELETE', pathOf(project), { project_name: name, project_name_confirm: name });

export const leaveOrganization = ({ organizationId, organizationName: name }: Project): Promise<unknown> =>
  write('DELETE', `/api/me/orgs/${organizationId}`, { organization_name: name });

export const deleteOrganization = (project: Project): Promise<unknown> => {
  const { organizationName: name } = project;
  return write('DELETE', orgPathOf(project, ''), { organization_name: name, organization_name_confirm: name });
};

export const deleteAccount = (confirm: string): Promise<unknown> => write('DELETE', '/api/me', { confirm });

interface NewToken {
  readonly name: string;
  readonly kind: string;
  readonly scopes: readonly string[];
  readonly expires_in: string;
}

export const createToken = (project: Project, token: NewToken): Promise<JsonOf<typeof accounts.newToken>> =>
  write('POST', pathOf(project, '/tokens'), token);

export const revokeToken = (project: Project, id: string): Promise<unknown> =>
  write('DELETE', pathOf(project, `/tokens/${id}`));

export const changeRole = (project: Project, userId: string, role: string): Promise<Member> =>
  write('PATCH', orgPathOf(project, `/members/${userId}`), { role });

export const removeMember = (project: Project, userId: string): Promise<unknown> =>
  write('DELETE', orgPathOf(project, `/members/${userId}`));

export const invite = (
  project: Project,
  invitation: { readonly email: string; readonly role: string },
): Promise<JsonOf<typeof accounts.invitation>> => write('POST', orgPathOf(project, '/invitations'), invitation);

export const revokeInvitation = (project: Project, id: string): Promise<unknown> =>
  write('DELETE', orgPathOf(project, `/invitations/${id}`));

export const claimDomain = (project: Project, domain: string): Promise<Domain> =>
  write('POST', orgPathOf(project, '/domains'), { domain });

export const verifyDomain = (project: Project, id: string): Promise<Domain> =>
  write('POST', orgPathOf(project, `/domains/${id}/verify`));

export const removeDomain = (project: Project, id: string): Promise<unknown> =>
  write('DELETE', orgPathOf(project, `/domains/${id}`));

export const decideJob = (
  project: Project,
  action: 'replay' | 'discard',
  { queue, id }: Pick<FailedJob, 'queue' | 'id'>,
): Promise<unknown> => write('POST', pathOf(project, `/delivery/${action}`), { queue, id });
