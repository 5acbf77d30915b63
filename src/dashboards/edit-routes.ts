// Routes of dashboards for the console: create, change, add a card, an alert or a report, change a
// draft, versions, and the queries of all cards.
import type { Response } from 'express';
import { type GuardedRouter, projectIdOf } from '../access/guarded-router.js';
import { personOf } from '../access/session-middleware.js';
import { alertSchema } from '../alerts/config-schema.js';
import { readQueryNames } from '../definitions/query-names.js';
import { PublicError } from '../platform/errors.js';
import { parseJsonBody, parseParameters, readJsonBody } from '../platform/http/json-body.js';
import { reportSchema } from '../reports/config-schema.js';
import { addCardTask, newCardSchema } from './add-card.js';
import { type Addition, addToListTask } from './add-to-list.js';
import { draftBodySchema, draftTask } from './draft.js';
import { changeDashboard, createDashboard } from './edit.js';
import { fillCards } from './fill-cards.js';
import type { ChangedText } from './parse-changed.js';
import type { DashboardContext } from './parse-dashboard.js';
import { type DashboardDeps, readDraftBody, readSyncBody, signedInWriter, toAnswer } from './requests.js';
import { changeQuery, creationQuery, parseDashboardKey, parseFillBody } from './schema.js';
import { type Dashboard, type Reader, requireDashboard } from './store.js';
import { syncTask } from './sync-task.js';
import { listVersions, requireVersion } from './versions.js';

const ALL = '/api/projects/{projectID}/dashboards';
const ONE = `${ALL}/{dashboardID}` as const;
const EDIT = { isSynced: false, isDryRun: false } as const;

export function addEditRoutes({ on }: GuardedRouter, deps: DashboardDeps): void {
  const { postgres, rateLimit, threads, settings } = deps;
  /** Checking a document compiles its queries, so it counts like a query. */
  const takeRate = (res: Response) => {
    const { projectId, personId } = readerOf(res);
    return rateLimit.take({ key: personId, project: projectId, person: personId });
  };
  const contextOf = async (res: Response, key: string): Promise<DashboardContext> => {
    const projectId = projectIdOf(res);
    const { timezone } = await postgres('projects').where({ id: projectId }).first('timezone');
    return {
      ...{ key, projectId, timezone, nowMs: Date.now(), privateAddresses: settings.WEBHOOK_PRIVATE_ADDRESSES },
      ...(await readQueryNames(deps, projectId)),
    };
  };

  interface Text {
    readonly sourceYaml: string;
    readonly context: DashboardContext;
  }

  /** Stores the text of a dashboard with what `add` adds to it. */
  const store = async (res: Response, dashboard: Dashboard, add: (text: Text) => Promise<ChangedText>) => {
    const { id, key, version: baseVersion, source_yaml: sourceYaml } = dashboard;
    const added = await add({ sourceYaml, context: await contextOf(res, key) });
    const sync = { ...added, ...signedInWriter(res), key, settings, ...EDIT, visibility: undefined };
    res.status(201).json(toAnswer(await changeDashboard(postgres, { ...sync, id, baseVersion })));
  };

  const storeWith = async (res: Response, id: unknown, addition: Addition) => {
    const dashboard = await requireDashboard(postgres, readerOf(res), String(id));
    if (dashboard.visibility === 'personal') {
      const message = `${addition.list} of a personal dashboard do not run; choose one of the project`;
      throw new PublicError('bad_request', message);
    }
    await store(res, dashboard, (text) => threads.run(addToListTask, { ...text, addition }, projectIdOf(res)));
  };

  on(`POST ${ALL}`, readSyncBody, async (req, res) => {
    await takeRate(res);
    const key = parseDashboardKey(String(parseParameters(creationQuery, req.query).key));
    const context = await contextOf(res, key);
    const checked = await threads.run(syncTask, { body: req.body ?? Buffer.alloc(0), context }, context.projectId);
    const sync = { ...checked, ...signedInWriter(res), key, settings, ...EDIT };
    res.status(201).json(toAnswer(await createDashboard(postgres, sync)));
  });

  on(`PUT ${ONE}`, readSyncBody, async (req, res) => {
    await takeRate(res);
    const { base_version: baseVersion, dry_run: dryRun } = parseParameters(changeQuery, req.query);
    const { id, key } = await requireDashboard(postgres, readerOf(res), String(req.params.dashboardID));
    const context = await contextOf(res, key);
    const checked = await threads.run(syncTask, { body: req.body ?? Buffer.alloc(0), context }, context.projectId);
    const sync = { ...checked, ...signedInWriter(res), key, settings, ...EDIT, isDryRun: dryRun === 'true' };
    res.json(toAnswer(await changeDashboard(postgres, { ...sync, id, baseVersion })));
  });

  on(`POST ${ONE}/cards`, readJsonBody, async (req, res) => {
    await takeRate(res);
    const card = parseJsonBody(newCardSchema, req.body);
    const dashboard = await requireDashboard(postgres, readerOf(res), String(req.params.dashboardID));
    await store(res, dashboard, (text) => threads.run(addCardTask, { ...text, card }, projectIdOf(res)));
  });

  on(`POST ${ONE}/alerts`, readJsonBody, async (req, res) => {
    await takeRate(res);
    await storeWith(res, req.params.dashboardID, { list: 'alerts', item: parseJsonBody(alertSchema, req.body) });
  });

  on(`POST ${ONE}/reports`, readJsonBody, async (req, res) => {
    await takeRate(res);
    await storeWith(res, req.params.dashboardID, { list: 'reports', item: parseJsonBody(reportSchema, req.body) });
  });

  on(`POST ${ONE}/draft`, readDraftBody, async (req, res) => {
    await takeRate(res);
    const draft = parseJsonBody(draftBodySchema, req.body);
    const { key } = await requireDashboard(postgres, readerOf(res), String(req.params.dashboardID));
    const context = await contextOf(res, key);
    res.json(await threads.run(draftTask, { draft, context }, context.projectId));
  });

  on(`GET ${ONE}/versions`, async (req, res) => {
    res.json(await listVersions(postgres, readerOf(res), String(req.params.dashboardID)));
  });

  on(`GET ${ONE}/versions/{version}`, async (req, res) => {
    const { dashboardID, version } = req.params;
    const asked = { dashboardId: String(dashboardID), version: String(version) };
    res.json(await requireVersion(postgres, readerOf(res), asked));
  });

  on(`POST ${ONE}/queries`, readJsonBody, async (req, res) => {
    const { config } = await requireDashboard(postgres, readerOf(res), String(req.params.dashboardID));
    const { variables } = parseFillBody(req.body ?? {});
    const { timezone } = await contextOf(res, '');
    res.json(fillCards(config, new Map(Object.entries(variables)), config.timezone ?? timezone));
  });
}

const readerOf = (res: Response): Reader & { readonly personId: string } => ({
  projectId: projectIdOf(res),
  personId: personOf(res).personId,
});
