// What every route does, takes and answers: the half of the OpenAPI document that the route table does not know. A route of the
// table without a line here does not compile.
import type { z } from 'zod';
import type { RouteName } from '../../access/route-matrix.js';
import { deletionQuery } from '../../dashboards/schema.js';
import { auditPage } from '../../privacy/schema.js';
import { usageQuery } from '../../usage/range.js';

import { refTo, type SchemaName } from './schemas.js';

/** A schema by the media type that it is sent as. */
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
  /** Statuses besides those that come with the credential, the body and the path. */
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
    summary: 'The landing page; for people who are signed in, what is theirs',
    answers: { 200: text('text/html', 'text/plain') },
  },
  'GET /login': {
    tag: 'Pages',
    summary: 'The login page',
    answers: { 200: HTML, 302: NOTHING },
    errors: [503],
  },
  'GET /invitations/{token}': {
    tag: 'Pages',
    summary: 'Where the link of an invitation leads: a page with a button',
    answers: { 200: HTML },
  },
  'POST /invitations/{token}': {
    tag: 'Pages',
    summary: 'The button of that page: accepts the invitation and leads to the landing page',
    answers: { 303: NOTHING },
    errors: [404],
  },
  'GET /auth/idp': {
    tag: 'Pages',
    summary: 'Begins to sign in with the identity provider',
    answers: { 302: NOTHING },
    errors: [429, 503],
  },
  'GET /auth/idp/cb': {
    tag: 'Pages',
    summary: 'Where the identity provider sends people back; sets the session cookie',
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
    summary: 'The browser script',
    answers: { 200: text('text/javascript'), 304: NOTHING },
  },
  'GET /llms.txt': {
    tag: 'Pages',
    summary: 'The service and its query language, for language models',
    answers: { 200: TEXT },
  },
  'GET /openapi.json': {
    tag: 'Pages',
    summary: 'This document',
    answers: { 200: { 'application/json': { type: 'object' } } },
  },
  'GET /healthz': { tag: 'Operations', summary: 'Is the process alive?', answers: { 200: TEXT } },
  'GET /readyz': { tag: 'Operations', summary: 'Can it reach its stores?', answers: { 200: TEXT }, errors: [503] },
  'GET /metrics': { tag: 'Operations', summary: 'Metrics for Prometheus', answers: { 200: TEXT } },

  'POST /track': {
    tag: 'Events',
    summary: 'Takes an event, or a batch of at most 2000. Events that are not valid are skipped.',
    body: { anyOf: [refTo('Batch'), refTo('Event')] },
    answers: { 200: json('Accepted') },
    errors: [503],
  },
  'POST /identify': {
    tag: 'Events',
    summary: 'Says whose a device is, and what is known about a user',
    body: refTo('IdentifyBody'),
    answers: { 200: json('Ok') },
    errors: [503],
  },
  'POST /query': { ...query, summary: 'Answers a query' },
  'POST /api/projects/{projectID}/query': { ...query, summary: 'Answers a query of a person who is signed in' },

  'PUT /api/dashboard-sync/{dashboardKey}': {
    tag: 'Dashboards',
    summary: 'Checks a dashboard and stores a version of it when it has changed; 201 when it is new',
    body: refTo('SyncBody'),
    answers: { 200: json('SyncedDashboard'), 201: json('SyncedDashboard') },
    errors: [503],
  },
  'DELETE /api/dashboard-sync/{dashboardKey}': {
    tag: 'Dashboards',
    summary: 'Deletes a dashboard with its versions; without visibility, the one that the credential would create',
    query: deletionQuery,
    answers: { 200: json('DeletedDashboard') },
    errors: [400, 503],
  },
  'GET /api/projects/{projectID}/dashboards': {
    tag: 'Dashboards',
    summary: 'The dashboards of the project, and the own ones',
    answers: { 200: jsonList('DashboardItem') },
    errors: [503],
  },
  'GET /api/projects/{projectID}/dashboards/{dashboardID}': {
    tag: 'Dashboards',
    summary: 'One dashboard with its configuration',
    answers: { 200: json('Dashboard') },
    errors: [503],
  },
  'DELETE /api/projects/{projectID}/dashboards/{dashboardID}': {
    tag: 'Dashboards',
    summary: 'Deletes a dashboard with its versions; one of the project takes the role admin',
    answers: { 200: json('DeletedDashboard') },
    errors: [503],
  },
  'POST /api/projects/{projectID}/dashboards/{dashboardID}/cards/{cardID}/queries': {
    tag: 'Dashboards',
    summary: 'The queries of a card with what a viewer chose, each ready to be asked',
    body: refTo('FillBody'),
    answers: { 200: jsonList('FilledQuery') },
    errors: [503],
  },

  'DELETE /api/gdpr/users/{userID}': {
    tag: 'Privacy',
    summary: 'Erases a person; 202 when it takes longer than a request should',
    answers: { 200: json('ErasureReceipt'), 202: json('PendingErasure') },
    errors: [400, 503],
  },
  'GET /api/gdpr/users/{userID}/export': {
    tag: 'Privacy',
    summary: 'Every event of a person, oldest first, one JSON object a line',
    answers: { 200: text('application/x-ndjson') },
    errors: [400, 429, 503],
  },
  'GET /api/gdpr/requests/{requestID}': {
    tag: 'Privacy',
    summary: 'What became of an erasure',
    answers: { 200: json('ErasureRequest') },
    errors: [503],
  },
  'GET /api/gdpr/audit': {
    tag: 'Privacy',
    summary: 'Who erased and exported whom, newest first',
    query: auditPage,
    answers: { 200: jsonList('AuditEntry') },
    errors: [400, 503],
  },

  'GET /api/orgs': {
    tag: 'Organizations',
    summary: 'The own organizations',
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
    summary: 'One organization',
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
    summary: 'A new admin key; the old one ends',
    answers: { 200: json('RotatedAdminKey') },
  },
  'GET /api/orgs/{orgID}/members': {
    tag: 'Organizations',
    summary: 'The members',
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
    summary: 'Invites someone',
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
    summary: 'Removes a domain: it admits no one from the next sign-in on',
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
    summary: 'Looks for the TXT record of a domain',
    answers: { 200: json('Domain') },
    errors: [400, 503],
  },

  'GET /api/orgs/{orgID}/projects': {
    tag: 'Projects',
    summary: 'The projects of an organization',
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
    summary: 'One project, with what one may do',
    answers: { 200: json('Project') },
  },
  'PATCH /api/projects/{projectID}': {
    tag: 'Projects',
    summary: 'Changes a project',
    body: refTo('ProjectChanges'),
    answers: { 200: json('Project') },
  },
  'DELETE /api/projects/{projectID}': { tag: 'Projects', summary: 'Deletes a project and all its data', ...deletion },
  'POST /api/projects/{projectID}/rotate-secret-key': {
    tag: 'Projects',
    summary: 'A new secret key; the old one ends',
    answers: { 200: json('Project') },
  },
  'GET /api/projects/{projectID}/usage': { tag: 'Projects', summary: 'Usage by day', ...usage },
  'GET /api/projects/{projectID}/rejected': {
    tag: 'Projects',
    summary: 'Events that were not taken: counts of the last 30 days by reason, and the newest 20 as samples',
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
    summary: 'The tokens of a project; of members, their own',
    answers: { 200: jsonList('Token') },
  },
  'DELETE /api/projects/{projectID}/tokens/{tokenID}': {
    tag: 'Tokens',
    summary: 'Revokes a token',
    answers: { 200: json('Token') },
  },
  'GET /api/me/tokens': { tag: 'Tokens', summary: 'The own personal tokens', answers: { 200: jsonList('Token') } },
  'DELETE /api/me/tokens/{tokenID}': {
    tag: 'Tokens',
    summary: 'Revokes an own personal token',
    answers: { 200: json('Token') },
  },

  'GET /api/admin/projects': {
    tag: 'Projects',
    summary: 'The projects of the organization',
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
    summary: 'One project with its keys',
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
    summary: 'A new secret key; the old one ends',
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
