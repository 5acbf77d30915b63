// Routes of definitions: PUT and GET /api/definitions for credentials, which determine the project;
// reading, changing and versions for signed-in people; where they are used, and the counts of drop
// rules, for both.
import type { Request, Response, Router } from 'express';
import { rateSubjectsOf } from '../access/credentials.js';
import { createGuardedRouter, type GuardDeps, projectIdOf } from '../access/guarded-router.js';
import { credentialOf } from '../access/middleware.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import { personOf } from '../access/session-middleware.js';
import { readSyncBody, writerOf } from '../dashboards/requests.js';
import { type Reader, readDashboards } from '../dashboards/store.js';
import { readDropped } from '../ingest/drop/counts.js';
import { BOTS_KEY } from '../ingest/drop/rules.js';
import type { AnswerOf } from '../platform/answer-fields.js';
import { PublicError } from '../platform/errors.js';
import { parseParameters } from '../platform/http/json-body.js';
import type { ProjectId } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import type * as answers from './answers.js';
import { type ChangeDeps, type ChangeOptions, changeDefinitions } from './change.js';
import type { DefinitionsContent } from './parse-definitions.js';
import { changeQuery, syncQuery } from './schema.js';
import {
  type DefinitionsVersion,
  findDefinitions,
  listDefinitionVersions,
  requireDefinitionsVersion,
  type SavedDefinitions,
} from './store.js';
import { toLists } from './to-lists.js';
import { usesTask } from './uses.js';

export interface DefinitionsDeps extends GuardDeps, ChangeDeps {
  /** A change compiles every definition, so it counts like a query. */
  readonly rateLimit: LayeredRateLimit;
  readonly redis: Redis;
}

const OF_PROJECT = '/api/projects/{projectID}/definitions';

export function createDefinitionsRouter(deps: DefinitionsDeps): Router {
  const { postgres, rateLimit, threads } = deps;
  const { router, on } = createGuardedRouter(deps);

  /** Uses by dashboards that the reader can see, and by alerts and definitions of the document. */
  const showUses = async (res: Response, reader: Reader): Promise<void> => {
    const { definitions, alerts } = (await findDefinitions(postgres, reader.projectId))?.content ?? NO_CONTENT;
    if (definitions.length === 0) return void res.json([]);
    const dashboards = await readDashboards(postgres, reader);
    const uses = await threads.run(usesTask, { definitions, alerts, dashboards }, reader.projectId);
    res.type('json').end(uses);
  };

  const change = async (req: Request, res: Response, how: ChangeOptions): Promise<void> => {
    const { saved, warnings } = await changeDefinitions(deps, req.body ?? Buffer.alloc(0), how);
    res.status(saved.isNew ? 201 : 200).json(toAnswer(saved, warnings));
  };

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
    const { base_version: baseVersion, dry_run: dryRun } = parseParameters(syncQuery, req.query);
    const how = { isSynced: true, isDetached: false, baseVersion, isDryRun: dryRun === 'true' };
    await change(req, res, { ...how, projectId, personId: credential.personId });
  });
  on('GET /api/definitions', async (_req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateSubjectsOf(credential));
    res.json(toShown(await findDefinitions(postgres, credential.projectId)));
  });
  on('GET /api/definitions/uses', async (_req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateSubjectsOf(credential));
    await showUses(res, writerOf(credential));
  });

  on('GET /api/definitions/dropped', async (_req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateSubjectsOf(credential));
    res.json(await showDropped(deps, credential.projectId));
  });

  on(`GET ${OF_PROJECT}`, async (_req, res) => {
    res.json(toShown(await findDefinitions(postgres, projectIdOf(res))));
  });
  on(`PUT ${OF_PROJECT}`, readSyncBody, async (req, res) => {
    const projectId = projectIdOf(res);
    const { personId } = personOf(res);
    await rateLimit.take({ key: personId, project: projectId, person: personId });
    const { base_version: baseVersion, dry_run: dryRun, detach } = parseParameters(changeQuery, req.query);
    const how = { isSynced: false, isDetached: detach === 'true', baseVersion, isDryRun: dryRun === 'true' };
    await change(req, res, { ...how, projectId, personId });
  });
  on(`GET ${OF_PROJECT}/uses`, async (_req, res) => {
    const [projectId, { personId }] = [projectIdOf(res), personOf(res)];
    await rateLimit.take({ key: personId, project: projectId, person: personId });
    await showUses(res, { projectId, personId });
  });
  on(`GET ${OF_PROJECT}/dropped`, async (_req, res) => {
    res.json(await showDropped(deps, projectIdOf(res)));
  });
  on(`GET ${OF_PROJECT}/versions`, async (_req, res) => {
    res.json(await listDefinitionVersions(postgres, projectIdOf(res)));
  });
  on(`GET ${OF_PROJECT}/versions/{version}`, async (req, res) => {
    res.json(toShown(await requireDefinitionsVersion(postgres, projectIdOf(res), String(req.params.version))));
  });
  return router;
}

const toAnswer = (
  { version, checksum, isChanged }: SavedDefinitions,
  warnings: readonly string[],
): AnswerOf<typeof answers.savedDefinitions> => ({
  definitions: { version, checksum },
  changed: isChanged,
  warnings,
});

/** A project without definitions has version 0. */
function toShown(found: DefinitionsVersion | undefined): AnswerOf<typeof answers.definitions> {
  const { version, checksum, created_at, is_synced, source_yaml, content } = found ?? NOTHING;
  const { definitions, annotations = [], drop = [], bots = 'keep', keep = null } = content;
  const lists = { ...toLists(definitions), annotations, drop };
  return { version, checksum, created_at, is_synced, source_yaml, ...lists, bots, keep };
}

/** The rules of the current version with the events that each has dropped; bots are a rule too. */
async function showDropped(
  { postgres, redis }: DefinitionsDeps,
  projectId: ProjectId,
): Promise<AnswerOf<typeof answers.droppedEvents>> {
  const [found, counts] = await Promise.all([
    findDefinitions(postgres, projectId),
    readDropped(redis, projectId, Date.now()),
  ]);
  const daysOf = (key: string) => {
    const days = counts.get(key) ?? [];
    return { events: days.reduce((sum, { events }) => sum + events, 0), days };
  };
  const { drop = [], bots = 'keep' } = found?.content ?? NO_CONTENT;
  return { rules: drop.map((rule) => ({ ...rule, ...daysOf(rule.key) })), bots: { choice: bots, ...daysOf(BOTS_KEY) } };
}

const NO_CONTENT: DefinitionsContent = { definitions: [] };
const NOTHING = {
  ...{ version: 0, checksum: '', created_at: null, is_synced: false, source_yaml: '' },
  content: NO_CONTENT,
};
