// Store of definitions in PostgreSQL: the current version of each project, and the versions before
// it.
import { type AlertSettings, requireStorable, syncAlerts } from '../alerts/sync-alerts.js';
import { lockKey } from '../dashboards/store.js';
import { PublicError } from '../platform/errors.js';
import type { ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { DefinitionsVersionItem } from './answers.js';
import type { DefinitionsContent, ParsedDefinitions } from './parse-definitions.js';

const VERSIONS_KEPT = 100;

export interface DefinitionsSummary {
  /** 0 when the project has never defined anything. */
  readonly version: number;
  readonly checksum: string;
}

export interface DefinitionsVersion extends DefinitionsVersionItem {
  readonly content: DefinitionsContent;
  readonly source_yaml: string;
}

export interface DefinitionsChange extends Pick<ParsedDefinitions, 'content' | 'rules' | 'checksum'> {
  readonly projectId: ProjectId;
  readonly sourceYaml: string;
  readonly settings: AlertSettings;
  readonly isSynced: boolean;
  /** Allows a change by a person of what a key or a token stored last. */
  readonly isDetached: boolean;
  /** The version that the change is based on; undefined replaces any. */
  readonly baseVersion: number | undefined;
  /** Stores nothing. */
  readonly isDryRun: boolean;
}

export interface SavedDefinitions extends DefinitionsSummary {
  readonly isNew: boolean;
  readonly isChanged: boolean;
}

export async function saveDefinitions(postgres: Postgres, change: DefinitionsChange): Promise<SavedDefinitions> {
  const { projectId, content, checksum, baseVersion, isDryRun } = change;
  return postgres.transaction(async (transaction) => {
    await lockKey(transaction, { projectId, key: 'definitions' });
    const before = await findSummary(transaction, projectId);
    if (baseVersion !== undefined && baseVersion !== before.version) throw isOutdated(before.version, baseVersion);
    if (!change.isSynced && !change.isDetached) await requireNotSynced(transaction, projectId, before.version);
    const isNew = before.version === 0;
    const isChanged = await isNewVersion(transaction, change, before);
    if (!isChanged && change.isSynced && !isDryRun) {
      // A repository that syncs the same text takes it over.
      await transaction('definition_versions')
        .where({ project_id: projectId, version: before.version })
        .update({ is_synced: true });
    }
    const told = {
      ...{ projectId, settings: change.settings, dashboardId: null, timezone: undefined },
      ...{ alerts: content.alerts ?? [], reports: content.reports ?? [] },
    };
    if (isChanged && isDryRun) await requireStorable(transaction, told);
    if (!isChanged || isDryRun) return { ...before, isNew: false, isChanged };
    const version = before.version + 1;
    const rules = change.rules === undefined ? null : JSON.stringify({ version, ...change.rules });
    await transaction('definitions')
      .insert({ project_id: projectId, version, checksum, rules, ...(await keepColumns(transaction, change)) })
      .onConflict('project_id')
      .merge();
    await transaction('definition_versions').insert({
      ...{ project_id: projectId, version, checksum },
      content: JSON.stringify(content),
      source_yaml: change.sourceYaml,
      is_synced: change.isSynced,
    });
    await transaction('definition_versions')
      .where({ project_id: projectId })
      .where('version', '<=', version - VERSIONS_KEPT)
      .delete();
    await syncAlerts(transaction, told);
    return { version, checksum, isNew, isChanged };
  });
}

/**
 * Whether the document differs from the stored one: for a sync in its content, for a person in any
 * character, because an edit of comments is not dropped.
 */
async function isNewVersion(
  postgres: Postgres,
  { projectId, checksum, isSynced, sourceYaml }: DefinitionsChange,
  { version, checksum: stored }: DefinitionsSummary,
): Promise<boolean> {
  if (stored !== checksum) return true;
  if (isSynced) return false;
  const newest = await postgres('definition_versions').where({ project_id: projectId, version }).first('source_yaml');
  return newest?.source_yaml !== sourceYaml;
}

/** A change of `keep` counts from the next day, so its time is kept with it. */
async function keepColumns(transaction: Postgres, { projectId, content: { keep } }: DefinitionsChange) {
  const before = await transaction('definitions').where({ project_id: projectId }).first('keep', 'keep_since');
  const text = keep === undefined ? null : JSON.stringify(keep);
  const isSame = before !== undefined && (before.keep === null ? null : JSON.stringify(before.keep)) === text;
  return { keep: text, keep_since: isSame ? before.keep_since : new Date() };
}

const isOutdated = (version: number, baseVersion: number): PublicError =>
  new PublicError(
    'bad_request',
    `the definitions have version ${version} by now, and the change is based on version ${baseVersion}; load them again`,
  );

async function requireNotSynced(postgres: Postgres, projectId: ProjectId, version: number): Promise<void> {
  const newest = await postgres('definition_versions').where({ project_id: projectId, version }).first('is_synced');
  if (newest?.is_synced !== true) return;
  throw new PublicError(
    'forbidden',
    'the definitions are synced from a repository, which would undo the change; change them there, or send detach=true',
  );
}

const NOTHING: DefinitionsSummary = { version: 0, checksum: '' };

async function findSummary(postgres: Postgres, projectId: ProjectId): Promise<DefinitionsSummary> {
  const found = await postgres('definitions').where({ project_id: projectId }).first('version', 'checksum');
  return found ?? NOTHING;
}

/** 0 without definitions. */
export const findCurrentVersion = async (postgres: Postgres, projectId: ProjectId): Promise<number> =>
  (await findSummary(postgres, projectId)).version;

const ITEM = ['version', 'checksum', 'created_at', 'is_synced'] as const;

/** Undefined when the project has none. */
export async function findDefinitions(
  postgres: Postgres,
  projectId: ProjectId,
): Promise<DefinitionsVersion | undefined> {
  return postgres('definition_versions')
    .where({ project_id: projectId })
    .orderBy('version', 'desc')
    .first(...ITEM, 'content', 'source_yaml');
}

/** The newest first. */
export async function listDefinitionVersions(
  postgres: Postgres,
  projectId: ProjectId,
): Promise<DefinitionsVersionItem[]> {
  return postgres('definition_versions')
    .where({ project_id: projectId })
    .orderBy('version', 'desc')
    .select(...ITEM);
}

export async function requireDefinitionsVersion(
  postgres: Postgres,
  projectId: ProjectId,
  version: string,
): Promise<DefinitionsVersion> {
  const found: DefinitionsVersion | undefined = /^\d{1,9}$/.test(version)
    ? await postgres('definition_versions')
        .where({ project_id: projectId, version: Number(version) })
        .first(...ITEM, 'content', 'source_yaml')
    : undefined;
  if (found === undefined) throw new PublicError('not_found', 'the definitions have no such version');
  return found;
}
