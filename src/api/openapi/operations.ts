// Operations of the OpenAPI document: summary, request and responses per route. A route of the
// matrix without an entry here is a type error.
import type { RouteName } from '../../access/route-matrix.js';
import { changeQuery, creationQuery, deletionQuery, syncQuery } from '../../dashboards/schema.js';
import { uploadQuery } from '../../imports/upload/routes.js';
import { PROTOCOL_PATHS } from '../../ingest/protocols/paths.js';
import { trackQuery } from '../../ingest/wait-until-counted.js';
import { liveQuery } from '../../live/routes.js';
import { auditPage, exportRange } from '../../privacy/schema.js';
import { usageQuery } from '../../usage/range.js';
import { ALERT_OPERATIONS } from './alert-operations.js';
import { DEFINITION_OPERATIONS } from './definition-operations.js';
import { OAUTH_OPERATIONS } from './oauth-operations.js';
import { type Content, json, jsonList, type Operation, type Row, tagged, text } from './operation.js';
import { ORGANIZATION_OPERATIONS } from './organization-operations.js';
import { refTo } from './schemas.js';

const TEXT = text('text/plain');
const HTML = text('text/html');
const NOTHING: Content = {};
const NDJSON = { 200: text('application/x-ndjson') };
const CONSOLE = { 200: HTML, 302: NOTHING };
/** Of pages that read the session, and of features that may be off. */
const UNAVAILABLE = { errors: [503] } as const;
const BUSY = { errors: [429, 503] } as const;

const QUERY_ANSWER = {
  'application/json': { anyOf: [refTo('QueryAnswer'), refTo('QueryExplanation')] },
  ...text('text/plain', 'text/csv'),
};

const BYTES = { type: 'string', contentMediaType: 'application/octet-stream' };

/** A JSON-RPC message, or an error of this API. */
const JSON_RPC: Content = { 'application/json': { type: 'object' } };
const AGENT_ANSWER: Content = { ...JSON_RPC, ...text('text/event-stream') };

/** There is no flag, so its payload is null. */
const protocolAnswerOf = (path: string) => ({ type: path.endsWith('/remote_config') ? 'null' : 'object' });

/** Bodies and answers are those of the other products; docs/sdks-of-others.md says what is read. */
const PROTOCOL_OPERATIONS = tagged(
  'Events',
  Object.fromEntries(
    PROTOCOL_PATHS.map(({ method, path, about }): [string, Row] => [
      `${method} ${path}`,
      [
        about,
        { 200: path.endsWith('.js') ? text('text/javascript') : { 'application/json': protocolAnswerOf(path) } },
        { errors: method === 'POST' ? [400, 413, 503] : [503] },
      ],
    ]),
  ) as Record<
    `${(typeof PROTOCOL_PATHS)[number]['method']} ${(typeof PROTOCOL_PATHS)[number]['path']}` & RouteName,
    Row
  >,
);

export const OPERATIONS: Readonly<Record<RouteName, Operation>> = {
  ...tagged('Pages', {
    'GET /': ['Landing page; for signed-in people, the console', { 200: text('text/html', 'text/plain') }, BUSY],
    'GET /start': ['Console: sends a first event; redirects to the login page without a session', CONSOLE, BUSY],
    'GET /projects/{projectID}': ['Console: opens a project; redirects as /start does', CONSOLE, BUSY],
    'GET /projects/{projectID}/{screen}': [
      'Console: opens a screen of a project; redirects as /start does',
      CONSOLE,
      BUSY,
    ],
    'GET /projects/{projectID}/{screen}/{item}': [
      'Console: opens a part of a screen; redirects as /start does',
      CONSOLE,
      BUSY,
    ],
    'GET /login': ['Login page', { 200: HTML, 302: NOTHING }, UNAVAILABLE],
    'GET /invitations/{token}': ['Page of an invitation link', { 200: HTML }, UNAVAILABLE],
    'POST /invitations/{token}': [
      'Accepts the invitation (form post) and redirects to the landing page',
      { 303: NOTHING },
    ],
    'GET /sign-in/{token}': ['Page of a one-time link for signing in', { 200: HTML }, UNAVAILABLE],
    'POST /sign-in/{token}': [
      'Signs in with a one-time link (form post) and redirects to the landing page',
      { 303: NOTHING },
      { errors: [403, 503] },
    ],
    'GET /auth/idp': ['Starts sign-in with the identity provider', { 302: NOTHING }, BUSY],
    'GET /auth/idp/cb': [
      'OAuth callback; sets the session cookie',
      { 302: NOTHING },
      { errors: [400, 401, 403, 429, 503] },
    ],
    'POST /auth/logout': ['Ends the session', { 200: json('Ok'), 303: NOTHING }, { errors: [403, 503] }],
    'GET /public/service.js': ['Browser script', { 200: text('text/javascript'), 304: NOTHING }],
    'GET /llms.txt': ['Summary of the service and its query language for language models', { 200: TEXT }],
    'GET /openapi.json': ['This document', { 200: { 'application/json': { type: 'object' } } }],
  }),
  ...tagged('Operations', {
    'GET /healthz': ['Liveness probe', { 200: TEXT }],
    'GET /readyz': ['Readiness probe: checks the stores', { 200: TEXT }, UNAVAILABLE],
    'GET /metrics': ['Prometheus metrics', { 200: TEXT }],
  }),
  ...tagged('Events', {
    'POST /track': [
      'Ingests an event or a batch of at most 2000; invalid events are skipped',
      { 200: json('Accepted') },
      { body: { anyOf: [refTo('Batch'), refTo('Event')] }, query: trackQuery },
    ],
    'POST /identify': [
      'Maps a device to a user and updates the user profile',
      { 200: json('Ok') },
      { body: refTo('IdentifyBody') },
    ],
    'POST /identify/batch': [
      'Imports links and properties with the times of their records; newer live ones win',
      { 200: json('IdentifiedBatch') },
      { body: refTo('IdentifyBatch') },
    ],
  }),
  ...OAUTH_OPERATIONS,
  ...PROTOCOL_OPERATIONS,
  ...tagged('Queries', {
    'POST /query': ['Runs a query', { 200: QUERY_ANSWER }, { body: refTo('QueryBody'), errors: [504] }],
    'POST /api/projects/{projectID}/query': [
      'Runs a query as a signed-in person',
      { 200: QUERY_ANSWER },
      { body: refTo('QueryBody'), errors: [504] },
    ],
    'GET /catalog': ['Event types, property keys and frequent values of the project', { 200: json('Catalog') }],
    'GET /api/projects/{projectID}/catalog': ['The catalog, for a signed-in person', { 200: json('Catalog') }],
    'POST /mcp': [
      'Model Context Protocol for agents: one JSON-RPC message (docs/agents.md); no sessions, no other methods',
      { 200: AGENT_ANSWER, 202: NOTHING, 400: JSON_RPC, 404: JSON_RPC },
      { body: { type: 'object' } },
    ],
  }),
  ...tagged('Events', {
    'POST /api/projects/{projectID}/imports': [
      'Imports files of another product, or tries them: a line of JSON with the names and sizes of the files, `[{"name":…,"bytes":…}]`, then their bytes. Answers lines of JSON: progress, and at the end a summary or an error',
      NDJSON,
      { body: BYTES, bodyType: 'application/octet-stream', query: uploadQuery },
    ],
    'GET /api/projects/{projectID}/live': [
      'The newest events and rejected ones, as server-sent events: events, gap (more may have come), rejected, problem',
      { 200: text('text/event-stream') },
      { query: liveQuery, errors: [400] },
    ],
  }),
  ...tagged('Dashboards', {
    'PUT /api/dashboard-sync/{dashboardKey}': [
      'Validates a dashboard and stores a new version when it changed; 201 when created. With dry_run stores nothing',
      { 200: json('TriedDashboard'), 201: json('SyncedDashboard') },
      { body: refTo('SyncBody'), query: syncQuery },
    ],
    'DELETE /api/dashboard-sync/{dashboardKey}': [
      'Deletes a dashboard with its versions; visibility defaults as in creation',
      { 200: json('DeletedDashboard') },
      { query: deletionQuery, errors: [400] },
    ],
    'GET /api/projects/{projectID}/dashboards': [
      'Lists the dashboards of the project and the personal dashboards of the caller',
      { 200: jsonList('DashboardItem') },
    ],
    'GET /api/projects/{projectID}/dashboards/{dashboardID}': [
      'Reads a dashboard with its configuration',
      { 200: json('Dashboard') },
    ],
    'POST /api/projects/{projectID}/dashboards': [
      'Creates a dashboard as a signed-in person, personal unless the body says otherwise',
      { 201: json('SyncedDashboard') },
      { body: refTo('SyncBody'), query: creationQuery },
    ],
    'PUT /api/projects/{projectID}/dashboards/{dashboardID}': [
      'Changes a dashboard that no repository syncs; with dry_run only checks the document',
      { 200: json('SyncedDashboard') },
      { body: refTo('SyncBody'), query: changeQuery },
    ],
    'POST /api/projects/{projectID}/dashboards/{dashboardID}/cards': [
      'Adds a card to the last section',
      { 201: json('SyncedDashboard') },
      { body: refTo('NewCard') },
    ],
    'POST /api/projects/{projectID}/dashboards/{dashboardID}/alerts': [
      'Adds an alert to a dashboard of the project',
      { 201: json('SyncedDashboard') },
      { body: refTo('NewAlert') },
    ],
    'POST /api/projects/{projectID}/dashboards/{dashboardID}/reports': [
      'Adds a report to a dashboard of the project',
      { 201: json('SyncedDashboard') },
      { body: refTo('NewReport') },
    ],
    'POST /api/projects/{projectID}/dashboards/{dashboardID}/draft': [
      'Checks a text of the dashboard, and changes a card in it; stores nothing',
      { 200: json('Draft') },
      { body: refTo('DraftBody') },
    ],
    'POST /api/projects/{projectID}/dashboards/{dashboardID}/queries': [
      'Fills the queries of all cards with the values of the variables',
      { 200: jsonList('FilledCard') },
      { body: refTo('FillBody') },
    ],
    'GET /api/projects/{projectID}/dashboards/{dashboardID}/versions': [
      'Lists the versions that are kept, newest first',
      { 200: jsonList('DashboardVersionItem') },
    ],
    'GET /api/projects/{projectID}/dashboards/{dashboardID}/versions/{version}': [
      'Reads a version of a dashboard',
      { 200: json('DashboardVersion') },
    ],
    'DELETE /api/projects/{projectID}/dashboards/{dashboardID}': [
      'Deletes a dashboard with its versions; project dashboards require the role admin',
      { 200: json('DeletedDashboard') },
    ],
    'POST /api/projects/{projectID}/dashboards/{dashboardID}/cards/{cardID}/queries': [
      'Fills the queries of a card with the values of its variables',
      { 200: jsonList('FilledQuery') },
      { body: refTo('FillBody') },
    ],
  }),
  ...DEFINITION_OPERATIONS,
  ...ALERT_OPERATIONS,
  ...tagged('Privacy', {
    'DELETE /api/gdpr/users/{userID}': [
      'Erases a person; 202 when it is still in progress at the response timeout',
      { 200: json('ErasureReceipt'), 202: json('PendingErasure') },
      { errors: [400] },
    ],
    'GET /api/gdpr/users/{userID}/export': [
      'Exports the events of a person as NDJSON, oldest first',
      NDJSON,
      { errors: [400] },
    ],
    'GET /api/gdpr/requests/{requestID}': ['Reads the status of an erasure', { 200: json('ErasureRequest') }],
    'POST /api/projects/{projectID}/erasures': [
      'Erases a person, for signed-in people; 202 when it is still in progress at the response timeout',
      { 200: json('ErasureReceipt'), 202: json('PendingErasure') },
      { body: refTo('PersonBody') },
    ],
    'GET /api/projects/{projectID}/erasures/{requestID}': [
      'Reads the status of an erasure',
      { 200: json('ErasureRequest') },
    ],
    'POST /api/projects/{projectID}/exports': [
      'Exports the events of a person as NDJSON, for signed-in people',
      NDJSON,
      { body: refTo('PersonBody') },
    ],
    'GET /api/export/events': [
      'Exports all events of the project as NDJSON; `from` and `to` limit their times, `to` excluded',
      NDJSON,
      { query: exportRange, errors: [400] },
    ],
    'GET /api/export/identities': [
      'Exports all device mappings and profiles of the project as NDJSON; each line is a call of POST /identify/batch',
      NDJSON,
      { errors: [400] },
    ],
    'GET /api/projects/{projectID}/exports/events': [
      'Exports all events of the project as NDJSON, for signed-in people',
      NDJSON,
      { query: exportRange, errors: [400] },
    ],
    'GET /api/projects/{projectID}/exports/identities': [
      'Exports all device mappings and profiles of the project as NDJSON, for signed-in people',
      NDJSON,
      { errors: [400] },
    ],
    'GET /api/projects/{projectID}/audit': [
      'Lists the audit trail, newest first',
      { 200: jsonList('AuditEntry') },
      { query: auditPage, errors: [400] },
    ],
    'GET /api/gdpr/audit': [
      'Lists the audit trail of erasures, exports and lists of people, newest first',
      { 200: jsonList('AuditEntry') },
      { query: auditPage, errors: [400] },
    ],
  }),
  ...ORGANIZATION_OPERATIONS,
  ...tagged('Projects', {
    'GET /api/orgs/{orgID}/demo': [
      'Reads the state of the demo project: none, waiting, loading, ready or failed',
      { 200: json('Demo') },
    ],
    'POST /api/orgs/{orgID}/demo': [
      'Loads the demo project: a shop with 90 days of events, in the background; 400 when there is one already',
      { 202: json('Demo') },
      { errors: [400] },
    ],
    'DELETE /api/orgs/{orgID}/demo': [
      'Deletes the demo project and its data; 400 while it is being loaded',
      { 200: json('DeletedProject') },
      { errors: [400] },
    ],
    'GET /api/orgs/{orgID}/projects': ['Lists the projects of an organization', { 200: jsonList('Project') }],
    'POST /api/orgs/{orgID}/projects': ['Creates a project', { 201: json('Project') }, { body: refTo('ProjectBody') }],
    'GET /api/projects/{projectID}': [
      'Reads a project with the role and capabilities of the caller',
      { 200: json('Project') },
    ],
    'PATCH /api/projects/{projectID}': [
      'Updates a project',
      { 200: json('Project') },
      { body: refTo('ProjectChanges') },
    ],
    'DELETE /api/projects/{projectID}': [
      'Deletes a project and all its data',
      { 200: json('DeletedProject') },
      { body: refTo('ProjectDeletionBody') },
    ],
    'POST /api/projects/{projectID}/rotate-secret-key': [
      'Rotates the secret key; the old key becomes invalid',
      { 200: json('Project') },
    ],
    'GET /api/projects/{projectID}/usage': [
      'Usage by day',
      { 200: jsonList('UsageDay') },
      { query: usageQuery, errors: [400] },
    ],
    'GET /api/projects/{projectID}/rejected': [
      'Lists rejected events: counts of the last 30 days by reason, the newest 20 samples, and fields of events that are ignored',
      { 200: json('Rejected') },
    ],
    'GET /api/projects/{projectID}/delivery': [
      'Reads how delivery stands: lag, backlog and failed jobs of the project; for operators also of the installation',
      { 200: json('Delivery') },
    ],
    'POST /api/projects/{projectID}/delivery/replay': [
      'Lets a failed job run again; the audit trail records it',
      { 200: json('ReplayedJob') },
      { body: refTo('DeadLetterBody') },
    ],
    'POST /api/projects/{projectID}/delivery/discard': [
      'Deletes a failed job with its events; the audit trail records it',
      { 200: json('DiscardedJob') },
      { body: refTo('DeadLetterBody') },
    ],
    'GET /api/admin/projects': ['Lists the projects of the organization', { 200: jsonList('Project') }],
    'POST /api/admin/projects': ['Creates a project', { 201: json('Project') }, { body: refTo('ProjectBody') }],
    'GET /api/admin/projects/{projectID}': ['Reads a project with its keys', { 200: json('Project') }],
    'DELETE /api/admin/projects/{projectID}': [
      'Deletes a project and all its data',
      { 200: json('DeletedProject') },
      { body: refTo('ProjectDeletionBody') },
    ],
    'POST /api/admin/projects/{projectID}/rotate-secret-key': [
      'Rotates the secret key; the old key becomes invalid',
      { 200: json('Project') },
    ],
    'GET /api/admin/projects/{projectID}/usage': [
      'Usage by day',
      { 200: jsonList('UsageDay') },
      { query: usageQuery, errors: [400] },
    ],
  }),
  ...tagged('Tokens', {
    'POST /api/projects/{projectID}/tokens': [
      'Creates an access token',
      { 201: json('NewToken') },
      { body: refTo('TokenBody') },
    ],
    'GET /api/projects/{projectID}/tokens': [
      'Lists the tokens of a project; members see their own',
      { 200: jsonList('Token') },
    ],
    'DELETE /api/projects/{projectID}/tokens/{tokenID}': ['Revokes a token', { 200: json('Token') }],
    'GET /api/me/tokens': ['Lists the personal tokens of the caller', { 200: jsonList('Token') }],
    'DELETE /api/me/tokens/{tokenID}': ['Revokes a personal token of the caller', { 200: json('Token') }],
  }),
};
