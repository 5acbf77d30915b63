// Routes of alerts for signed-in people: list, last checks, dry runs, and the key of webhook
// signatures.
import type { Response, Router } from 'express';
import { createGuardedRouter, type GuardDeps, projectIdOf } from '../access/guarded-router.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import { personOf } from '../access/session-middleware.js';
import { type QueryNamesDeps, readQueryNames } from '../definitions/query-names.js';
import { PublicError } from '../platform/errors.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import { untilClosed } from '../platform/http/until-closed.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import type { AlertDryRun, AlertItem } from './answers.js';
import { toMessage, toResult } from './check-due.js';
import { toText } from './message.js';
import { findAlert, listAlerts, listChecks } from './read-store.js';
import type { RunAlertQuery } from './run-query.js';
import { dryRunBody, dryRunTask } from './schema.js';
import { type AlertState, advance } from './state.js';
import type { WebhookSecrets } from './webhook-secret.js';

export interface AlertRoutesDeps extends GuardDeps, QueryNamesDeps {
  readonly rateLimit: LayeredRateLimit;
  readonly threads: ThreadPool;
  readonly runQuery: RunAlertQuery;
  readonly secrets: WebhookSecrets;
  readonly publicUrl: URL;
}

const ALL = '/api/projects/{projectID}/alerts';
const ONE = `${ALL}/{alertID}` as const;

type Asked = Pick<AlertItem, 'key' | 'dashboard' | 'query' | 'when' | 'timezone' | 'state'>;

export function createAlertsRouter(deps: AlertRoutesDeps): Router {
  const { postgres, rateLimit, threads, secrets } = deps;
  const { router, on } = createGuardedRouter(deps);
  const requireAlert = async (res: Response, id: unknown): Promise<AlertItem> => {
    const alert = await findAlert(postgres, projectIdOf(res), String(id));
    if (alert === undefined) throw new PublicError('not_found', 'there is no such alert');
    return alert;
  };
  const showSecret = (secret: string | undefined) => {
    if (secret !== undefined) return { secret };
    throw new PublicError('unavailable', 'the key cannot be decrypted, because SECRET_KEY_BASE has changed; rotate it');
  };

  on(`GET ${ALL}`, async (_req, res) => {
    res.json(await listAlerts(postgres, projectIdOf(res)));
  });
  on(`POST ${ALL}/dry-run`, readJsonBody, async (req, res) => {
    const [projectId, { personId }] = [projectIdOf(res), personOf(res)];
    await rateLimit.take({ key: personId, project: projectId, person: personId });
    const { query, when, timezone } = parseJsonBody(dryRunBody, req.body);
    const project = await postgres('projects').where({ id: projectId }).first('timezone');
    const names = await readQueryNames(deps, projectId);
    const context = { projectId, nowMs: Date.now(), timezone: timezone ?? project.timezone, ...names };
    const { sentences, details } = await threads.run(dryRunTask, { alert: { query, when }, context }, projectId);
    if (sentences.length > 0) {
      throw new PublicError('bad_request', sentences.join('. '), details.length > 0 ? { details } : {});
    }
    const state: AlertState = 'ok';
    const alert = { ...{ key: 'alert', query, when, state }, dashboard: null, timezone: context.timezone };
    res.json(await dryRun(deps, res, alert));
  });
  on(`POST ${ONE}/dry-run`, async (req, res) => {
    res.json(await dryRun(deps, res, await requireAlert(res, req.params.alertID)));
  });
  on(`GET ${ONE}/checks`, async (req, res) => {
    const { id } = await requireAlert(res, req.params.alertID);
    res.json(await listChecks(postgres, id));
  });
  on('GET /api/projects/{projectID}/webhook-secret', async (_req, res) => {
    res.json(showSecret(await secrets.require(projectIdOf(res))));
  });
  on('POST /api/projects/{projectID}/rotate-webhook-secret', async (_req, res) => {
    res.json(showSecret(await secrets.rotate(projectIdOf(res))));
  });
  return router;
}

/** Checks the condition now. Stores and sends nothing. */
async function dryRun(
  { postgres, runQuery, publicUrl }: AlertRoutesDeps,
  res: Response,
  alert: Asked,
): Promise<AlertDryRun> {
  const [projectId, { personId }] = [projectIdOf(res), personOf(res)];
  const { query, timezone, when, state: before } = alert;
  const answer = await runQuery({ projectId, personId, query, timezone }, untilClosed(res));
  if (answer.kind === 'busy')
    throw new PublicError('rate_limited', 'too many queries of this project at once; try again');
  const result = toResult(answer, when);
  const { outcome, value, error, rows } = result;
  const { state } = advance({ state: before, failures: 0 }, outcome);
  const at = new Date().toISOString();
  const { name } = await postgres('projects').where({ id: projectId }).first('name');
  const source = { ...alert, projectId, projectName: name, condition: when, dashboard: alert.dashboard ?? undefined };
  const message = toMessage({ publicUrl }, source, { before, state, result, at });
  // One failed check tells nothing: a message follows the third.
  const text = state === before ? null : toText(message, rows);
  return { outcome, value, error, rows, text };
}
