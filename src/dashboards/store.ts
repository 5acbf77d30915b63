// Store of dashboards and their versions in PostgreSQL. Every statement applies the access rules:
// only its owner sees a personal dashboard; admins, owners and service credentials write a
// dashboard of the project, members read it.
import { requireDashboardQuota } from '../accounts/quotas.js';
import { type AlertSettings, type AlertsOfDocument, syncAlerts } from '../alerts/sync-alerts.js';
import { PublicError } from '../platform/errors.js';
import { isUuid, newUuidV7, type ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { DashboardItem, DashboardSummary } from './answers.js';
import { compareTitles } from './compare-titles.js';
import type { Card, DashboardConfig } from './config-schema.js';
import type { ParsedDashboard } from './parse-dashboard.js';
import type { Visibility } from './visibility.js';

const VERSIONS_KEPT = 100;

/** The caller of a write. */
export interface Writer {
  readonly projectId: ProjectId;
  /** The person behind the credential; keys and service tokens have none. */
  readonly personId: string | undefined;
  /** Whether dashboards with the visibility `project` may be created, changed and deleted. */
  readonly isProjectEditor: boolean;
}

export interface Sync extends ParsedDashboard, Writer {
  readonly key: string;
  /** From the request; undefined keeps the current visibility. */
  readonly visibility: Visibility | undefined;
  readonly sourceYaml: string;
  readonly settings: AlertSettings;
  /** Whether a sync writes it, not a person in the console. */
  readonly isSynced: boolean;
  /** Makes every check, and stores nothing. */
  readonly isDryRun: boolean;
}

export interface Synced {
  /** As it is stored; of a dry run that would create it, as it would be. */
  readonly dashboard: DashboardSummary;
  readonly isNew: boolean;
  readonly isChanged: boolean;
  /** The visibility changed, and nothing else. */
  readonly isMetadataChanged: boolean;
}

export interface DashboardRow extends DashboardSummary {
  readonly owner_id: string | null;
  readonly synced_at: Date | null;
}

const SUMMARY = ['id', 'key', 'title', 'visibility', 'checksum', 'version'] as const;
export const ROW = [...SUMMARY, 'owner_id', 'synced_at'] as const;

export async function syncDashboard(postgres: Postgres, sync: Sync): Promise<Synced> {
  return write(postgres, sync, async (transaction) => {
    await lockKey(transaction, sync);
    const existing = await findByKey(transaction, sync);
    if (existing === undefined) return create(transaction, sync);
    requireEditor(sync, existing.visibility);
    const visibility = sync.visibility ?? existing.visibility;
    if (visibility !== existing.visibility) await allowMove(transaction, sync, existing);
    return update(transaction, sync, { existing, visibility });
  });
}

/** A transaction, which a dry run rolls back: so it refuses what the write itself would refuse. */
export async function write<T>(
  postgres: Postgres,
  { isDryRun }: Pick<Sync, 'isDryRun'>,
  statements: (transaction: Postgres) => Promise<T>,
): Promise<T> {
  if (!isDryRun) return postgres.transaction(statements);
  const transaction = await postgres.transaction();
  try {
    return await statements(transaction);
  } finally {
    await transaction.rollback();
  }
}

/**
 * Serializes the writes to one key, so that none is lost and versions are numbered consecutively.
 */
export async function lockKey(transaction: Postgres, { projectId, key }: Pick<Sync, 'projectId' | 'key'>) {
  await transaction.raw('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`${projectId}/${key}`]);
}

/** Throws when the dashboard belongs to the project and the writer may only read those. */
export function requireEditor({ isProjectEditor }: Pick<Writer, 'isProjectEditor'>, visibility: Visibility): void {
  if (visibility === 'personal' || isProjectEditor) return;
  throw new PublicError(
    'forbidden',
    'a dashboard of the project is written with role admin or owner, a secret key or a service token; your role is member' +
      ' (send visibility "personal" for a dashboard of your own)',
  );
}

/**
 * The caller's personal dashboard with the key takes precedence over the project's. A member who
 * requests `personal` never gets the project's.
 */
async function findByKey(postgres: Postgres, sync: Sync): Promise<DashboardRow | undefined> {
  const visible = visibleTo(postgres, sync).where({ key: sync.key });
  if (!sync.isProjectEditor && sync.visibility === 'personal') visible.where({ visibility: 'personal' });
  const row: DashboardRow | undefined = await visible.orderByRaw(`visibility = 'personal' DESC`).first(...ROW);
  return row;
}

export function visibleTo(postgres: Postgres, { projectId, personId }: Pick<Sync, 'projectId' | 'personId'>) {
  return postgres('dashboards')
    .where({ project_id: projectId })
    .where((visible) => {
      visible.where({ visibility: 'project' });
      if (personId !== undefined) visible.orWhere({ visibility: 'personal', owner_id: personId });
    });
}

export async function create(postgres: Postgres, sync: Sync): Promise<Synced> {
  const visibility = sync.visibility ?? (sync.personId === undefined ? 'project' : 'personal');
  if (visibility === 'personal' && sync.personId === undefined) throw personalWithoutPerson();
  requireEditor(sync, visibility);
  await requireQuota(postgres, sync, visibility);
  const id = newUuidV7();
  const [dashboard] = await postgres('dashboards')
    .insert({
      id,
      project_id: sync.projectId,
      key: sync.key,
      visibility,
      owner_id: sync.personId ?? null,
      version: 1,
      ...contentOf(sync),
    })
    .returning([...SUMMARY]);
  await storeVersion(postgres, sync, { id, version: 1 });
  await syncAlerts(postgres, alertsOf(sync, { id, visibility }));
  return { dashboard, isNew: true, isChanged: true, isMetadataChanged: false };
}

const requireQuota = (transaction: Postgres, { settings, projectId, personId }: Sync, visibility: Visibility) =>
  requireDashboardQuota(transaction, settings, {
    projectId,
    personId: visibility === 'personal' ? personId : undefined,
  });

const contentOf = ({ config, checksum, isSynced }: Sync) => ({
  title: config.title,
  position: config.order ?? null,
  checksum,
  ...(isSynced && { synced_at: new Date() }),
});

/**
 * Whether the document differs from the stored one: for a sync in its content, for a person in any
 * character, because an edit of comments is not dropped.
 */
export async function isNewVersion(
  postgres: Postgres,
  { checksum, isSynced, sourceYaml }: Sync,
  { id, version, checksum: stored }: DashboardRow,
): Promise<boolean> {
  if (stored !== checksum) return true;
  if (isSynced) return false;
  const newest = await postgres('dashboard_versions').where({ dashboard_id: id, version }).first('source_yaml');
  return newest?.source_yaml !== sourceYaml;
}

export async function update(
  postgres: Postgres,
  sync: Sync,
  { existing, visibility }: { existing: DashboardRow; visibility: Visibility },
): Promise<Synced> {
  const isChanged = await isNewVersion(postgres, sync, existing);
  const isMetadataChanged = !isChanged && visibility !== existing.visibility;
  const version = existing.version + (isChanged ? 1 : 0);
  const { owner_id: _, synced_at: syncedAt, ...same } = existing;
  const becomesSynced = sync.isSynced && syncedAt === null;
  if (!isChanged && !isMetadataChanged && !becomesSynced) {
    return { dashboard: same, isNew: false, isChanged, isMetadataChanged };
  }
  const [dashboard] = await postgres('dashboards')
    .where({ id: existing.id })
    .update({ visibility, version, updated_at: postgres.fn.now(), ...contentOf(sync) })
    .returning([...SUMMARY]);
  if (isChanged) await storeVersion(postgres, sync, { id: existing.id, version });
  if (isChanged || isMetadataChanged) await syncAlerts(postgres, alertsOf(sync, { id: existing.id, visibility }));
  return { dashboard: sync.isDryRun ? same : dashboard, isNew: false, isChanged, isMetadataChanged };
}

async function storeVersion(postgres: Postgres, sync: Sync, { id, version }: { id: string; version: number }) {
  await postgres('dashboard_versions').insert({
    dashboard_id: id,
    version,
    checksum: sync.checksum,
    config: JSON.stringify(sync.config),
    source_yaml: sync.sourceYaml,
  });
  await postgres('dashboard_versions')
    .where({ dashboard_id: id })
    .where('version', '<=', version - VERSIONS_KEPT)
    .delete();
}

/** Those that run. */
const alertsOf = (
  { projectId, config, settings }: Sync,
  { id, visibility }: { id: string; visibility: Visibility },
): AlertsOfDocument => ({
  ...{ projectId, settings, dashboardId: id, timezone: config.timezone },
  alerts: visibility === 'project' ? (config.alerts ?? []) : [],
  reports: visibility === 'project' ? (config.reports ?? []) : [],
});

export const personalWithoutPerson = () =>
  new PublicError('bad_request', 'this credential belongs to no person, so it cannot have a personal dashboard');

/**
 * Throws unless the caller may change the visibility: make this dashboard personal, or share it.
 */
export async function allowMove(postgres: Postgres, sync: Sync, existing: DashboardRow) {
  const { projectId, key, personId } = sync;
  if (existing.visibility === 'project') {
    if (personId === undefined) throw personalWithoutPerson();
    if (existing.owner_id !== personId) {
      throw new PublicError('forbidden', 'only its owner can take a dashboard of the project back');
    }
    const own = { project_id: projectId, key, visibility: 'personal', owner_id: personId };
    if (await postgres('dashboards').where(own).first('id')) {
      throw new PublicError('bad_request', `there is another personal dashboard with the key "${key}"`);
    }
    return requireQuota(postgres, sync, 'personal');
  }
  requireEditor(sync, 'project');
  if (await postgres('dashboards').where({ project_id: projectId, key, visibility: 'project' }).first('id')) {
    throw new PublicError('bad_request', `the project has another dashboard with the key "${key}"`);
  }
  await requireQuota(postgres, sync, 'project');
}

/** The caller of a read: a member of the project, or a credential without a person. */
export interface Reader {
  readonly projectId: ProjectId;
  readonly personId: string | undefined;
}

export interface Dashboard extends DashboardItem {
  readonly config: DashboardConfig;
  readonly source_yaml: string;
}

/** Keys of the dashboards with the visibility `project`. */
export const listProjectKeys = (postgres: Postgres, projectId: ProjectId): Promise<string[]> =>
  postgres('dashboards').where({ project_id: projectId, visibility: 'project' }).pluck('key');

const ITEM = [...ROW, 'position', 'updated_at'] as const;

export async function listDashboards(postgres: Postgres, reader: Reader): Promise<DashboardItem[]> {
  const rows: ItemRow[] = await visibleTo(postgres, reader).select(...ITEM);
  return rows.sort(inOrderOfList).map(toItem);
}

/** By position, those without one last, then by title. */
function inOrderOfList(a: Listed, b: Listed): number {
  const [first, second] = [a, b].map(({ position }) => Number(position ?? Number.POSITIVE_INFINITY));
  if (first !== second) return (first ?? 0) < (second ?? 0) ? -1 : 1;
  return compareTitles(a.title, b.title) || (a.id < b.id ? -1 : 1);
}

type Listed = Pick<ItemRow, 'position' | 'title' | 'id'>;

export interface StoredDashboard extends Pick<DashboardSummary, 'id' | 'key' | 'title'> {
  readonly config: DashboardConfig;
}

export interface DashboardText extends Omit<StoredDashboard, 'config'> {
  /** As JSON. */
  readonly config: string;
}

/** Dashboards that the reader can see, with their content, in the order of the list. */
export async function readDashboards(postgres: Postgres, { projectId, personId }: Reader): Promise<DashboardText[]> {
  const rows: (DashboardText & Listed)[] = await postgres
    .from(visibleTo(postgres, { projectId, personId }).as('d'))
    .join('dashboard_versions AS v', (on) => on.on('v.dashboard_id', 'd.id').andOn('v.version', 'd.version'))
    .select('d.id', 'd.key', 'd.title', 'd.position', postgres.raw('v.config::text AS config'));
  return rows.sort(inOrderOfList).map(({ position, ...text }) => text);
}

export async function requireDashboard(postgres: Postgres, reader: Reader, id: string): Promise<Dashboard> {
  const found = isUuid(id) ? await readFirst(postgres, visibleTo(postgres, reader).where({ id })) : undefined;
  if (found === undefined) throw new PublicError('not_found', 'there is no such dashboard');
  return found;
}

/** By key: the personal one before that of the project, or the one with the visibility. */
export const findDashboard = (
  postgres: Postgres,
  reader: Reader,
  key: string,
  visibility?: Visibility,
): Promise<Dashboard | undefined> =>
  readFirst(
    postgres,
    visibleTo(postgres, reader)
      .where({ key, ...(visibility !== undefined && { visibility }) })
      .orderByRaw(`visibility = 'personal' DESC`),
  );

/** In one statement, because the dashboard and its versions may be deleted meanwhile. */
async function readFirst(postgres: Postgres, dashboards: ReturnType<typeof visibleTo>): Promise<Dashboard | undefined> {
  const row: (ItemRow & Pick<Dashboard, 'config' | 'source_yaml'>) | undefined = await postgres
    .from(dashboards.limit(1).as('d'))
    .join('dashboard_versions AS v', (on) => on.on('v.dashboard_id', 'd.id').andOn('v.version', 'd.version'))
    .first(...ITEM.map((column) => `d.${column}`), 'v.config', 'v.source_yaml');
  if (row === undefined) return undefined;
  const { config, source_yaml, ...item } = row;
  return { ...toItem(item), config, source_yaml };
}

/** A card of the dashboard, with the time zone of its queries. */
export async function requireCard(
  postgres: Postgres,
  reader: Reader,
  { dashboardId, cardId }: { dashboardId: string; cardId: string },
): Promise<{ config: DashboardConfig; card: Card; timezone: string }> {
  const { config } = await requireDashboard(postgres, reader, dashboardId);
  const card = config.sections.flatMap(({ cards }) => cards).find(({ id }) => id === cardId);
  if (card === undefined) throw new PublicError('not_found', 'the dashboard has no such card');
  const project = await postgres('projects').where({ id: reader.projectId }).first('timezone');
  return { config, card, timezone: config.timezone ?? project.timezone };
}

interface ItemRow extends DashboardRow {
  readonly position: string | null;
  readonly updated_at: Date;
}

const toItem = ({ position, updated_at, owner_id, synced_at, ...summary }: ItemRow): DashboardItem => ({
  ...summary,
  order: position === null ? null : Number(position),
  updated_at,
  owner: owner_id,
  synced_at,
});
