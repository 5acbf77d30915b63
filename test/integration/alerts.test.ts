// Alerts and reports of dashboards on the real processes, with two workers: each change of state is
// told once, also when a worker is killed; messages are retried; failing checks, quotas, dry runs.
import { describe, expect, test } from 'vitest';
import { forgetRows } from '../../src/alerts/delivery-store.js';
import { signatureOf } from '../../src/alerts/webhook.js';
import { toProjectId } from '../../src/platform/ids.js';
import { send } from '../support/accounts.js';
import { alertDocument, DAILY, REPORT_CARDS, reports, unsubscribePathIn } from '../support/alert-documents.js';
import {
  ALERTS_MAX,
  asOwner,
  checkNow,
  checksOf,
  deliveries,
  firstCheck,
  listed,
  listedReports,
  localTime,
  makeDue,
  newHook,
  postgres,
  processes,
  project,
  purchase,
  received,
  receiver,
  run,
  smtp,
  startAlerting,
  sync,
} from '../support/alerting.js';
import { eventually } from '../support/eventually.js';

startAlerting();

describe('an alert', () => {
  test('is told once when it turns and once when it is well, signed, to webhooks and by mail', async () => {
    const hook = newHook();
    const mail = 'ops@example.com';
    const to = [receiver.url + hook, `mailto:${mail}`, 'MailTo:OPS@Example.com'];
    expect((await sync([{ id: 'silent', to }])).status).toBe(201);
    await firstCheck();
    await checkNow();
    const [first] = await received(hook, 1);
    expect(first?.body).toMatchObject({ alert: 'silent', dashboard: 'sales', before: 'ok', state: 'firing', value: 0 });
    expect(first?.body.text).toMatch(/^Firing: silent \(Sales\)\nvalue is 0; the condition value &lt; 1 holds\n/);
    expect(first?.body.content).toContain('the condition value < 1 holds');
    const { secret } = (await asOwner('GET {project}/webhook-secret')).body;
    const signature = String(first?.headers['x-signature']);
    expect(signature).toBe(signatureOf(first?.text ?? '', secret, Number(/^t=(\d+),/.exec(signature)?.[1])));
    expect(await smtp.mailTo(mail)).toMatch(/^Subject: Firing: silent \(Sales\)\r?$/m);

    await purchase();
    await checkNow();
    await checkNow();
    const [, second] = await received(hook, 2);
    expect(second?.body).toMatchObject({ before: 'firing', state: 'ok', value: 1 });
    expect(second?.headers['x-delivery-id']).not.toBe(first?.headers['x-delivery-id']);

    const [alert] = await listed();
    expect(alert).toMatchObject({
      ...{ key: 'silent', state: 'ok' },
      to: [receiver.url, `mailto:${mail}`],
      every_seconds: 86_400,
      last_check: { outcome: 'ok', value: 1, error: null },
    });
    await eventually(async () => {
      const checks = await checksOf(alert.id);
      expect(checks.map(({ state }: { state: string }) => state)).toEqual(['ok', 'ok', 'firing', 'firing']);
      const to = [receiver.url, `mailto:${mail}`];
      expect(checks[1].deliveries).toMatchObject(to.map((each) => ({ to: each, status: 'sent', attempts: 1 })));
    });
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
    const error = `a project has at most ${ALERTS_MAX} alerts and reports; delete one first (setting ALERTS_PER_PROJECT_MAX)`;
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
    }, 120_000);
    await purchase();
    await checkNow();
    await eventually(async () => {
      await run('send-alerts');
      expect((await deliveries()).filter(({ status }) => status === 'sent')).toHaveLength(2 * ALERTS_MAX);
    }, 120_000);
    for (const path of paths) {
      const told = new Map(receiver.at(path).map(({ headers, body }) => [headers['x-delivery-id'], body.state]));
      expect([...told.values()]).toEqual(['firing', 'ok']);
    }
  }, 360_000);
});

test('a private address is refused when it is saved, and fails visibly when it is called', async () => {
  for (const host of ['10.0.0.1', '169.254.169.254', '[::1]', '0x7f.0.0.2']) {
    const { status, body } = await sync([{ to: [`http://${host}/hook`] }]);
    expect([status, body.error]).toEqual([400, expect.stringContaining('is not a public address at line')]);
  }
  await sync([{ to: ['http://hook.example/'] }]);
  await postgres('alerts')
    .where({ project_id: project.id })
    .update({ targets: ['http://10.0.0.1/hook'] });
  await firstCheck();
  await run('send-alerts');
  const [{ id }] = await listed();
  await eventually(async () => {
    const [{ deliveries: sent }] = await checksOf(id);
    expect(sent).toEqual([expect.objectContaining({ status: 'failed', attempts: 1 })]);
  });
});

describe('a dry run', () => {
  test('of a query and a condition tells what would be sent, and sends nothing', async () => {
    const asked = { query: DAILY.query, when: 'value < 1' };
    expect(await asOwner('POST {project}/alerts/dry-run', asked)).toMatchObject({
      status: 200,
      body: { outcome: 'firing', value: 0, error: null, text: expect.stringMatching(/value is 0.*\/ask#q=/s) },
    });
    const calm = await asOwner('POST {project}/alerts/dry-run', { ...asked, when: 'no rows' });
    expect(calm.body).toMatchObject({ outcome: 'ok', text: null });
    expect(await deliveries()).toEqual([]);
  });

  test.each([
    [{ when: 'valu < 1' }, 'when: the query has no column "valu"; nearest is "value"'],
    [{ when: 'value' }, 'when: the condition has no comparison'],
    [{ query: 'purchase | cont' }, 'query: unknown stage "cont" at line 1, column 12; nearest is "count"'],
    [{ timezone: 'Mars' }, 'timezone is an IANA name such as Europe/Berlin'],
    [{ every: '1d' }, 'unknown field "every"; the body has query, when, timezone'],
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

describe('a report', () => {
  test('is sent once by several workers, however many times it missed, to webhooks and by mail', async () => {
    await purchase();
    const [hook, mail] = [newHook(), 'boss@example.com'];
    const to = [receiver.url + hook, `mailto:${mail}`];
    expect((await sync([], { cards: REPORT_CARDS, reports: reports({ to }) })).status).toBe(201);
    const [report] = await listedReports();
    expect(report).toMatchObject({ key: 'monday', at: 'monday 08:00', last_run_at: null, to: [receiver.url, to[1]] });
    expect(localTime(report.next_due_at, 'Europe/Berlin')).toBe('Monday 08:00');
    await makeDue(30);
    await Promise.all([run('run-reports'), run('run-reports'), run('run-reports')]);
    const [told] = await received(hook, 1);
    expect(told?.body).toMatchObject({
      ...{ report: 'monday', dashboard: 'sales', title: 'Sales', timezone: 'Europe/Berlin' },
      cards: [
        { title: 'Orders', columns: ['count', 'previous', 'change'], rows: [['1', '0', '(none)']], total: 1 },
        { title: 'Kinds', columns: ['event_properties.kind', 'count'], rows: [['a', '1']], total: 1 },
      ],
    });
    expect(told?.body.text).toContain('Orders\ncount 1, previous 0, change (none)\n');
    const text = await smtp.mailTo(mail);
    expect(text).toMatch(/^Subject: Report: Sales \(monday\)\r?$/m);
    expect(text).toMatch(/^Content-Type: text\/plain;[\s\S]*^Content-Type: text\/html;/m);
    expect(text).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m);

    await run('run-reports');
    const [after] = await listedReports();
    expect(new Date(after.next_due_at).getTime()).toBeGreaterThan(Date.now());
    expect(localTime(after.next_due_at, 'Europe/Berlin')).toBe('Monday 08:00');
    await eventually(async () => {
      const runs = (await asOwner(`GET {project}/reports/${report.id}/runs`)).body;
      const sent = expect.objectContaining({ status: 'sent', attempts: 1, error: null });
      expect(runs).toEqual([{ at: expect.any(String), error: null, deliveries: [sent, sent] }]);
    });
  });

  test('whose cards all fail is run again, and sent with the errors at the third time', async () => {
    const hook = newHook();
    await sync([], { cards: REPORT_CARDS.slice(0, 1), reports: reports({ to: [receiver.url + hook] }) });
    // Saved documents are checked, so a query that cannot run is stored directly.
    await postgres.raw(
      `UPDATE dashboard_versions SET config = replace(config::text, '| count', '| cont')::json
      WHERE dashboard_id = (SELECT id FROM dashboards WHERE project_id = ?)`,
      [project.id],
    );
    const [{ id }] = await listedReports();
    for (let runs = 1; runs <= 3; runs++) {
      await makeDue(0);
      await run('run-reports');
      await eventually(async () => expect((await asOwner(`GET {project}/reports/${id}/runs`)).body).toHaveLength(runs));
    }
    const [told] = await received(hook, 1);
    expect(told?.body.cards).toEqual([{ title: 'Orders', error: expect.stringContaining('cont') }]);
  });

  test('moves with the time zone of its project, and with another time', async () => {
    await sync([], {
      reports: reports({ timezone: undefined }, { id: 'own' }).map((one) => ({ ...one, to: ['mailto:a@example.com'] })),
    });
    expect((await asOwner('PATCH {project}', { timezone: 'Asia/Tokyo' })).status).toBe(200);
    const times = async () =>
      (await listedReports()).map(({ timezone, next_due_at }: Record<'timezone' | 'next_due_at', string>) =>
        [timezone, localTime(next_due_at, timezone)].join(': '),
      );
    expect(await times()).toEqual(['Asia/Tokyo: Monday 08:00', 'Europe/Berlin: Monday 08:00']);
    await sync([], { reports: reports({ at: 'friday 17:30', to: ['mailto:a@example.com'] }) });
    expect(await times()).toEqual(['Europe/Berlin: Friday 17:30']);
  });

  test('shows in a dry run what it would send now, and sends nothing', async () => {
    await purchase();
    await sync([], { cards: REPORT_CARDS, reports: reports({ to: ['mailto:a@example.com'] }) });
    const [{ id }] = await listedReports();
    const { status, body } = await asOwner(`POST {project}/reports/${id}/dry-run`);
    expect([status, body.subject, body.cards.length]).toEqual([200, 'Report: Sales (monday)', 2]);
    expect(body.text).toContain('Orders\ncount 1, previous 0');
    expect(body.html).toContain('<h2');
    expect(await asOwner('POST {project}/reports/none/dry-run')).toMatchObject({ status: 404 });
    const unsaved = { dashboard: 'sales', at: 'daily 07:30', timezone: 'Asia/Tokyo' };
    const text = expect.stringContaining('(Asia/Tokyo)');
    const shown = { subject: 'Report: Sales (report)', cards: body.cards, text };
    expect((await asOwner('POST {project}/reports/dry-run', unsaved)).body).toMatchObject(shown);
    const unknown = await asOwner('POST {project}/reports/dry-run', { ...unsaved, dashboard: 'none' });
    expect(unknown.body.error).toBe('the project has no dashboard "none" that all its members see');
    expect((await asOwner('POST {project}/reports/dry-run', { ...unsaved, at: 'noon' })).status).toBe(400);
    expect(await deliveries()).toEqual([]);
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
