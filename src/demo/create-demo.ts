// Creates and deletes the demo project of an organization: a project of its own, marked in the
// database, so that nothing here touches another project.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addProject, markProjectDeleted, requireProject } from '../accounts/projects.js';
import type { Quotas } from '../accounts/quotas.js';
import { type OrganizationId, type ProjectId, toProjectId } from '../platform/ids.js';
import { packageRoot } from '../platform/paths.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { AuditActor } from '../privacy/audit-store.js';
import { callService, type ServiceCall } from './call-service.js';
import { PEOPLE_DEFAULT, type ShopOptions } from './generate.js';
import type { DemoProgress, DemoService, SentShop } from './send-shop.js';
import { QUESTIONS, type Question } from './stories.js';

const DEMO_NAME = 'Demo shop';
const DASHBOARDS = ['demo-shop', 'demo-growth'] as const;
const SEED_DEFAULT = 'demo';

export interface DemoDeps {
  readonly postgres: Postgres;
  readonly secretKeyBase: string;
  readonly quotas: Quotas;
  /** Address of the running service. */
  readonly url: string;
  /** Makes the shop and sends it. Resolves when queries count all of it. */
  readonly send: (
    shop: ShopOptions,
    service: DemoService,
    onProgress: ((progress: DemoProgress) => void) | undefined,
  ) => Promise<SentShop>;
}

export interface DemoOptions {
  readonly organizationId: OrganizationId;
  /** The end of the 90 days, milliseconds. */
  readonly nowMs: number;
  /** Who asks for it, in the audit trail if it has to be removed again. */
  readonly actor: AuditActor;
  /** Name and version of the sender. */
  readonly library: string;
  readonly people?: number | undefined;
  readonly seed?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: DemoProgress) => void) | undefined;
}

export interface Demo extends SentShop {
  readonly projectId: ProjectId;
  readonly dashboards: readonly string[];
  readonly questions: readonly Question[];
}

export interface DemoProject {
  readonly id: ProjectId;
  readonly name: string;
  readonly createdAt: Date;
}

/** The organization has a demo project already. */
export class DemoExists extends Error {
  override readonly name = 'DemoExists';

  constructor(readonly project: DemoProject) {
    super(`the organization has a demo project already: "${project.name}"`);
  }
}

/** Resolves when queries count all events. If it fails, the incomplete project is deleted. */
export async function createDemo(deps: DemoDeps, options: DemoOptions): Promise<Demo> {
  const projectId = await addDemoProject(deps, options.organizationId);
  try {
    return await fill(deps, options, projectId);
  } catch (cause) {
    await removeProject(deps, { id: projectId, name: DEMO_NAME }, options.actor);
    throw cause;
  }
}

/** Undefined when the organization has none. */
export async function findDemo(postgres: Postgres, organizationId: OrganizationId): Promise<DemoProject | undefined> {
  const row: { id: string; name: string; created_at: Date } | undefined = await postgres('projects')
    .where({ organization_id: organizationId, is_demo: true })
    .whereNull('deleted_at')
    .first('id', 'name', 'created_at');
  return row && { id: toProjectId(row.id), name: row.name, createdAt: row.created_at };
}

/**
 * By the service's own deletion of projects. Resolves with the deleted project, if there was one.
 */
export async function deleteDemo(
  deps: Pick<DemoDeps, 'postgres'>,
  { organizationId, actor }: Pick<DemoOptions, 'organizationId' | 'actor'>,
): Promise<DemoProject | undefined> {
  const project = await findDemo(deps.postgres, organizationId);
  if (project !== undefined) await removeProject(deps, project, actor);
  return project;
}

const removeProject = (
  { postgres }: Pick<DemoDeps, 'postgres'>,
  { id, name }: Pick<DemoProject, 'id' | 'name'>,
  actor: AuditActor,
): Promise<void> =>
  markProjectDeleted(postgres, id, {
    deletion: { project_name: name, project_name_confirm: name },
    actor,
  });

/**
 * Two at a time cannot both create one: `addProject` locks the organization until the transaction
 * ends.
 */
function addDemoProject({ postgres, quotas, secretKeyBase }: DemoDeps, organizationId: OrganizationId) {
  return postgres.transaction(async (transaction) => {
    const id = await addProject(transaction, quotas, { organizationId, name: DEMO_NAME, secretKeyBase });
    const existing = await findDemo(transaction, organizationId);
    if (existing !== undefined) throw new DemoExists(existing);
    await transaction('projects').where({ id }).update({ is_demo: true });
    return id;
  });
}

async function fill(deps: DemoDeps, options: DemoOptions, projectId: ProjectId): Promise<Demo> {
  const { postgres, secretKeyBase, url } = deps;
  const project = await requireProject(postgres, projectId, { viewer: 'admin_key', secretKeyBase });
  if (!project.secret_key) throw new Error('the key of the new project cannot be decrypted');
  const shop = {
    seed: options.seed ?? SEED_DEFAULT,
    people: options.people ?? PEOPLE_DEFAULT,
    endMs: options.nowMs,
    library: options.library,
  };
  const service = { url, publicKey: project.public_key, secretKey: project.secret_key, signal: options.signal };
  const sent = await deps.send(shop, { ...service, userAgent: options.library }, options.onProgress);
  for (const key of DASHBOARDS) await syncDashboard(service, key);
  return { ...sent, projectId, dashboards: DASHBOARDS, questions: QUESTIONS };
}

async function syncDashboard(service: ServiceCall, key: string): Promise<void> {
  const source = readFileSync(join(packageRoot, 'ops', 'demo', `${key}.yaml`), 'utf8');
  const request = { method: 'PUT', path: `api/dashboard-sync/${key}`, body: { source_yaml: source } } as const;
  const { status, text } = await callService(service, request);
  if (status >= 300) throw new Error(`dashboard ${key}: ${status} ${text}`);
}
