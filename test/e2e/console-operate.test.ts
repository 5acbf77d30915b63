// Settings of owners in a real browser: domains, with a name server of the test, delivery, with
// events that ClickHouse refuses, and a project with its keys.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { askPath } from '../support/console-ask.js';
import { expectNoFindings } from '../support/console-axe.js';
import { expectReachByKeyboard } from '../support/console-keyboard.js';
import { useConsoleShop } from '../support/console-shop.js';
import type { CookieJar } from '../support/cookie-jar.js';
import { startDns, type TestDns } from '../support/dns-server.js';
import { identify } from '../support/identify.js';
import { track } from '../support/track.js';

const OPERATOR = 'operator@example.com';

let dns: TestDns;
beforeAll(async () => {
  dns = await startDns();
});

afterAll(() => dns?.close());

const shop = useConsoleShop({
  email: 'owner@example.com',
  env: () => ({ DNS_SERVERS: dns.address, OPERATOR_EMAILS: OPERATOR }),
});

test('a domain is claimed, verified by its record, and removed after its name has been typed', async () => {
  const visited = await shop.visit('/settings/domains');
  const { page } = visited;
  await page.getByText('No domains are claimed.').waitFor();
  const field = page.getByRole('textbox', { name: 'Domain' });
  await field.fill('not a domain');
  await page.getByRole('button', { name: 'Claim domain' }).click();
  await page.getByRole('alert').filter({ hasText: 'is not a domain' }).waitFor();
  await field.fill('Shop.Example');
  await page.getByRole('button', { name: 'Claim domain' }).click();
  const domain = page.getByRole('region', { name: 'shop.example' });
  await domain.getByText('Not verified').waitFor();
  await domain.getByText('_service-verify.shop.example').waitFor();
  await expectNoFindings(visited);
  await expectReachByKeyboard(visited);

  await page.getByRole('button', { name: 'Verify shop.example' }).click();
  await page.getByRole('alert').filter({ hasText: 'no TXT record _service-verify.shop.example' }).waitFor();
  await expectNoFindings(visited);
  const value = await domain.getByText(/^service-verification=/).textContent();
  dns.records.set('_service-verify.shop.example', [value ?? '']);
  await page.getByRole('button', { name: 'Verify shop.example' }).click();
  await domain.getByText('Verified', { exact: true }).waitFor();
  await domain.getByText(/admits people until/).waitFor();
  expect(await page.getByRole('button', { name: 'Verify shop.example' }).count()).toBe(0);
  await expectNoFindings(visited);

  await page.getByRole('button', { name: 'Remove shop.example' }).click();
  const dialog = page.getByRole('dialog', { name: 'Remove shop.example' });
  const confirm = dialog.getByRole('button', { name: 'Remove', exact: true });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('shop.example');
  await expectNoFindings(visited);
  await expectReachByKeyboard(visited);
  await confirm.click();
  await page.getByText('No domains are claimed.').waitFor();
});

test('delivery shows failed jobs, which are discarded and replayed; operators see checks and queues, too', async () => {
  const clickhouse = createClickHouse(shop.config);
  await clickhouse.command({ query: "ALTER TABLE events ADD CONSTRAINT no_poison CHECK insert_id != 'poison'" });
  const visited = await shop.visit('/settings/delivery');
  const { page } = visited;
  await page.getByText('No job has failed.').waitFor();
  await expectNoFindings(visited);
  await track(shop.url, shop.publicKey, { events: [{ event_type: 'signup', insert_id: 'poison' }] });
  const jobs = page.getByRole('region', { name: 'Failed jobs' });
  await jobs.getByText(/1 of 1 events were refused/).waitFor();
  expect(await page.getByRole('heading', { name: 'Queues' }).count()).toBe(0);
  await expectNoFindings(visited);

  await jobs.getByRole('button', { name: /^Discard job/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Discard a failed job' });
  await dialog.getByText('1 event', { exact: false }).waitFor();
  expect(await dialog.getByRole('button', { name: 'Discard' }).isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('ingest');
  await expectNoFindings(visited);
  await dialog.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('status').filter({ hasText: 'The job was discarded.' }).waitFor();
  await jobs.waitFor({ state: 'detached' });
  await track(shop.url, shop.publicKey, { events: [{ event_type: 'signup', insert_id: 'poison' }] });
  await jobs.getByText(/1 of 1 events were refused/).waitFor();

  const operator = await shop.join(OPERATOR, 'owner');
  const operating = await shop.visit('/settings/delivery', { jar: operator });
  await operating.page.getByRole('list', { name: 'Checks of the installation' }).getByText('Dead letters').waitFor();
  await operating.page
    .getByRole('region', { name: 'Queues' })
    .getByRole('rowheader', { name: 'ingest-bulk' })
    .waitFor();
  await expectNoFindings(operating);

  await clickhouse.command({ query: 'ALTER TABLE events DROP CONSTRAINT no_poison' });
  await clickhouse.close();
  await jobs.getByRole('button', { name: /^Replay job/ }).click();
  await page.getByRole('status').filter({ hasText: '1 job will run again.' }).waitFor();
  await jobs.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Audit trail' }).click();
  const trail = page.getByRole('region', { name: 'Audit trail' });
  for (const action of ['Replayed a failed job job.replayed', 'Discarded a failed job job.discarded']) {
    await trail.getByRole('rowheader', { name: action }).waitFor();
  }
});

test('change the project, rotate its key, and delete it after its name has been typed', async () => {
  const other = await shop.newProject('Other');
  const stored = () => shop.postgres('projects').where({ id: other.id }).first('timezone', 'ip_policy', 'deleted_at');
  const visited = await shop.visit('/settings', { projectId: other.id });
  const { page } = visited;
  await page.getByLabel('Time zone').fill('Mars/Base');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').filter({ hasText: 'time zone' }).waitFor();
  await page.getByLabel('Time zone').fill('Europe/Berlin');
  await page.getByLabel('Addresses of clients').selectOption('drop');
  expect(await page.getByLabel('SDKs of other products').getByRole('option').allTextContents()).toEqual([
    ...['Accepted', 'Refused'],
  ]);
  const reloaded = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Save' }).click();
  await reloaded;
  expect(await page.getByLabel('Time zone').inputValue()).toBe('Europe/Berlin');
  expect(await stored()).toMatchObject({ timezone: 'Europe/Berlin', ip_policy: 'drop' });
  await expectNoFindings(visited);
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByText(other.secretKey).waitFor();
  await page.getByRole('button', { name: 'Rotate the secret key' }).click();
  // The answer of the rotation has the key: the page does not wait until it has read again.
  const isRead = (url: URL) => url.pathname === `/api/projects/${other.id}`;
  await page.route(isRead, (route) => (route.request().method() === 'GET' ? undefined : route.continue()));
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click();
  await page.getByText('The key has been rotated.').waitFor();
  const shown = (await page.getByText(/^sk_/).textContent()) ?? '';
  expect([shown === other.secretKey, await page.content()]).toEqual([
    false,
    expect.not.stringContaining(other.secretKey),
  ]);
  await page.unroute(isRead);
  expect((await identify(shop.url, shown, { user_id: 'ada' })).body).toEqual({ ok: true });
  await page.goto(shop.addressOf('/start', other.id));
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByText(shown).waitFor();
  await page.goBack();

  await page.getByRole('button', { name: 'Delete the project' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('Other');
  await dialog.getByRole('button', { name: 'Delete for ever' }).click();
  await page.waitForURL((url) => !url.pathname.includes(other.id));
  expect((await stored()).deleted_at).not.toBeNull();
});

test('a person who was removed makes one organization, also when the project needs a second attempt', async () => {
  const [email, organization] = ['left@example.com', `Mine ${Date.now()}`];
  const jar = await shop.join(email, 'member');
  const { id } = await shop.postgres('people').where({ email }).first('id');
  await shop.postgres('members').where({ person_id: id }).delete();
  const { page } = await shop.visit('/ask', { jar });
  let attempts = 0;
  await page.route(/\/api\/orgs\/[^/]+\/projects$/, (route) => {
    attempts += 1;
    return attempts === 1 ? route.fulfill({ status: 503, json: { error: 'try again' } }) : route.continue();
  });
  await page.getByLabel('Organization').fill(organization);
  await page.getByLabel('Name of the project').fill('First');
  await page.getByRole('button', { name: 'Make the project' }).click();
  await page.getByRole('alert').filter({ hasText: 'try again' }).waitFor();
  await page.getByRole('button', { name: 'Make the project' }).click();
  await page.waitForURL(/\/projects\/[^/]+\/start$/);
  expect(await shop.postgres('organizations').where({ name: organization })).toHaveLength(1);
});

test('a member leaves, an owner deletes an organization, and a person the account, each after typing', async () => {
  const leaver = `leaver-${Date.now()}@example.com`;
  const jar = await shop.join(leaver, 'member');
  const { id } = await shop.postgres('people').where({ email: leaver }).first('id');
  const visited = await shop.visit('/settings/leaving', { jar });
  const { page } = visited;
  const dialog = page.getByRole('dialog');
  const end = async (button: string, confirm: string) => {
    await page.getByRole('button', { name: button }).click();
    expect(await dialog.getByRole('button', { name: confirm, exact: true }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill((await dialog.locator('code').textContent()) ?? '');
    await dialog.getByRole('button', { name: confirm, exact: true }).click();
  };
  await page.getByRole('button', { name: 'Leave the organization' }).waitFor();
  expect(await page.getByRole('button', { name: 'Delete the organization' }).count()).toBe(0);
  await expectNoFindings(visited);
  await expectReachByKeyboard(visited);
  await end('Leave the organization', 'Leave');
  // Their first sign-in has made a project of their own.
  await page.waitForURL((url) => /\/start$/.test(url.pathname) && !url.pathname.includes(shop.id));
  expect(await shop.postgres('members').where({ person_id: id, role: 'member' })).toEqual([]);

  const own = new URL(page.url()).pathname.split('/')[2] ?? '';
  await page.goto(shop.addressOf('/settings/leaving', own));
  await end('Delete your account', 'Delete for ever');
  await dialog.getByRole('alert').filter({ hasText: 'you are the last owner of' }).waitFor();
  await expectNoFindings(visited);
  // The first one keeps what was typed.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await end('Delete the organization', 'Delete for ever');
  await page.getByRole('textbox', { name: 'Organization', exact: true }).waitFor();
  expect(await shop.postgres('projects').where({ id: own }).whereNull('deleted_at')).toEqual([]);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await expectNoFindings(visited);
  await end('Delete your account', 'Delete for ever');
  await page
    .getByRole('link', { name: /sign in/i })
    .first()
    .waitFor();
  expect(await shop.postgres('people').where({ id })).toEqual([]);
});

test('an owner makes another project from the list of projects, by keys alone; a member does not', async () => {
  const visited = await shop.visit('/data');
  const { page } = visited;
  const projects = page.getByRole('button', { name: 'Project: Shop' });
  await projects.press('Enter');
  const dialog = page.getByRole('dialog', { name: /^New project in / });
  await page.getByRole('button', { name: 'New project' }).press('Enter');
  await dialog.waitFor();
  await expectNoFindings(visited);
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await projects.and(page.locator(':focus')).press('Enter');
  await page.getByRole('button', { name: 'New project' }).press('Enter');
  await dialog.waitFor();
  await page.keyboard.type('Staging');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Send your first event' }).waitFor();
  await page.getByRole('button', { name: 'Project: Staging' }).press('Enter');
  await page.getByRole('link', { name: 'Shop', exact: true }).waitFor();

  const member = await shop.visit('/data', { jar: await shop.join('no-maker@example.com', 'member') });
  await member.page.getByRole('button', { name: 'Project: Shop' }).click();
  const link = member.page.getByRole('link', { name: /^Shop/ });
  await link.waitFor();
  // Each person has an organization of their own, too.
  const organization = member.page.locator('div', { has: link }).last();
  expect(await organization.getByRole('button').count()).toBe(0);
});

/** Sends an event that is years old. */
async function sendOld({ secretKey }: NewProject): Promise<void> {
  const sent = await fetch(`${shop.url}/track?wait=1`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': secretKey },
    body: JSON.stringify({ event_type: 'signup', device_id: 'd', time: '2015-03-04T05:06:07Z' }),
  });
  expect(await sent.json()).toMatchObject({ accepted: 1 });
}

test('the console opens at the project visited last in any tab, and at first at the newest with events', async () => {
  const busy = await shop.newProject('Busy');
  await sendOld(busy);
  const newest = await shop.newProject('Newest');
  const { page, context } = await shop.visit('/data', { projectId: newest.id });
  await page.getByRole('heading', { name: 'Data' }).waitFor();
  await page.evaluate('localStorage.clear()');
  await page.goto(`${shop.url}/`);
  await page.waitForURL(shop.addressOf('/ask', busy.id));
  await page.getByRole('button', { name: 'Project: Busy' }).waitFor();
  await page.evaluate('localStorage.clear()');
  await page.route('**/query', (route) => route.fulfill({ json: { rows: [{ count: 0 }] } }));
  await page.goto(`${shop.url}/`);
  await page.waitForURL(shop.addressOf('/start', newest.id));
  await page.unroute('**/query');
  await page.goto(shop.addressOf('/data'));
  await page.getByRole('heading', { name: 'Data' }).waitFor();
  const other = await context.newPage();
  await other.goto(shop.addressOf('/data', newest.id));
  await other.getByRole('heading', { name: 'Data' }).waitFor();
  await page.getByRole('link', { name: 'Live' }).click();
  await page.getByRole('heading', { name: 'Live' }).waitFor();
  await other.goto(`${shop.url}/`);
  await other.waitForURL(shop.addressOf('/ask'));
  await other.goto(shop.addressOf('/data', newest.id));
  await other.getByRole('heading', { name: 'Data' }).waitFor();
  await page.evaluate("window.dispatchEvent(new Event('focus'))");
  await other.goto(`${shop.url}/`);
  await other.waitForURL(shop.addressOf('/ask'));
});

test('the console of a project whose events are all old does not ask for the first one', async () => {
  const imported = await shop.newProject('Imported');
  await sendOld(imported);
  const { page } = await shop.visit('/start', { projectId: imported.id });
  await page.getByRole('status').filter({ hasText: 'No event in the last 30 days' }).waitFor();
  await track(shop.url, imported.publicKey, { events: [{ event_type: 'signup', device_id: 'd' }] });
  await page.getByRole('status').filter({ hasText: 'An event has arrived' }).waitFor();
  await page.evaluate('localStorage.clear()');
  await page.goto(`${shop.url}/`);
  await page.waitForURL(shop.addressOf('/ask', imported.id));
});

test('a link to an editor shows what it edits to a person who may not, and says who may', async () => {
  const manage = (method: string, path: string, body: object, headers: Record<string, string>): Promise<Response> =>
    fetch(`${shop.url}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const source = `version: 1
title: Sales
sections:
  - title: Numbers
    cards: [{id: orders, title: Orders, kind: metric, viz: number, query: 'purchase | last 30d | count'}]
`;
  const asOwner = { Cookie: `service_session=${shop.owner.get('service_session')}`, Origin: shop.url };
  const path = `/api/projects/${shop.id}/dashboards?key=sales`;
  const made = await manage('POST', path, { source_yaml: source, visibility: 'project' }, asOwner);
  const { dashboard } = (await made.json()) as { readonly dashboard: { readonly id: string } };
  const asRepository = { 'X-API-Key': shop.secretKey };
  const synced = await manage('PUT', '/api/dashboard-sync/sales-synced', { source_yaml: source }, asRepository);
  const { id: syncedId } = ((await synced.json()) as { readonly dashboard: { readonly id: string } }).dashboard;

  const jar = await shop.join('no-editor@example.com', 'member');
  const expectRefusal = async (at: string, { as, note, heading }: Refusal): Promise<void> => {
    const visited = await shop.visit(at, { jar: as });
    await visited.page.getByRole('status').filter({ hasText: note }).waitFor();
    await visited.page.getByRole('heading', { name: heading }).waitFor();
    expect(await visited.page.getByRole('button', { name: 'Review changes' }).count()).toBe(0);
    await expectNoFindings(visited);
  };
  const members = 'Only admins and owners edit';
  await expectRefusal('/definitions#v=edit&line=3', { as: jar, note: members, heading: 'Definitions' });
  await expectRefusal(`/dashboards/${dashboard.id}#v=edit`, { as: jar, note: members, heading: 'Orders' });
  const repository = 'It is synced from a repository';
  await expectRefusal(`/dashboards/${syncedId}#v=edit`, { as: shop.owner, note: repository, heading: 'Orders' });
});

test('what a form has stays when the session has ended, and is stored after a sign-in in another tab', async () => {
  const { page, context } = await shop.visit('/settings', { projectId: (await shop.newProject('Before')).id });
  const cookies = await context.cookies();
  await page.getByLabel('Name').fill('After');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').filter({ hasText: 'in another tab and sign in there' }).waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('After');
  await context.addCookies(cookies);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Project: After' }).waitFor();

  await page.goto(shop.addressOf('/alerts'));
  await page.getByRole('button', { name: 'New alert' }).click();
  const dialog = page.getByRole('dialog', { name: 'New alert' });
  await dialog.getByRole('button', { name: 'Dry run' }).waitFor();
  await context.clearCookies();
  // The page asks again when it is seen again.
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await page.waitForTimeout(1000);
  await dialog.getByRole('button', { name: 'Dry run' }).waitFor();
});

test('what is no query is not called one when it cannot be loaded', async () => {
  const { page } = await shop.openBrowser();
  await page.route('**/api/**', (route) => route.fulfill({ status: 404, json: { error: 'it is gone' } }));
  for (const path of ['/alerts', '/alerts/reports', '/people', '/experiments', '/data', '/data#part=rejected']) {
    await page.goto('about:blank');
    await page.goto(shop.addressOf(path));
    await page.getByRole('alert').filter({ hasText: 'This could not be loaded' }).waitFor();
  }
  await page.goto(shop.addressOf(askPath('purchase | last 7d | count')));
  await page.getByRole('button', { name: 'Add to dashboard' }).click();
  await page.getByRole('alert').filter({ hasText: 'The dashboards could not be loaded' }).waitFor();
  await page.context().close();
});

test('a list that the service never answers is asked for again by a button', async () => {
  const { page } = await shop.openBrowser();
  // A minute is a second.
  const faster = 'AbortSignal.timeout = (wait => (ms) => wait(ms / 60))(AbortSignal.timeout.bind(AbortSignal));';
  await page.addInitScript(faster);
  await page.route('**/api/**/tokens', () => undefined);
  await page.goto(shop.addressOf('/settings/tokens'));
  await page.getByRole('status').filter({ hasText: 'Loading' }).waitFor();
  await page.getByRole('alert').filter({ hasText: 'the service did not answer in time' }).waitFor();
  await page.unroute('**/api/**/tokens');
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByText('There are no tokens').waitFor();
  await page.context().close();
});

interface Refusal {
  readonly as: CookieJar;
  readonly note: string;
  readonly heading: string;
}
