// The tools dashboards and save_dashboard. The rules of the stores apply: who sees and who may
// write a dashboard, the versions, and the check of every query of a document.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { changeDashboard, createDashboard } from '../../dashboards/edit.js';
import { fillCards } from '../../dashboards/fill-cards.js';
import { writerOf } from '../../dashboards/requests.js';
import { parseDashboardKey } from '../../dashboards/schema.js';
import { type Dashboard, findDashboard, listDashboards } from '../../dashboards/store.js';
import { syncTask } from '../../dashboards/sync-task.js';
import { requireVersion } from '../../dashboards/versions.js';
import { VISIBILITIES } from '../../dashboards/visibility.js';
import { readQueryNames } from '../../definitions/query-names.js';
import { PublicError } from '../../platform/errors.js';
import { escapeLine } from '../../query/markdown-escape.js';
import { ask, type Call, describeCard, linkToDashboard, type ToolDeps } from './call.js';
import { cutSource } from './cut-source.js';
import { diffTask } from './diff-task.js';
import { listRows, textColumns } from './list-rows.js';
import { ANSWER_LENGTH_MAX, DATA_NOTE, ESCAPE_NOTE_LENGTH, noteEscapes } from './tool-answer.js';

export const dashboardsInput = z.strictObject({
  key: z.string().optional(),
  version: z.int32().min(1).optional(),
  run: z.boolean().default(false).describe('run all cards'),
  offset: z.int32().min(0).default(0),
});

/** Without a key, lists; with one, shows the document, or the answers of its cards. */
export async function showDashboards(
  deps: ToolDeps,
  call: Call,
  { key, version, run, offset }: z.infer<typeof dashboardsInput>,
): Promise<string> {
  const { postgres } = deps;
  const reader = writerOf(call.credential);
  if (key === undefined && (run || version !== undefined))
    throw new PublicError('bad_request', 'run and version need key; call dashboards without them for all keys');
  if (key === undefined) return listOf(deps, call, offset);
  const dashboard = await requireByKey(deps, call, key);
  const found =
    version === undefined
      ? dashboard
      : await requireVersion(postgres, reader, { dashboardId: dashboard.id, version: String(version) });
  const heading = `${key}, version ${found.version} of ${dashboard.version}, ${dashboard.visibility}\nConsole: ${linkToDashboard(deps, call, dashboard.id)}`;
  if (run) return runCards(deps, call, { config: found.config, heading });
  const said = `${heading}\n${DATA_NOTE}\n`;
  return said + cutSource(found.source_yaml, { offset, lengthMax: ANSWER_LENGTH_MAX - said.length });
}

async function listOf(deps: ToolDeps, call: Call, offset: number): Promise<string> {
  const items = await listDashboards(deps.postgres, writerOf(call.credential));
  const columns = textColumns('key', 'title', 'visibility', 'version', 'updated_at');
  const rows = items
    .slice(offset)
    .map((item) => [item.key, item.title, item.visibility, item.version, item.updated_at.toISOString()]);
  const said = `${items.length} dashboards\n${DATA_NOTE}\n`;
  const lengthMax = ANSWER_LENGTH_MAX - said.length - ROWS_LENGTH;
  return said + listRows({ columns, rows, total: items.length, offset, lengthMax });
}

async function requireByKey({ postgres }: ToolDeps, { credential }: Call, key: string): Promise<Dashboard> {
  const found = await findDashboard(postgres, writerOf(credential), parseDashboardKey(key));
  if (found === undefined)
    throw new PublicError('not_found', `there is no dashboard "${key}"; call dashboards for all`);
  return found;
}

const CARD_ROWS = 20;
/** The least that a card is worth running for. */
const CARD_LENGTH_MIN = 500;

type AskedCard =
  | { readonly title: string; readonly error: string }
  | { readonly title: string; readonly query: { readonly q: string; readonly timezone: string } };

interface Run {
  readonly config: Dashboard['config'];
  readonly heading: string;
}

/** One card after the other, each with an equal part of what is left of the answer. */
async function runCards(deps: ToolDeps, call: Call, { config, heading }: Run): Promise<string> {
  if (!call.credential.scopes.has('query')) {
    throw new PublicError('forbidden', 'running a dashboard takes a token with the scope query');
  }
  const cards = fillCards(config, new Map(), config.timezone ?? call.credential.timezone);
  const titles = new Map(config.sections.flatMap((section) => section.cards).map(({ id, title }) => [id, title]));
  const asked = cards.flatMap((card): AskedCard[] =>
    'error' in card
      ? [{ title: titles.get(card.id) ?? card.id, error: card.error }]
      : card.queries.map(({ name, ...query }) => ({ title: name, query })),
  );
  const deadline = deps.now() + deps.limits.timeoutMs;
  let text = `${heading}\n${DATA_NOTE}`;
  for (const [index, one] of asked.entries()) {
    const part = Math.floor((ANSWER_LENGTH_MAX - text.length - LAST_LENGTH) / (asked.length - index));
    if (part < CARD_LENGTH_MIN || deps.now() > deadline) {
      text += `\n\n${asked.length - index} more queries were not run; read the dashboard and run them with query.`;
      break;
    }
    const title = `\n\n## ${escapeLine(one.title)}\n`;
    text +=
      title +
      ('error' in one ? one.error : await runCard(deps, call, { ...one.query, lengthMax: part - title.length }));
  }
  return [text, ...noteEscapes(text)].join('\n\n');
}

/** Length reserved for the line that counts what was not run, and for the note on escapes. */
const LAST_LENGTH = 120 + ESCAPE_NOTE_LENGTH;
const ROWS_LENGTH = 100;

async function runCard(
  deps: ToolDeps,
  call: Call,
  { q, timezone, lengthMax }: { readonly q: string; readonly timezone: string; readonly lengthMax: number },
): Promise<string> {
  try {
    await deps.rateLimit.take({ project: call.credential.projectId });
    const asked = { q, timezone, limit: CARD_ROWS };
    const cut = await ask(deps, call, { asked, form: 'markdown', lengthMax: lengthMax - ROWS_LENGTH });
    return `${describeCard(cut)}\n${cut.text}`;
  } catch (error) {
    // One card must not hide the others.
    if (error instanceof PublicError) return error.message.slice(0, lengthMax).toWellFormed();
    throw error;
  }
}

export const saveInput = z.strictObject({
  key: z.string(),
  source_yaml: z.string(),
  base_version: z.int32().min(1).optional().describe('version read; refused if changed since'),
  visibility: z.enum(VISIBILITIES).optional(),
  dry_run: z.boolean().default(false).describe('check and diff only'),
});

/** Throws bad_request with every problem of the document. */
export async function saveDashboard(
  deps: ToolDeps,
  call: Call,
  { key: givenKey, source_yaml, base_version, visibility, dry_run: isDryRun }: z.infer<typeof saveInput>,
): Promise<string> {
  const { postgres, threads, settings } = deps;
  const { projectId, timezone } = call.credential;
  const key = parseDashboardKey(givenKey);
  const body = Buffer.from(JSON.stringify({ source_yaml, visibility }));
  const context = {
    ...{ key, projectId, timezone, nowMs: deps.now(), privateAddresses: settings.WEBHOOK_PRIVATE_ADDRESSES },
    ...(await readQueryNames(deps, projectId)),
  };
  const checked = await threads.run(syncTask, { body, context }, projectId);
  const writer = writerOf(call.credential);
  // A member who asks for a personal one never gets that of the project, as in a sync.
  const isOwn = !writer.isProjectEditor && visibility === 'personal';
  const existing = await findDashboard(postgres, writer, key, isOwn ? visibility : undefined);
  requireSameTold('alerts', existing?.config.alerts, checked.config.alerts);
  requireSameTold('reports', existing?.config.reports, checked.config.reports);
  const own = writer.personId === undefined ? 'project' : 'personal';
  const sync = {
    ...checked,
    ...writer,
    key,
    settings,
    isSynced: false,
    isDryRun,
    visibility: visibility ?? existing?.visibility ?? own,
  };
  const isMoved = existing !== undefined && existing.visibility !== sync.visibility;
  if (isMoved) requireNothingTold(existing);
  const compared = { before: existing?.source_yaml ?? '', after: source_yaml };
  const diff = await threads.run(diffTask, compared, projectId);
  if (existing === undefined) {
    if (base_version !== undefined)
      throw new PublicError('bad_request', `there is no dashboard "${key}" to change; leave base_version out`);
    const { dashboard } = await createDashboard(postgres, sync);
    if (isDryRun) return `would create ${key}, ${dashboard.visibility}\n${diff}`;
    return `created ${key}, ${dashboard.visibility}, version 1\nConsole: ${linkToDashboard(deps, call, dashboard.id)}\n${diff}`;
  }
  const change = { ...sync, visibility, id: existing.id, baseVersion: base_version ?? existing.version };
  const { dashboard, isChanged } = await changeDashboard(postgres, change);
  const link = `Console: ${linkToDashboard(deps, call, dashboard.id)}`;
  const moves = isDryRun ? 'would change' : 'changed';
  const moved = isMoved ? `; its visibility ${moves} from ${existing.visibility} to ${sync.visibility}` : '';
  if (!isChanged)
    return `${isDryRun ? 'would leave' : 'left'} ${key} at version ${dashboard.version}: the content is the same${moved}\n${link}`;
  const done = isDryRun
    ? `would change ${key}, now version ${dashboard.version}`
    : `saved ${key} as version ${dashboard.version}`;
  return `${done}${moved}\n${link}\n${diff}`;
}

/** Only alerts and reports of a dashboard of the project are sent. */
function requireNothingTold({ config: { alerts = [], reports = [] }, visibility }: Dashboard): void {
  if (alerts.length + reports.length === 0) return;
  throw new PublicError(
    'forbidden',
    `agents do not change the visibility of a dashboard with alerts or reports, which are sent for dashboards of the project; save it with visibility ${visibility}, and ask a person to change it`,
  );
}

/**
 * Alerts and reports send numbers to an address. An agent reads values that anyone may have sent,
 * so it must not choose that address.
 */
function requireSameTold(
  what: 'alerts' | 'reports',
  before: readonly unknown[] = [],
  after: readonly unknown[] = [],
): void {
  if (isDeepStrictEqual(before, after)) return;
  const message =
    before.length === 0
      ? `agents do not create ${what}, which send numbers to an address; save the dashboard without them, and ask a person to add them`
      : `agents do not change ${what}, which send numbers to an address; save the dashboard with the ${what} that it has`;
  throw new PublicError('forbidden', message);
}
