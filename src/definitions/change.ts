// Change of a project's definitions: the document is checked in a thread, stored, and answered with
// warnings about what it removes and what it no longer keeps.
import type { RunAlertQuery } from '../alerts/run-query.js';
import type { AlertSettings } from '../alerts/sync-alerts.js';
import { hasAllEvents, keysOfBag } from '../catalog/catalog.js';
import type { CatalogReader } from '../catalog/reader.js';
import { listProjectKeys, type Reader, readDashboards } from '../dashboards/store.js';
import { countDue, warningsOfDue } from '../keeping/count-due.js';
import type { Keep } from '../keeping/keep.js';
import { PublicError } from '../platform/errors.js';
import type { ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import type { Definition, Definitions } from '../query/definitions/definitions.js';
import type { DefinitionsContent } from './parse-definitions.js';
import { type DefinitionsChange, findDefinitions, type SavedDefinitions, saveDefinitions } from './store.js';
import { definitionsTask } from './sync-task.js';
import { removedTask } from './uses.js';

export interface ChangeDeps {
  readonly postgres: Postgres;
  /** Where documents are parsed and checked. */
  readonly threads: ThreadPool;
  readonly catalogs: Pick<CatalogReader, 'readNow'>;
  readonly settings: AlertSettings;
  /** Counts the events that a changed `keep` would delete. */
  readonly runQuery: RunAlertQuery;
}

export type ChangeOptions = Pick<DefinitionsChange, 'isSynced' | 'isDetached' | 'baseVersion' | 'isDryRun'> & Reader;

const COUNT_TIMEOUT_MS = 10_000;

export async function changeDefinitions(
  deps: ChangeDeps,
  body: Buffer,
  how: ChangeOptions,
): Promise<{ saved: SavedDefinitions; warnings: readonly string[] }> {
  const { postgres, threads, catalogs, settings } = deps;
  const { projectId } = how;
  const [{ timezone }, catalog, before] = await Promise.all([
    postgres('projects').where({ id: projectId }).first('timezone'),
    catalogs.readNow(projectId),
    findDefinitions(postgres, projectId),
  ]);
  const dashboards = await listProjectKeys(postgres, projectId);
  const context = {
    ...{ projectId, timezone, dashboards, privateAddresses: settings.WEBHOOK_PRIVATE_ADDRESSES },
    nowMs: Date.now(),
    eventTypes: [...catalog.events.keys()],
    propertyKeys: keysOfBag(catalog, 'event_properties'),
    hasAllEvents: hasAllEvents(catalog),
  };
  const checked = await threads.run(definitionsTask, { body, context }, projectId);
  const saved = await saveDefinitions(postgres, { ...checked, ...how, settings });
  const ofRemoved = await warningsOfRemoved(deps, how, {
    before: before?.content.definitions ?? [],
    ...checked.content,
  });
  const ofKept = await warningsOfKept(deps, projectId, checked.content.keep);
  return { saved, warnings: [...checked.warnings, ...ofRemoved, ...ofKept] };
}

/** The change is stored by then, so a search that takes too long is a warning, too. */
async function warningsOfRemoved(
  { postgres, threads }: ChangeDeps,
  reader: Reader,
  { before, definitions: after, alerts }: DefinitionsContent & { readonly before: Definitions },
): Promise<string[]> {
  const isIn = (list: Definitions, { kind, name }: Pick<Definition, 'kind' | 'name'>): boolean =>
    list.some((each) => each.kind === kind && each.name === name);
  const removed = before.filter((definition) => !isIn(after, definition));
  if (removed.length === 0) return [];
  const request = {
    ...{ definitions: [...after, ...removed], removed, alerts },
    dashboards: await readDashboards(postgres, reader),
  };
  return threads.run(removedTask, request, reader.projectId).catch((error: unknown) => {
    if (!(error instanceof PublicError)) throw error;
    return [`definitions are removed, and their uses could not be searched: ${error.message}`];
  });
}

/** What the coming night deletes. */
async function warningsOfKept(
  { runQuery }: ChangeDeps,
  projectId: ProjectId,
  keep: Keep | undefined,
): Promise<string[]> {
  if (keep === undefined) return [];
  const signal = AbortSignal.timeout(COUNT_TIMEOUT_MS);
  return warningsOfDue(await countDue(runQuery, { projectId, keep, signal }, Date.now()));
}
