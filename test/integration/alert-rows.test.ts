// Rows of alerts and reports in PostgreSQL when their document, the time zone of their project or a
// clock changes: what keeps its state and its time, and which results still count.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOrganization, createProject } from '../../src/accounts/store.js';
import { claimDueAlert, recordCheck } from '../../src/alerts/check-store.js';
import type { AlertConfig } from '../../src/alerts/config-schema.js';
import type { AlertMessage } from '../../src/alerts/message.js';
import { OwnerTurns } from '../../src/alerts/owner-turns.js';
import { findAlert, listAlerts } from '../../src/alerts/read-store.js';
import { type AlertsOfDocument, syncAlerts } from '../../src/alerts/sync-alerts.js';
import { newUuidV7, type ProjectId, toProjectId } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import type { ReportMessage } from '../../src/reports/message.js';
import { findReport, findReportable, listReports } from '../../src/reports/read-store.js';
import { claimDueReport, recordFailedRun, recordRun, rescheduleReports } from '../../src/reports/report-store.js';
import { signIn } from '../support/accounts.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const CLAIM_SECONDS = 60;
const HOUR_MS = 3_600_000;

let databases: TestDatabases;
let postgres: Postgres;
let projectId: ProjectId;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
});

beforeEach(async () => {
  await postgres('alerts').delete();
  projectId = await newProject();
});

afterAll(async () => {
  await postgres?.destroy();
  await databases?.close();
});

async function newProject(): Promise<ProjectId> {
  const organization = await createOrganization(postgres, { name: 'Team', ownerId: (await signIn(postgres)).id });
  const { SECRET_KEY_BASE: secretKeyBase } = databases.config;
  const { id } = await createProject(postgres, { organizationId: organization.id, name: 'Shop', secretKeyBase });
  return toProjectId(id);
}

type Reports = AlertsOfDocument['reports'];

const TO = ['https://hooks.example.com/a'];
const ALERT: AlertConfig = { id: 'orders', query: 'a | count', when: 'value > 0', every: '1h', to: TO };
const REPORT: Reports[number] = { id: 'daily', at: 'daily 08:00', to: TO, dashboard: 'sales' };

/** Definitions with these alerts and reports. */
const sync = (
  { alerts = [], reports = [], timezone }: { alerts?: AlertConfig[]; reports?: Reports; timezone?: string },
  project = projectId,
): Promise<void> =>
  postgres.transaction((transaction) =>
    syncAlerts(transaction, {
      ...{ projectId: project, dashboardId: null, alerts, reports, timezone, settings: databases.config },
    }),
  );

async function rowOf(key: string, project = projectId) {
  const row = await postgres('alerts').where({ project_id: project, key }).first();
  return { ...row, dueInMs: row.next_due_at.getTime() - Date.now() };
}

const setDue = (interval: string) =>
  postgres('alerts').update({ next_due_at: postgres.raw('now() + ?::interval', [interval]) });

async function claimAlert() {
  const claimed = await claimDueAlert(postgres, new OwnerTurns(), CLAIM_SECONDS);
  if (claimed === undefined) throw new Error('no alert is due');
  return claimed;
}

async function claimReport() {
  const claimed = await claimDueReport(postgres, new OwnerTurns(), CLAIM_SECONDS);
  if (claimed === undefined) throw new Error('no report is due');
  return claimed;
}

const FIRING = { outcome: 'firing', value: 3, error: null, rows: [] } as const;
const recordFiring = (claimed: Awaited<ReturnType<typeof claimAlert>>): Promise<void> =>
  recordCheck(postgres, claimed, FIRING, (before, state) => ({ before, state }) as AlertMessage);

const toldTimes = async (): Promise<number> =>
  (await postgres('alert_deliveries').where({ project_id: projectId })).length;

test.each([
  ['condition', { alerts: [{ ...ALERT, when: 'value > 9' }] }],
  ['query', { alerts: [{ ...ALERT, query: 'b | count' }] }],
  ['time zone', { alerts: [ALERT], timezone: 'Asia/Tokyo' }],
])('a check that runs while the %s of its alert changes is not recorded', async (_, changed) => {
  await sync({ alerts: [ALERT] });
  await recordFiring(await claimAlert());
  expect([(await rowOf('orders')).state, await toldTimes()]).toEqual(['firing', 1]);
  await setDue('0');
  const claimed = await claimAlert();
  await setDue('1 hour');
  await sync(changed);
  expect(await rowOf('orders')).toMatchObject({ state: 'ok', failures: 0, changed_at: null });
  await recordFiring(claimed);
  expect([(await rowOf('orders')).state, await toldTimes()]).toEqual(['ok', 1]);
  // It is due at once, by another claim.
  await recordFiring(await claimAlert());
  expect([(await rowOf('orders')).state, await toldTimes()]).toEqual(['firing', 2]);
});

test('another interval and other targets keep the state and a running check of an alert', async () => {
  await sync({ alerts: [ALERT] });
  await recordFiring(await claimAlert());
  await sync({ alerts: [{ ...ALERT, every: '1m' }] });
  expect((await rowOf('orders')).dueInMs).toBeLessThanOrEqual(60_000);
  await sync({ alerts: [{ ...ALERT, every: '1d', to: ['mailto:a@example.com'] }] });
  const { dueInMs, state, targets } = await rowOf('orders');
  expect([state, targets, dueInMs <= 60_000]).toEqual(['firing', ['mailto:a@example.com'], true]);
  await setDue('0');
  const claimed = await claimAlert();
  await sync({ alerts: [ALERT] });
  await recordCheck(
    postgres,
    claimed,
    { ...FIRING, outcome: 'ok' },
    (before, state) => ({ before, state }) as AlertMessage,
  );
  expect((await rowOf('orders')).state).toBe('ok');
});

test('an alert and a report of one id are two, and a document deletes no rows of another project', async () => {
  const other = await newProject();
  await sync({ alerts: [ALERT] }, other);
  await sync({ alerts: [ALERT], reports: [{ ...REPORT, id: ALERT.id }] });
  const ids = async () => postgres('alerts').where({ project_id: projectId }).orderBy('position').pluck('id');
  const [, report] = await ids();
  await sync({ reports: [{ ...REPORT, id: ALERT.id }] });
  expect(await ids()).toEqual([report]);
  expect(await postgres('alerts').where({ project_id: other }).pluck('kind')).toEqual(['alert']);
});

test('alerts and reports of another project are neither listed nor found', async () => {
  const other = await newProject();
  await sync({ alerts: [ALERT], reports: [REPORT] }, other);
  const [[alert], [report]] = [await listAlerts(postgres, other), await listReports(postgres, other)];
  expect([alert?.key, report?.key]).toEqual(['orders', 'daily']);
  expect([await listAlerts(postgres, projectId), await listReports(postgres, projectId)]).toEqual([[], []]);
  expect(await findAlert(postgres, projectId, String(alert?.id))).toBeUndefined();
  expect(await findReport(postgres, projectId, String(report?.id))).toBeUndefined();
  // Each is found as what it is.
  expect(await findAlert(postgres, other, String(report?.id))).toBeUndefined();
  expect(await findReport(postgres, other, String(alert?.id))).toBeUndefined();
});

test('a report of definitions names a dashboard that all members of its own project see', async () => {
  const other = await newProject();
  const person = await signIn(postgres);
  const add = async (project_id: ProjectId, visibility: 'personal' | 'project') => {
    const id = newUuidV7();
    const of = { id, project_id, visibility, owner_id: person.id, title: 'Sales', checksum: '' };
    await postgres('dashboards').insert({ ...of, key: 'sales', version: 1 });
    return id;
  };
  await add(other, 'project');
  await add(projectId, 'personal');
  await sync({ reports: [REPORT] });
  expect(await listReports(postgres, projectId)).toMatchObject([{ key: 'daily', dashboard: null }]);
  expect(await findReportable(postgres, projectId, 'sales')).toBeUndefined();
  await setDue('0');
  expect((await claimReport()).dashboard).toBeUndefined();
  const own = await add(projectId, 'project');
  expect(await listReports(postgres, projectId)).toMatchObject([{ dashboard: { id: own } }]);
  expect(await findReportable(postgres, projectId, 'sales')).toMatchObject({ id: own });
  await postgres('alerts').update({ claimed_until: null });
  expect((await claimReport()).dashboard).toMatchObject({ id: own });
});

test('a report that is due stays due when its document is stored again, or its project moves', async () => {
  const other = await newProject();
  await sync({ reports: [REPORT] }, other);
  await sync({ reports: [REPORT, { ...REPORT, id: 'own', timezone: 'Asia/Tokyo' }] });
  await setDue('-1 minute');
  await postgres('alerts')
    .where({ project_id: projectId, key: 'own' })
    .update({ next_due_at: postgres.raw("now() + interval '1 minute'") });
  await sync({ reports: [REPORT, { ...REPORT, id: 'own', timezone: 'Asia/Tokyo' }] });
  await postgres('projects').where({ id: projectId }).update({ timezone: 'America/New_York' });
  await postgres.transaction((transaction) => rescheduleReports(transaction, projectId));
  const due = [await rowOf('daily'), await rowOf('own'), await rowOf('daily', other)].map(({ dueInMs }) => dueInMs);
  expect(due.map((ms) => Math.round(ms / 60_000))).toEqual([-1, 1, -1]);
  // One that is not due moves, and alerts do not.
  await sync({ alerts: [ALERT], reports: [REPORT] });
  await setDue('1 minute');
  await postgres.transaction((transaction) => rescheduleReports(transaction, projectId));
  expect(Math.round((await rowOf('orders')).dueInMs / 60_000)).toBe(1);
  const hour = (await rowOf('daily')).next_due_at.toLocaleTimeString('en-GB', { timeZone: 'America/New_York' });
  expect(hour).toBe('08:00:00');
});

const record = (claimed: Awaited<ReturnType<typeof claimReport>>): Promise<void> =>
  recordRun(postgres, claimed, {
    cards: [],
    message: ({ schedule, timezone }) => ({ schedule, timezone }) as ReportMessage,
  });

test('a run after a clock was set back makes no time due again', async () => {
  await sync({ reports: [REPORT] });
  await setDue('0');
  const claimed = await claimReport();
  await setDue('50 hours');
  await record(claimed);
  expect((await rowOf('daily')).dueInMs).toBeGreaterThan(50 * HOUR_MS - 60_000);
  expect(await toldTimes()).toBe(1);
});

test('a run that fails is repeated after a minute and counted, and one that does not begins again', async () => {
  await sync({ reports: [REPORT] });
  for (const failures of [1, 2]) {
    await setDue('0');
    await recordFailedRun(postgres, await claimReport(), 'no card');
    const { failures: counted, dueInMs } = await rowOf('daily');
    expect([counted, Math.round(dueInMs / 60_000)]).toEqual([failures, 1]);
  }
  await setDue('0');
  const claimed = await claimReport();
  expect([claimed.failures, await toldTimes()]).toEqual([2, 0]);
  await record(claimed);
  expect([(await rowOf('daily')).failures, await toldTimes()]).toEqual([0, 1]);
});
