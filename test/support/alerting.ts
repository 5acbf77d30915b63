// Fixture of the tests of alerts and reports: the real processes, receivers of webhooks and mails,
// and a project for each test. Scheduled jobs are run at once, so that no test waits for them.
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { type Answer, createTeam, createTeamProject, send, type TestTeam } from './accounts.js';
import { type AlertFields, alertDocument, type DocumentParts } from './alert-documents.js';
import { eventually } from './eventually.js';
import { startMailServer, type TestMailServer } from './mail-server.js';
import { runScheduled } from './scheduled-jobs.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from './stack.js';
import { track } from './track.js';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.js';

export const ALERTS_MAX = 12;

export let databases: TestDatabases;
export let postgres: Postgres;
export let processes: ProcessGroup;
export let receiver: WebhookReceiver;
export let smtp: TestMailServer;
export let team: TestTeam;
export let project: NewProject;

/** Starts a web, a query and two worker processes for the tests of a file. */
export function startAlerting(): void {
  beforeAll(async () => {
    [receiver, smtp] = [await startWebhookReceiver(), await startMailServer()];
    databases = await createTestDatabases({
      WEBHOOK_PRIVATE_ADDRESSES: '127.0.0.1',
      SMTP_URL: smtp.url,
      ALERTS_PER_PROJECT_MAX: String(ALERTS_MAX),
      IDP_PRESET: 'google',
      IDP_CLIENT_ID: 'test',
      IDP_CLIENT_SECRET: 'test',
    });
    postgres = createPostgres(databases.config);
    processes = await startProcesses(databases.env);
    await processes.start('worker', 'second worker');
    team = await createTeam(postgres);
  }, 120_000);

  beforeEach(async () => {
    [receiver.status, receiver.delayMs] = [200, 0];
    project = await createTeamProject(postgres, databases, team.organization.id);
  });

  afterAll(async () => {
    await processes?.stop();
    await postgres?.destroy();
    await databases?.close();
    receiver?.close();
    smtp?.close();
  });
}

let hooks = 0;
export const newHook = (): string => `/hook-${++hooks}`;

export async function sync(
  alerts: readonly AlertFields[],
  { key = 'sales', ...more }: { readonly key?: string } & DocumentParts = {},
): Promise<Answer> {
  return send(processes.url, `PUT /api/dashboard-sync/${key}`, {
    key: project.secretKey,
    body: { source_yaml: alertDocument(alerts, more) },
  });
}

export const asOwner = (route: string, body?: unknown): Promise<Answer> =>
  send(processes.url, route.replace('{project}', `/api/projects/${project.id}`), {
    session: team.people.owner.session,
    ...(body !== undefined && { body }),
  });

export const listed = async (): Promise<Answer['body']> => (await asOwner('GET {project}/alerts')).body;
export const checksOf = async (id: string): Promise<Answer['body']> =>
  (await asOwner(`GET {project}/alerts/${id}/checks`)).body;

const EVERY_MS = { 'check-alerts': 5000, 'send-alerts': 5000, 'run-reports': 10_000 };

export const run = (queue: keyof typeof EVERY_MS) =>
  runScheduled(databases, { queue, schedule: queue, everyMs: EVERY_MS[queue] });

/** The first check after a document is saved is due at once. */
export async function firstCheck(): Promise<void> {
  await run('check-alerts');
  await eventually(async () => {
    for (const { checked_at } of await listed()) expect(checked_at).not.toBeNull();
  });
}

/** Makes all alerts of the project due, and waits until they have been checked. */
export async function checkNow(): Promise<void> {
  const [{ now }] = (await postgres.raw('SELECT now() AS now')).rows;
  await postgres('alerts').where({ project_id: project.id }).update({ next_due_at: now });
  await run('check-alerts');
  await eventually(async () => {
    const rows = await postgres('alerts').where({ project_id: project.id }).select('checked_at');
    for (const { checked_at } of rows) expect(checked_at.getTime()).toBeGreaterThanOrEqual(now.getTime());
  });
}

export async function purchase(): Promise<void> {
  await track(processes.url, project.publicKey, {
    event_type: 'purchase',
    user_id: 'u',
    event_properties: { kind: 'a' },
  });
  await eventually(async () => {
    const answer = await asOwner('POST {project}/query', { q: 'purchase | last 1h | count', format: 'json' });
    expect(answer.body.rows[0].value).toBeGreaterThan(0);
  });
}

export const received = (path: string, count: number) =>
  eventually(async () => {
    const found = receiver.at(path);
    if (found.length < count) await run('send-alerts');
    expect(found).toHaveLength(count);
    return found;
  });

export const deliveries = () => postgres('alert_deliveries').where({ project_id: project.id }).orderBy('transition');

export const listedReports = async (): Promise<Answer['body']> => (await asOwner('GET {project}/reports')).body;

/** All alerts and reports of the project, since `days`. */
export async function makeDue(days: number): Promise<void> {
  const since = postgres.raw('now() - make_interval(days => ?)', [days]);
  await postgres('alerts').where({ project_id: project.id }).update({ next_due_at: since });
}

/** `Monday 08:00`. */
export const localTime = (at: string, timeZone: string): string =>
  new Date(at).toLocaleString('en-GB', { timeZone, weekday: 'long', hour: '2-digit', minute: '2-digit' });
