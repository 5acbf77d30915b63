// Operations of the OpenAPI document: summary, request and responses per route. A route of the matrix without an entry here is a
// type error.
import type { z } from 'zod';
import type { RouteName } from '../../access/route-matrix.js';
import { deletionQuery } from '../../dashboards/schema.js';
import { auditPage } from '../../privacy/schema.js';
import { usageQuery } from '../../usage/range.js';

import { refTo, type SchemaName } from './schemas.js';

/** Schema by media type. */
type Content = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly tag:
    | 'Events'
    | 'Queries'
    | 'Dashboards'
    | 'Organizations'
    | 'Projects'
    | 'Tokens'
    | 'Privacy'
    | 'Pages'
    | 'Operations';
  readonly summary: string;
  readonly body?: unknown;
  readonly query?: z.ZodObject;
  readonly answers: Readonly<Record<number, Content>>;
  /** Statuses in addition to those of the credential, body and path. */
  readonly errors?: readonly number[];
}

const json = (name: SchemaName): Content => ({ 'application/json': refTo(name) });
const jsonList = (name: SchemaName): Content => ({ 'application/json': { type: 'array', items: refTo(name) } });
const text = (...types: string[]): Content => Object.fromEntries(types.map((type) => [type, { type: 'string' }]));
const TEXT = text('text/plain');
const HTML = text('text/html');
const NOTHING: Content = {};

const answerOfQuery = { 'application/json': refTo('QueryAnswer'), ...text('text/plain', 'text/csv') };
const query = {
  tag: 'Queries',
  body: refTo('QueryBody'),
  answers: { 200: answerOfQuery },
  errors: [503, 504],
} as const;
const deletion = { body: refTo('ProjectDeletionBody'), answers: { 200: json('DeletedProject') } };
const usage = { query: usageQuery, answers: { 200: jsonList('UsageDay') }, errors: [400] };

export const OPERATIONS: Readonly<Record<RouteName, Operation>> = {
  'GET /': {
    tag: 'Pages',
    summary: 'Landing page; for signed-in people, their projects',
    answers: { 200: text('text/html', 'text/plain') },
  },
  'GET /login': {
    tag: 'Pages',
    summary: 'Login page',
    answers: { 200: HTML, 302: NOTHING },
    errors: [503],
  },
  'GET /invitations/{token}': {
    tag: 'Pages',
    summary: 'Page of an invitation link',
    answers: { 200: HTML },
  },
  'POST /invitations/{token}': {
    tag: 'Pages',
    summary: 'Accepts the invitation (form post) and redirects to the landing page',
    answers: { 303: NOTHING },
    errors: [404],
  },
  'GET /auth/idp': {
    tag: 'Pages',
    summary: 'Starts sign-in with the identity provider',
    answers: { 302: NOTHING },
    errors: [429, 503],
  },
  'GET /auth/idp/cb': {
    tag: 'Pages',
    summary: 'OAuth callback; sets the session cookie',
    answers: { 302: NOTHING },
    errors: [400, 401, 403, 429, 503],
  },
  'POST /auth/logout': {
    tag: 'Pages',
    summary: 'Ends the session',
    answers: { 200: json('Ok'), 303: NOTHING },
    errors: [403],
  },
  'GET /public/service.js': {
    tag: 'Pages',
    summary: 'Browser script',
    answers: { 200: text('text/javascript'), 304: NOTHING },
  },
  'GET /llms.txt': {
    tag: 'Pages',
    summary: 'Summary of the service and its query language for language models',
    answers: { 200: TEXT },
  },
  'GET /openapi.json': {
    tag: 'Pages',
    summary: 'This document',
    answers: { 200: { 'application/json': { type: 'object' } } },
  },
  'GET /healthz': { tag: 'Operations', summary: 'Liveness probe', answers: { 200: TEXT } },
  'GET /readyz': {
    tag: 'Operations',
    summary: 'Readiness probe: checks the stores',
    answers: { 200: TEXT },
    errors: [503],
  },
  'GET /metrics': { tag: 'Operations', summary: 'Prometheus metrics', answers: { 200: TEXT } },

  'POST /track': {
    tag: 'Events',
    summary: 'Ingests an event or a batch of at most 2000; invalid events are skipped',
    body: { anyOf: [refTo('Batch'), refTo('Event')] },
    answers: { 200: json('Accepted') },
    errors: [503],
  },
  'POST /identify': {
    tag: 'Events',
    summary: 'Maps a device to a user and updates the user profile',
    body: refTo('IdentifyBody'),
    answers: { 200: json('Ok') },
    errors: [503],
  },
  'POST /query': { ...query, summary: 'Runs a query' },
  'POST /api/projects/{projectID}/query': { ...query, summary: 'Runs a query as a signed-in person' },

  'PUT /api/dashboard-sync/{dashboardKey}': {
    tag: 'Dashboards',
    summary: 'Validates a dashboard and stores a new version when it changed; 201 when created',
    body: refTo('SyncBody'),
    answers: { 200: json('SyncedDashboard'), 201: json('SyncedDashboard') },
    errors: [503],
  },
  'DELETE /api/dashboard-sync/{dashboardKey}': {
    tag: 'Dashboards',
    summary: 'Deletes a dashboard with its versions; visibility defaults as in creation',
    query: deletionQuery,
    answers: { 200: json('DeletedDashboard') },
    errors: [400, 503],
  },
  'GET /api/projects/{projectID}/dashboards': {
    tag: 'Dashboards',
    summary: 'Lists the dashboards of the project and the personal dashboards of the caller',
    answers: { 200: jsonList('DashboardItem') },
    errors: [503],
  },
  'GET /api/projects/{projectID}/dashboards/{dashboardID}': {
    tag: 'Dashboards',
    summary: 'Reads a dashboard with its configuration',
    answers: { 200: json('Dashboard') },
    errors: [503],
  },
  'DELETE /api/projects/{projectID}/dashboards/{dashboardID}': {
    tag: 'Dashboards',
    summary: 'Deletes a dashboard with its versions; project dashboards require the role admin',
    answers: { 200: json('DeletedDashboard') },
    errors: [503],
  },
  'POST /api/projects/{projectID}/dashboards/{dashboardID}/cards/{cardID}/queries': {
    tag: 'Dashboards',
    summary: 'Fills the queries of a card with the values of its variables',
    body: refTo('FillBody'),
    answers: { 200: jsonList('FilledQuery') },
    errors: [503],
  },

  'DELETE /api/gdpr/users/{userID}': {
    tag: 'Privacy',
    summary: 'Erases a person; 202 when it is still in progress at the response timeout',
    answers: { 200: json('ErasureReceipt'), 202: json('PendingErasure') },
    errors: [400, 429, 503],
  },
  'GET /api/gdpr/users/{userID}/export': {
    tag: 'Privacy',
    summary: 'Exports the events of a person as NDJSON, oldest first',
    answers: { 200: text('application/x-ndjson') },
    errors: [400, 429, 503],
  },
  'GET /api/gdpr/requests/{requestID}': {
    tag: 'Privacy',
    summary: 'Reads the status of an erasure',
    answers: { 200: json('ErasureRequest') },
    errors: [429, 503],
  },
  'GET /api/gdpr/audit': {
    tag: 'Privacy',
    summary: 'Lists the audit trail of erasures and exports, newest first',
    query: auditPage,
    answers: { 200: jsonList('AuditEntry') },
    errors: [400, 429, 503],
  },

  'GET /api/orgs': {
    tag: 'Organizations',
    summary: 'Lists the organizations of the caller',
    answers: { 200: jsonList('Organization') },
  },
  'POST /api/orgs': {
    tag: 'Organizations',
    summary: 'Creates an organization',
    body: refTo('OrganizationBody'),
    answers: { 201: json('NewOrganization') },
  },
  'GET /api/orgs/{orgID}': {
    tag: 'Organizations',
    summary: 'Reads an organization',
    answers: { 200: json('Organization') },
  },
  'PATCH /api/orgs/{orgID}': {
    tag: 'Organizations',
    summary: 'Renames an organization',
    body: refTo('OrganizationBody'),
    answers: { 200: json('Organization') },
  },
  'POST /api/orgs/{orgID}/rotate-admin-key': {
    tag: 'Organizations',
    summary: 'Rotates the admin key; the old key becomes invalid',
    answers: { 200: json('RotatedAdminKey') },
  },
  'GET /api/orgs/{orgID}/members': {
    tag: 'Organizations',
    summary: 'Lists the members',
    answers: { 200: jsonList('Member') },
  },
  'PATCH /api/orgs/{orgID}/members/{userID}': {
    tag: 'Organizations',
    summary: 'Changes the role of a member',
    body: refTo('MemberBody'),
    answers: { 200: json('Member') },
  },
  'DELETE /api/orgs/{orgID}/members/{userID}': {
    tag: 'Organizations',
    summary: 'Removes a member',
    answers: { 200: json('RemovedMember') },
    errors: [400],
  },
  'GET /api/orgs/{orgID}/invitations': {
    tag: 'Organizations',
    summary: 'Lists the invitations that can still be accepted, newest first',
    answers: { 200: jsonList('OpenInvitation') },
  },
  'DELETE /api/orgs/{orgID}/invitations/{invitationID}': {
    tag: 'Organizations',
    summary: 'Revokes an invitation',
    answers: { 200: json('RevokedInvitation') },
  },
  'POST /api/orgs/{orgID}/invitations': {
    tag: 'Organizations',
    summary: 'Invites a person by e-mail address',
    body: refTo('InvitationBody'),
    answers: { 201: json('Invitation') },
  },
  'POST /api/invitations/{token}/accept': {
    tag: 'Organizations',
    summary: 'Accepts an invitation',
    answers: { 200: json('Organization') },
  },
  'GET /api/orgs/{orgID}/domains': {
    tag: 'Organizations',
    summary: 'Lists the claimed domains',
    answers: { 200: jsonList('Domain') },
  },
  'DELETE /api/orgs/{orgID}/domains/{domainID}': {
    tag: 'Organizations',
    summary: 'Removes a domain; later sign-ins no longer join by it',
    answers: { 200: json('RemovedDomain') },
  },
  'POST /api/orgs/{orgID}/domains': {
    tag: 'Organizations',
    summary: 'Claims a domain',
    body: refTo('DomainBody'),
    answers: { 201: json('Domain') },
  },
  'POST /api/orgs/{orgID}/domains/{domainID}/verify': {
    tag: 'Organizations',
    summary: 'Verifies a domain by its TXT record',
    answers: { 200: json('Domain') },
    errors: [400, 503],
  },

  'GET /api/orgs/{orgID}/projects': {
    tag: 'Projects',
    summary: 'Lists the projects of an organization',
    answers: { 200: jsonList('Project') },
  },
  'POST /api/orgs/{orgID}/projects': {
    tag: 'Projects',
    summary: 'Creates a project',
    body: refTo('ProjectBody'),
    answers: { 201: json('Project') },
  },
  'GET /api/projects/{projectID}': {
    tag: 'Projects',
    summary: 'Reads a project with the role and capabilities of the caller',
    answers: { 200: json('Project') },
  },
  'PATCH /api/projects/{projectID}': {
    tag: 'Projects',
    summary: 'Updates a project',
    body: refTo('ProjectChanges'),
    answers: { 200: json('Project') },
  },
  'DELETE /api/projects/{projectID}': { tag: 'Projects', summary: 'Deletes a project and all its data', ...deletion },
  'POST /api/projects/{projectID}/rotate-secret-key': {
    tag: 'Projects',
    summary: 'Rotates the secret key; the old key becomes invalid',
    answers: { 200: json('Project') },
  },
  'GET /api/projects/{projectID}/usage': { tag: 'Projects', summary: 'Usage by day', ...usage },
  'GET /api/projects/{projectID}/rejected': {
    tag: 'Projects',
    summary: 'Lists rejected events: counts of the last 30 days by reason, and the newest 20 samples',
    answers: { 200: json('Rejected') },
    errors: [503],
  },

  'POST /api/projects/{projectID}/tokens': {
    tag: 'Tokens',
    summary: 'Creates an access token',
    body: refTo('TokenBody'),
    answers: { 201: json('NewToken') },
  },
  'GET /api/projects/{projectID}/tokens': {
    tag: 'Tokens',
    summary: 'Lists the tokens of a project; members see their own',
    answers: { 200: jsonList('Token') },
  },
  'DELETE /api/projects/{projectID}/tokens/{tokenID}': {
    tag: 'Tokens',
    summary: 'Revokes a token',
    answers: { 200: json('Token') },
  },
  'GET /api/me/tokens': {
    tag: 'Tokens',
    summary: 'Lists the personal tokens of the caller',
    answers: { 200: jsonList('Token') },
  },
  'DELETE /api/me/tokens/{tokenID}': {
    tag: 'Tokens',
    summary: 'Revokes a personal token of the caller',
    answers: { 200: json('Token') },
  },

  'GET /api/admin/projects': {
    tag: 'Projects',
    summary: 'Lists the projects of the organization',
    answers: { 200: jsonList('Project') },
    errors: [503],
  },
  'POST /api/admin/projects': {
    tag: 'Projects',
    summary: 'Creates a project',
    body: refTo('ProjectBody'),
    answers: { 201: json('Project') },
    errors: [503],
  },
  'GET /api/admin/projects/{projectID}': {
    tag: 'Projects',
    summary: 'Reads a project with its keys',
    answers: { 200: json('Project') },
    errors: [503],
  },
  'DELETE /api/admin/projects/{projectID}': {
    tag: 'Projects',
    summary: 'Deletes a project and all its data',
    ...deletion,
    errors: [503],
  },
  'POST /api/admin/projects/{projectID}/rotate-secret-key': {
    tag: 'Projects',
    summary: 'Rotates the secret key; the old key becomes invalid',
    answers: { 200: json('Project') },
    errors: [503],
  },
  'GET /api/admin/projects/{projectID}/usage': {
    tag: 'Projects',
    summary: 'Usage by day',
    ...usage,
    errors: [400, 503],
  },
};
