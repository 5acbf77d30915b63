// Mails of alerts and reports that wait in the mail queue: an erasure removes their rows before its
// receipt, and the deletion of their project removes them.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createMailQueue, type MailQueue } from '../../src/mail/queue.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createTeamProject, send } from '../support/accounts.js';
import { REPORT_CARDS, reports } from '../support/alert-documents.js';
import {
  databases,
  deliveries,
  firstCheck,
  makeDue,
  newHook,
  postgres,
  processes,
  project,
  purchase,
  receiver,
  run,
  smtp,
  startAlerting,
  sync,
  team,
} from '../support/alerting.js';
import { eventually } from '../support/eventually.js';

startAlerting();

let redis: Redis;
let queue: MailQueue;

beforeAll(() => {
  redis = createRedis(databases.config);
  queue = createMailQueue(redis);
});

afterAll(async () => {
  await queue?.close();
  redis?.disconnect();
});

const waitingMails = async () =>
  (await queue.getJobs(['waiting', 'delayed'])).filter(({ id }) => id?.startsWith(project.id));

/** Mails of an alert and of a report, which wait because the mail server refuses the password. */
async function queueMails({ alert, report }: { alert: string; report: string }): Promise<void> {
  const query = 'purchase | last 1h | count by event_properties.kind';
  await sync([{ query, when: 'value > 0', to: [`mailto:${alert}`] }], {
    cards: REPORT_CARDS,
    reports: reports({ to: [`mailto:${report}`] }),
  });
  await firstCheck();
  await makeDue(7);
  await run('run-reports');
  await eventually(async () => {
    await run('send-alerts');
    expect(await waitingMails()).toHaveLength(2);
  });
}

beforeEach(async () => {
  smtp.isPasswordKnown = false;
  // Of a first attempt that failed.
  for (const mail of await waitingMails()) await mail.remove();
  await purchase();
});

test('a waiting mail is sent without rows after an erasure in its project', async () => {
  const addresses = { alert: 'alert@example.com', report: 'report@example.com' };
  await queueMails(addresses);
  const neighbour = await createTeamProject(postgres, databases, team.organization.id);
  const erase = async (key: string) =>
    expect(await send(processes.url, 'DELETE /api/gdpr/users/u', { key })).toMatchObject({ status: 200 });
  const withRows = async () => (await waitingMails()).filter(({ data }) => data.withoutRows !== undefined);
  await erase(neighbour.secretKey);
  expect(await withRows()).toHaveLength(2);
  await erase(project.secretKey);
  // An attempt that began before the erasure still has the rows, until it is refused.
  await eventually(async () => expect(await waitingMails()).toHaveLength(2));
  expect(await withRows()).toHaveLength(0);

  smtp.isPasswordKnown = true;
  await queue.promoteJobs();
  const alert = await smtp.mailTo(addresses.alert);
  expect(alert).toMatch(/^Subject: Firing: alert-0 \(Sales\)\r?$/m);
  expect(alert).not.toContain('event_properties.kind a');
  const report = await smtp.mailTo(addresses.report);
  expect(report).toContain('The numbers were deleted while this report waited');
  expect(report).not.toContain('Orders');
});

test('a message that has not been sent has no rows after an erasure in its project', async () => {
  receiver.status = 500;
  const query = 'purchase | last 1h | count by event_properties.kind';
  await sync([{ query, when: 'value > 0', to: [receiver.url + newHook()] }]);
  await firstCheck();
  const rows = async () => (await deliveries()).map(({ rows: those }) => those);
  await eventually(async () => expect(await rows()).toEqual([[expect.anything()]]));
  expect(await send(processes.url, 'DELETE /api/gdpr/users/u', { key: project.secretKey })).toMatchObject({
    status: 200,
  });
  expect(await rows()).toEqual([null]);
});

test('a waiting mail is not sent after its project has been deleted', async () => {
  await queueMails({ alert: 'gone-alert@example.com', report: 'gone-report@example.com' });
  await postgres('projects').where({ id: project.id }).update({ deleted_at: postgres.fn.now() });
  await eventually(async () => expect(await waitingMails()).toHaveLength(0), 60_000);
  expect(smtp.mails.filter((mail) => mail.includes('gone-'))).toHaveLength(0);
});
