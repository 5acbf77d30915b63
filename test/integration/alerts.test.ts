// Alerts of dashboards on the real processes, with two workers: each change of state is told once,
// also when a worker is killed; messages are retried; failing checks, quotas and dry runs.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { forgetRows } from '../../src/alerts/delivery-store.js';
import { signatureOf } from '../../src/alerts/webhook.js';
import { toProjectId } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { type Answer, createTeam, createTeamProject, send, type TestTeam } from '../support/accounts.js';
import { type AlertFields, alertDocument, DAILY, unsubscribePathIn } from '../support/alert-documents.js';
import { eventually } from '../support/eventually.js';
import { startMailServer, type TestMailServer } from '../support/mail-server.js';
import { runScheduled } from '../support/scheduled-jobs.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { track } from '../support/track.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const ALERTS_MAX = 12;

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;
let receiver: WebhookReceiver;
let smtp: TestMailServer;
let team: TestTeam;
let project: NewProject;

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

let hooks = 0;
const newHook = (): string => `/hook-${++hooks}`;

async function sync(alerts: readonly AlertFields[], { key = 'sales' } = {}): Promise<Answer> {
  return send(processes.url, `PUT /api/dashboard-sync/${key}`, {
    key: project.secretKey,
    body: { source_yaml: alertDocument(alerts) },
  });
}

const asOwner = (route: string, body?: unknown): Promise<Answer> =>
  send(processes.url, route.replace('{project}', `/api/projects/${project.id}`), {
    session: team.people.owner.session,
    ...(body !== undefined && { body }),
  });

const listed = async (): Promise<Answer['body']> => (await asOwner('GET {project}/alerts')).body;
const checksOf = async (id: string): Promise<Answer['body']> =>
  (await asOwner(`GET {project}/alerts/${id}/checks`)).body;

const run = (queue: 'check-alerts' | 'send-alerts') =>
  runScheduled(databases, { queue, schedule: queue, everyMs: 5000 });

/** The first check after a document is saved is due at once. */
async function firstCheck(): Promise<void> {
  await run('check-alerts');
  await eventually(async () => {
    for (const { checked_at } of await listed()) expect(checked_at).not.toBeNull();
  });
}

/** Makes all alerts of the project due, and waits until they have been checked. */
async function checkNow(): Promise<void> {
  const [{ now }] = (await postgres.raw('SELECT now() AS now')).rows;
  await postgres('alerts').where({ project_id: project.id }).update({ next_due_at: now });
  await run('check-alerts');
  await eventually(async () => {
    const rows = await postgres('alerts').where({ project_id: project.id }).select('checked_at');
    for (const { checked_at } of rows) expect(checked_at.getTime()).toBeGreaterThanOrEqual(now.getTime());
  });
}

async function purchase(): Promise<void> {
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

const received = (path: string, count: number) =>
  eventually(async () => {
    const found = receiver.at(path);
    if (found.length < count) await run('send-alerts');
    expect(found).toHaveLength(count);
    return found;
  });

const deliveries = () => postgres('alert_deliveries').where({ project_id: project.id }).orderBy('transition');

describe('an alert', () => {
  test('is told once when it turns and once when it is well, signed, to webhooks and by mail', async () => {
    const hook = newHook();
    const mail = 'ops@example.com';
    expect((await sync([{ id: 'silent', to: [receiver.url + hook, `mailto:${mail}`] }])).status).toBe(201);
    await firstCheck();
    await checkNow();
    const [first] = await received(hook, 1);
    expect(first?.body).toMatchObject({ alert: 'silent', dashboard: 'sales', before: 'ok', state: 'firing', value: 0 });
    expect(first?.body.text).toMatch(/^Firing: silent \(Sales\)\nvalue is 0; the condition value &lt; 1 holds\n/);
    expect(first?.body.content).toContain('the condition value < 1 holds');
    const { secret } = (await asOwner('GET {project}/webhook-secret')).body;
    const signature = String(first?.headers['x-signature']);
    const [, seconds] = /^t=(\d+),/.exec(signature) ?? [];
    expect(signature).toBe(signatureOf(first?.text ?? '', secret, Number(seconds)));
    expect(await smtp.mailTo(mail)).toMatch(/^Subject: Firing: silent \(Sales\)\r?$/m);

    await purchase();
    await checkNow();
    await checkNow();
    const [, second] = await received(hook, 2);
    expect(second?.body).toMatchObject({ before: 'firing', state: 'ok', value: 1 });
    expect(second?.headers['x-delivery-id']).not.toBe(first?.headers['x-delivery-id']);

    const [alert] = await listed();
    expect(alert).toMatchObject({
      key: 'silent',
      state: 'ok',
      to: [receiver.url, `mailto:${mail}`],
      every_seconds: 86_400,
    });
    const checks = await checksOf(alert.id);
    expect(checks.map(({ state }: { state: string }) => state)).toEqual(['ok', 'ok', 'firing', 'firing']);
    expect(checks[1].deliveries).toEqual([
      expect.objectContaining({ to: receiver.url, status: 'sent', attempts: 1 }),
      expect.objectContaining({ to: `mailto:${mail}`, status: 'sent' }),
    ]);
  });

  test('names the rows that fulfill the condition, until the message is sent', async () => {
    await purchase();
    const hook = newHook();
    const query = 'purchase | last 1h | count by event_properties.kind';
    receiver.status = 500;
    await sync([{ query, when: 'value > 0', to: [receiver.url + hook] }]);
    await firstCheck();
    const [first] = await received(hook, 1);
    expect(first?.body.text).toContain('event_properties.kind a');
    expect((await deliveries())[0]).toMatchObject({ status: 'waiting', rows: [expect.objectContaining({ value: 1 })] });
    receiver.status = 200;
    await postgres('alert_deliveries').where({ project_id: project.id }).update({ next_attempt_at: postgres.fn.now() });
    const [, again] = await received(hook, 2);
    expect(again?.headers['x-delivery-id']).toBe(first?.headers['x-delivery-id']);
    await eventually(async () =>
      expect((await deliveries())[0]).toMatchObject({ status: 'sent', rows: null, attempts: 2 }),
    );
  });

  test('loses the rows of waiting messages, and the results of running checks, when a person is erased', async () => {
    await purchase();
    const hook = newHook();
    receiver.status = 500;
    await sync([
      { query: 'purchase | last 1h | count by event_properties.kind', when: 'value > 0', to: [receiver.url + hook] },
    ]);
    await firstCheck();
    await received(hook, 1);
    const far = postgres.raw(`now() + interval '1 hour'`);
    await postgres('alerts').where({ project_id: project.id }).update({ claim_id: project.id, claimed_until: far });
    await forgetRows(postgres, toProjectId(project.id));
    expect((await deliveries())[0]).toMatchObject({ status: 'waiting', rows: null });
    expect(await postgres('alerts').where({ project_id: project.id }).first()).toMatchObject({ claim_id: null });
  });

  test('whose checks fail says so once, after three of them, and once when they work again', async () => {
    const hook = newHook();
    await sync([{ when: 'value < 0', to: [receiver.url + hook] }]);
    await firstCheck();
    // Saved documents are checked, so a query that cannot run is stored directly.
    await postgres('alerts').where({ project_id: project.id }).update({ query: 'purchase | nonsense' });
    for (let check = 0; check < 2; check++) await checkNow();
    expect(await listed()).toMatchObject([{ state: 'ok' }]);
    for (let check = 0; check < 2; check++) await checkNow();
    const [told] = await received(hook, 1);
    expect(told?.body).toMatchObject({ before: 'ok', state: 'failing', value: null });
    expect(told?.body.text).toContain('Three checks in a row failed: ');
    await postgres('alerts').where({ project_id: project.id }).update({ query: DAILY.query });
    await checkNow();
    const [, well] = await received(hook, 2);
    expect(well?.body).toMatchObject({ before: 'failing', state: 'ok' });
  });

  test('that has missed times is checked once, and then at its own times again', async () => {
    await sync([{ when: 'value < 0', every: '1h' }]);
    await firstCheck();
    const missed = postgres.raw(`now() - interval '5 hours' - interval '10 minutes'`);
    await postgres('alerts').where({ project_id: project.id }).update({ next_due_at: missed });
    await run('check-alerts');
    const [{ id }] = await listed();
    await eventually(async () => expect(await checksOf(id)).toHaveLength(2));
    const { rows } = await postgres.raw(
      'SELECT extract(epoch FROM next_due_at - now()) / 60 AS minutes FROM alerts WHERE id = ?',
      [id],
    );
    expect(Number(rows[0].minutes)).toBeGreaterThan(45);
    expect(Number(rows[0].minutes)).toBeLessThanOrEqual(50);
    await run('check-alerts');
    expect(await checksOf(id)).toHaveLength(2);
  });

  test('starts again with another condition, and keeps its state with other targets', async () => {
    const [before, after] = [newHook(), newHook()];
    await sync([{ to: [receiver.url + before] }]);
    await firstCheck();
    await received(before, 1);
    await sync([{ to: [receiver.url + after] }]);
    await checkNow();
    expect(await listed()).toMatchObject([{ state: 'firing' }]);
    expect((await deliveries()).map(({ target }) => target)).toEqual([receiver.url + before]);
    await sync([{ to: [receiver.url + after], when: 'value < 2' }]);
    expect(await listed()).toMatchObject([{ state: 'ok' }]);
    await checkNow();
    await received(after, 1);
  });

  test('is deleted with its dashboard, and does not run in a personal one', async () => {
    await sync([{}]);
    expect(await listed()).toHaveLength(1);
    await sync([]);
    expect(await listed()).toEqual([]);
    await sync([{}]);
    await send(processes.url, 'DELETE /api/dashboard-sync/sales', { key: project.secretKey });
    expect(await listed()).toEqual([]);
    const created = await asOwner('POST {project}/dashboards?key=own', { source_yaml: alertDocument([{}]) });
    expect(created).toMatchObject({ status: 201, body: { dashboard: { visibility: 'personal' } } });
    expect(await listed()).toEqual([]);
  });
});

describe('the alerts of a project', () => {
  test('are limited', async () => {
    const alerts = Array.from({ length: ALERTS_MAX }, () => ({}));
    expect((await sync(alerts)).status).toBe(201);
    const error = `a project has at most ${ALERTS_MAX} alerts; delete one first (setting ALERTS_PER_PROJECT_MAX)`;
    expect(await sync([{}], { key: 'other' })).toMatchObject({ status: 403, body: { error } });
    expect((await sync(alerts.slice(1))).status).toBe(200);
    expect((await sync([{}], { key: 'other' })).status).toBe(201);
  });

  test('are told once each by two workers, while workers are killed and restarted', async () => {
    const paths = Array.from({ length: ALERTS_MAX }, newHook);
    // Each answer takes so long that workers are killed in the middle.
    receiver.delayMs = 150;
    await sync(paths.map((path) => ({ to: [receiver.url + path] })));
    const kill = async (name: string): Promise<void> => {
      await processes.get(name).kill();
      // A killed process holds its claims for a minute; the test does not wait for it.
      const past = postgres.raw(`now() - interval '1 second'`);
      for (const table of ['alerts', 'alert_deliveries']) {
        await postgres(table)
          .where({ project_id: project.id })
          .whereNotNull('claim_id')
          .update({ claimed_until: past });
      }
      await processes.start('worker', name);
    };
    for (const name of ['worker', 'second worker', 'worker']) {
      await run('check-alerts');
      await run('send-alerts');
      await kill(name);
    }
    await eventually(async () => {
      await run('check-alerts');
      await run('send-alerts');
      for (const path of paths) expect(receiver.at(path).length).toBeGreaterThan(0);
      for (const { status } of await deliveries()) expect(status).toBe('sent');
    }, 60_000);
    await purchase();
    await checkNow();
    await eventually(async () => {
      await run('send-alerts');
      expect((await deliveries()).filter(({ status }) => status === 'sent')).toHaveLength(2 * ALERTS_MAX);
    }, 60_000);
    for (const path of paths) {
      const told = new Map(receiver.at(path).map(({ headers, body }) => [headers['x-delivery-id'], body.state]));
      expect([...told.values()]).toEqual(['firing', 'ok']);
    }
  }, 180_000);
});

test('a message to a private address fails visibly, and is not tried again', async () => {
  await sync([{ to: ['http://10.0.0.1/hook', 'http://169.254.169.254/latest'] }]);
  await firstCheck();
  await run('send-alerts');
  const [{ id }] = await listed();
  await eventually(async () => {
    const [{ deliveries: sent }] = await checksOf(id);
    expect(sent).toEqual([
      expect.objectContaining({ to: 'http://10.0.0.1', status: 'failed', attempts: 1 }),
      expect.objectContaining({
        to: 'http://169.254.169.254',
        status: 'failed',
        error: expect.stringContaining('not a public'),
      }),
    ]);
  });
});

describe('a dry run', () => {
  test('of a query and a condition tells what would be sent, and sends nothing', async () => {
    const asked = { query: DAILY.query, when: 'value < 1' };
    expect(await asOwner('POST {project}/alerts/dry-run', asked)).toMatchObject({
      status: 200,
      body: { outcome: 'firing', value: 0, error: null, text: expect.stringContaining('value is 0') },
    });
    const calm = await asOwner('POST {project}/alerts/dry-run', { ...asked, when: 'no rows' });
    expect(calm.body).toMatchObject({ outcome: 'ok', text: null });
    expect(await deliveries()).toEqual([]);
  });

  test.each([
    [{ when: 'valu < 1' }, 'when: the query has no column "valu"; nearest is "value"'],
    [{ when: 'value' }, 'when: the condition has no comparison'],
    [{ query: 'purchase | cont' }, 'query: '],
    [{ timezone: 'Mars' }, 'timezone is an IANA name such as Europe/Berlin'],
    [{ every: '1d' }, 'Unrecognized key'],
  ])('with %j is refused', async (fields, error) => {
    const answer = await asOwner('POST {project}/alerts/dry-run', { query: DAILY.query, when: 'value < 1', ...fields });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(error) } });
  });

  test('of a saved alert compares with its state, and stores nothing', async () => {
    await sync([{}]);
    await firstCheck();
    const [{ id }] = await listed();
    const answer = await asOwner(`POST {project}/alerts/${id}/dry-run`);
    expect(answer).toMatchObject({ status: 200, body: { outcome: 'firing', value: 0, text: null } });
    expect(await checksOf(id)).toHaveLength(1);
    expect(await asOwner('POST {project}/alerts/none/dry-run')).toMatchObject({ status: 404 });
  });
});

describe('a mailbox', () => {
  const post = (path: string) => send(processes.url, `POST ${path}`);

  test('unsubscribes by one request without a session, and subscribes again', async () => {
    const address = 'reader@example.com';
    await sync([{ to: [`mailto:${address}`] }]);
    await firstCheck();
    await run('send-alerts');
    const mail = await smtp.mailTo(address);
    expect(mail).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m);
    const pathname = unsubscribePathIn(mail);
    const page = await send(processes.url, `GET ${pathname}`);
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining(`${address} gets mails`) });

    expect(await post(pathname)).toMatchObject({ status: 200, body: expect.stringContaining('gets no more mails') });
    await purchase();
    await checkNow();
    await eventually(async () => {
      await run('send-alerts');
      expect((await deliveries())[1]).toMatchObject({ status: 'failed', error: 'the receiver has unsubscribed' });
    });
    expect(await post(`${pathname}?again=true`)).toMatchObject({ body: expect.stringContaining('gets mails') });
    expect(await postgres('alert_unsubscribes')).toEqual([]);
  });
});

test('the key of webhook signatures is kept until an admin replaces it', async () => {
  const { secret } = (await asOwner('GET {project}/webhook-secret')).body;
  expect(secret).toMatch(/^whs_[0-9A-Za-z]{32}$/);
  expect((await asOwner('GET {project}/webhook-secret')).body).toEqual({ secret });
  const { body } = await asOwner('POST {project}/rotate-webhook-secret');
  expect(body.secret).not.toBe(secret);
  expect((await asOwner('GET {project}/webhook-secret')).body).toEqual(body);
});
