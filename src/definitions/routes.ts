// Routes of definitions: PUT and GET /api/definitions for credentials, which determine the project;
// reading, changing and versions for signed-in people.
import type { Request, Response, Router } from 'express';
import { rateSubjectsOf } from '../access/credentials.js';
import { createGuardedRouter, type GuardDeps, projectIdOf } from '../access/guarded-router.js';
import { credentialOf } from '../access/middleware.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import { personOf } from '../access/session-middleware.js';
import { hasAllEvents } from '../catalog/catalog.js';
import type { CatalogReader } from '../catalog/reader.js';
import { readSyncBody, writerOf } from '../dashboards/requests.js';
import { PublicError } from '../platform/errors.js';
import { parseFields } from '../platform/http/json-body.js';
import type { ProjectId } from '../platform/ids.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import { changeQuery, syncQuery } from './schema.js';
import {
  type DefinitionsVersion,
  findDefinitions,
  listDefinitionVersions,
  requireDefinitionsVersion,
  type SavedDefinitions,
  saveDefinitions,
} from './store.js';
import { definitionsTask } from './sync-task.js';
import { toLists } from './to-lists.js';

export interface DefinitionsDeps extends GuardDeps {
  /** A change compiles every definition, so it counts like a query. */
  readonly rateLimit: LayeredRateLimit;
  /** Where documents are parsed and checked. */
  readonly threads: ThreadPool;
  readonly catalogs: Pick<CatalogReader, 'read'>;
}

const OF_PROJECT = '/api/projects/{projectID}/definitions';

export function createDefinitionsRouter(deps: DefinitionsDeps): Router {
  const { postgres, rateLimit, threads, catalogs } = deps;
  const { router, on } = createGuardedRouter(deps);

  async function change(
    req: Request,
    res: Response,
    how: { projectId: ProjectId; isSynced: boolean; baseVersion: number | undefined; isDryRun: boolean },
  ): Promise<void> {
    const { projectId } = how;
    const [{ timezone }, catalog] = await Promise.all([
      postgres('projects').where({ id: projectId }).first('timezone'),
      catalogs.read(projectId),
    ]);
    const context = {
      timezone,
      nowMs: Date.now(),
      eventTypes: [...catalog.events.keys()],
      hasAllEvents: hasAllEvents(catalog),
    };
    const body = req.body ?? Buffer.alloc(0);
    const checked = await threads.run(definitionsTask, { body, context }, projectId);
    const saved = await saveDefinitions(postgres, { ...checked, ...how });
    res.status(saved.isNew ? 201 : 200).json(toAnswer(saved, checked.warnings));
  }

  on('PUT /api/definitions', readSyncBody, async (req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateSubjectsOf(credential));
    const { projectId, isProjectEditor } = writerOf(credential);
    if (!isProjectEditor) {
      throw new PublicError(
        'forbidden',
        'definitions are written with role admin or owner, a secret key or a service token; your role is member',
      );
    }
    const { base_version: baseVersion, dry_run: dryRun } = parseFields(syncQuery, req.query);
    await change(req, res, { projectId, isSynced: true, baseVersion, isDryRun: dryRun === 'true' });
  });
  on('GET /api/definitions', async (_req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateSubjectsOf(credential));
    res.json(toShown(await findDefinitions(postgres, credential.projectId)));
  });

  on(`GET ${OF_PROJECT}`, async (_req, res) => {
    res.json(toShown(await findDefinitions(postgres, projectIdOf(res))));
  });
  on(`PUT ${OF_PROJECT}`, readSyncBody, async (req, res) => {
    const projectId = projectIdOf(res);
    const { personId } = personOf(res);
    await rateLimit.take({ key: personId, project: projectId, person: personId });
    const { base_version: baseVersion, dry_run: dryRun } = parseFields(changeQuery, req.query);
    await change(req, res, { projectId, isSynced: false, baseVersion, isDryRun: dryRun === 'true' });
  });
  on(`GET ${OF_PROJECT}/versions`, async (_req, res) => {
    res.json(await listDefinitionVersions(postgres, projectIdOf(res)));
  });
  on(`GET ${OF_PROJECT}/versions/{version}`, async (req, res) => {
    res.json(toShown(await requireDefinitionsVersion(postgres, projectIdOf(res), String(req.params.version))));
  });
  return router;
}

const toAnswer = ({ version, checksum, isChanged }: SavedDefinitions, warnings: readonly string[]) => ({
  definitions: { version, checksum },
  changed: isChanged,
  warnings,
});

/** A project without definitions has version 0. */
function toShown(found: DefinitionsVersion | undefined) {
  const { version, checksum, created_at, is_synced, source_yaml, content } = found ?? NOTHING;
  return { version, checksum, created_at, is_synced, source_yaml, ...toLists(content.definitions) };
}

const NOTHING = {
  ...{ version: 0, checksum: '', created_at: null, is_synced: false, source_yaml: '' },
  content: { definitions: [] },
};
