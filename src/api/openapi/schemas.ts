// Named component schemas of the OpenAPI document.
import { z } from 'zod';
import * as accounts from '../../accounts/answers.js';
import {
  accountDeletionBody,
  domainBody,
  invitationBody,
  leavingBody,
  memberBody,
  organizationBody,
  organizationDeletionBody,
  projectBody,
  projectChanges,
  projectDeletionBody,
  tokenBody,
} from '../../accounts/schema.js';
import * as alerts from '../../alerts/answers.js';
import { alertSchema } from '../../alerts/config-schema.js';
import { dryRunBody } from '../../alerts/schema.js';
import { catalog } from '../../catalog/answers.js';
import { newCardSchema } from '../../dashboards/add-card.js';
import * as dashboards from '../../dashboards/answers.js';
import { configSchema } from '../../dashboards/config-schema.js';
import { draftBodySchema } from '../../dashboards/draft.js';
import { fillBodySchema, syncBodySchema } from '../../dashboards/schema.js';
import * as definitions from '../../definitions/answers.js';
import { definitionsBodySchema } from '../../definitions/schema.js';
import { demo } from '../../demo/answers.js';
import * as ingest from '../../ingest/answers.js';
import { batchSchema, eventSchema } from '../../ingest/event-schema.js';
import { keptEvents } from '../../keeping/answers.js';
import * as operate from '../../operate/answers.js';
import { deadLetterBody } from '../../operate/routes.js';
import * as privacy from '../../privacy/answers.js';
import { personBody } from '../../privacy/schema.js';
import { queryBodySchema } from '../../query-api/schema.js';
import * as reports from '../../reports/answers.js';
import { reportSchema } from '../../reports/config-schema.js';
import { reportDryRunBody } from '../../reports/schema.js';
import { usageDay } from '../../usage/answers.js';
import * as answers from './answers.js';
import { identifiedBatch, identifyBatch, identifyBody } from './identify-body.js';

/** A dashboard that a dry run would create has no id and version 0. */
const triedDashboard = dashboards.syncedDashboard.extend({
  dashboard: dashboards.syncedDashboard.shape.dashboard.extend({ id: z.uuid().nullable(), version: z.int().min(0) }),
});

const SCHEMAS = {
  Event: eventSchema,
  Batch: batchSchema,
  IdentifyBody: identifyBody,
  IdentifyBatch: identifyBatch,
  IdentifiedBatch: identifiedBatch,
  QueryBody: queryBodySchema,
  SyncBody: syncBodySchema,
  OrganizationBody: organizationBody,
  OrganizationDeletionBody: organizationDeletionBody,
  LeavingBody: leavingBody,
  AccountDeletionBody: accountDeletionBody,
  MemberBody: memberBody,
  InvitationBody: invitationBody,
  DomainBody: domainBody,
  ProjectBody: projectBody,
  ProjectChanges: projectChanges,
  ProjectDeletionBody: projectDeletionBody,
  TokenBody: tokenBody,
  PersonBody: personBody,
  DeadLetterBody: deadLetterBody,

  Error: answers.errorAnswer,
  Accepted: ingest.accepted,
  Ok: answers.ok,
  QueryAnswer: answers.queryAnswer,
  QueryExplanation: answers.queryExplanation,
  Catalog: catalog,
  DashboardConfig: configSchema,
  FillBody: fillBodySchema,
  FilledQuery: dashboards.filledQuery,
  NewCard: newCardSchema,
  NewAlert: alertSchema,
  NewReport: reportSchema,
  FilledCard: dashboards.filledCard,
  DraftBody: draftBodySchema,
  Draft: answers.draft,
  DashboardVersionItem: dashboards.dashboardVersionItem,
  DashboardVersion: dashboards.dashboardVersionItem.extend({ config: configSchema, source_yaml: z.string() }),
  SyncedDashboard: dashboards.syncedDashboard,
  TriedDashboard: triedDashboard,
  DashboardItem: dashboards.dashboardItem,
  Dashboard: dashboards.dashboardItem.extend({ config: configSchema, source_yaml: z.string() }),
  DefinitionsBody: definitionsBodySchema,
  Definitions: definitions.definitions,
  DefinitionsVersionItem: definitions.definitionsVersionItem,
  KeptEvents: keptEvents,
  DroppedEvents: definitions.droppedEvents,
  SavedDefinitions: definitions.savedDefinitions,
  DefinitionUse: definitions.definitionUse,
  DeletedDashboard: dashboards.deletedDashboard,
  Alert: alerts.alert,
  AlertCheck: alerts.alertCheck,
  AlertDryRun: alerts.alertDryRun,
  AlertDryRunBody: dryRunBody,
  Report: reports.report,
  ReportRun: reports.reportRun,
  ReportDryRun: reports.reportDryRun,
  ReportDryRunBody: reportDryRunBody,
  WebhookSecret: alerts.webhookSecret,
  Organization: accounts.organization,
  NewOrganization: accounts.newOrganization,
  RotatedAdminKey: accounts.rotatedAdminKey,
  Member: accounts.member,
  RemovedMember: accounts.removedMember,
  LeftOrganization: accounts.leftOrganization,
  DeletedOrganization: accounts.deletedById,
  DeletedPerson: accounts.deletedById,
  Invitation: accounts.invitation,
  OpenInvitation: accounts.openInvitation,
  RevokedInvitation: accounts.revokedInvitation,
  Domain: accounts.domain,
  RemovedDomain: accounts.removedDomain,
  Project: accounts.project,
  DeletedProject: accounts.deletedById,
  Demo: demo,
  Delivery: operate.delivery,
  ReplayedJob: operate.replayedJob,
  DiscardedJob: operate.discardedJob,
  NewToken: accounts.newToken,
  Token: accounts.token,
  UsageDay: usageDay,
  Rejected: ingest.rejected,
  ErasureReceipt: privacy.erasureReceipt,
  PendingErasure: privacy.pendingErasure,
  ErasureRequest: privacy.erasureRequest,
  AuditEntry: privacy.auditEntry,
} as const satisfies Record<string, z.ZodType>;

export type SchemaName = keyof typeof SCHEMAS;

export const refTo = (name: SchemaName) => ({ $ref: `#/components/schemas/${name}` });

/** Input side of a schema: requests before defaults and transformations. */
const OPTIONS = { io: 'input', unrepresentable: 'any' } as const;

/** JSON schemas with references to each other. */
export function toJsonSchemas(): Record<string, unknown> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { ...OPTIONS, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([id, { $id, $schema, ...schema }]) => [id, schema]));
}

export interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly schema: unknown;
}

/** Query parameters, one schema each. */
export function toParameters(schema: z.ZodObject): Parameter[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, OPTIONS);
  return Object.entries(properties).map(([name, one]) => ({ name, required: required.includes(name), schema: one }));
}
