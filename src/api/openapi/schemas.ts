// Named component schemas of the OpenAPI document.
import { z } from 'zod';
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
import { alertSchema } from '../../alerts/config-schema.js';
import { dryRunBody } from '../../alerts/schema.js';
import { newCardSchema } from '../../dashboards/add-card.js';
import { configSchema } from '../../dashboards/config-schema.js';
import { draftBodySchema } from '../../dashboards/draft.js';
import { fillBodySchema, syncBodySchema } from '../../dashboards/schema.js';
import { definitionsBodySchema } from '../../definitions/schema.js';
import { batchSchema, eventSchema } from '../../ingest/event-schema.js';
import { deadLetterBody } from '../../operate/routes.js';
import { personBody } from '../../privacy/schema.js';
import { queryBodySchema } from '../../query-api/schema.js';
import { reportSchema } from '../../reports/config-schema.js';
import { reportDryRunBody } from '../../reports/schema.js';
import * as alerts from './alert-answers.js';
import * as answers from './answers.js';
import * as definitionAnswers from './definition-answers.js';
import { identifiedBatch, identifyBatch, identifyBody } from './identify-body.js';
import { rejected } from './rejected-answers.js';

/** A dashboard that a dry run would create has no id and version 0. */
const triedDashboard = answers.syncedDashboard.extend({
  dashboard: answers.syncedDashboard.shape.dashboard.extend({ id: z.uuid().nullable(), version: z.int().min(0) }),
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
  Accepted: answers.accepted,
  Ok: answers.ok,
  QueryAnswer: answers.queryAnswer,
  QueryExplanation: answers.queryExplanation,
  Catalog: answers.catalog,
  DashboardConfig: configSchema,
  FillBody: fillBodySchema,
  FilledQuery: answers.filledQuery,
  NewCard: newCardSchema,
  NewAlert: alertSchema,
  NewReport: reportSchema,
  FilledCard: answers.filledCard,
  DraftBody: draftBodySchema,
  Draft: answers.draft,
  DashboardVersionItem: answers.dashboardVersionItem,
  DashboardVersion: answers.dashboardVersionItem.extend({ config: configSchema, source_yaml: z.string() }),
  SyncedDashboard: answers.syncedDashboard,
  TriedDashboard: triedDashboard,
  DashboardItem: answers.dashboardItem,
  Dashboard: answers.dashboardItem.extend({ config: configSchema, source_yaml: z.string() }),
  DefinitionsBody: definitionsBodySchema,
  Definitions: definitionAnswers.definitions,
  DefinitionsVersionItem: definitionAnswers.definitionsVersionItem,
  KeptEvents: definitionAnswers.keptEvents,
  DroppedEvents: definitionAnswers.droppedEvents,
  SavedDefinitions: definitionAnswers.savedDefinitions,
  DefinitionUse: definitionAnswers.definitionUse,
  DeletedDashboard: answers.deletedDashboard,
  Alert: alerts.alert,
  AlertCheck: alerts.alertCheck,
  AlertDryRun: alerts.alertDryRun,
  AlertDryRunBody: dryRunBody,
  Report: alerts.report,
  ReportRun: alerts.reportRun,
  ReportDryRun: alerts.reportDryRun,
  ReportDryRunBody: reportDryRunBody,
  WebhookSecret: alerts.webhookSecret,
  Organization: answers.organization,
  NewOrganization: answers.newOrganization,
  RotatedAdminKey: answers.rotatedAdminKey,
  Member: answers.member,
  RemovedMember: answers.removedMember,
  LeftOrganization: answers.leftOrganization,
  DeletedOrganization: answers.deletedById,
  DeletedPerson: answers.deletedById,
  Invitation: answers.invitation,
  OpenInvitation: answers.openInvitation,
  RevokedInvitation: answers.revokedInvitation,
  Domain: answers.domain,
  RemovedDomain: answers.removedDomain,
  Project: answers.project,
  DeletedProject: answers.deletedById,
  Demo: answers.demo,
  Delivery: answers.delivery,
  ReplayedJob: answers.replayedJob,
  DiscardedJob: answers.discardedJob,
  NewToken: answers.newToken,
  Token: answers.token,
  UsageDay: answers.usageDay,
  Rejected: rejected,
  ErasureReceipt: answers.erasureReceipt,
  PendingErasure: answers.pendingErasure,
  ErasureRequest: answers.erasureRequest,
  AuditEntry: answers.auditEntry,
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
