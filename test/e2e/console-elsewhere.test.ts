// The console beside changes that are made in another tab or elsewhere, and of a project with more
// names than a table shows.
import { expect, test } from 'vitest';
import { askPath } from '../support/console-ask.js';
import { expectNoFindings } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';
import { createDashboard, SALES } from '../support/create-dashboard.js';
import { eventually } from '../support/eventually.js';
import { track } from '../support/track.js';

const TYPES = 3000;
/** As long as a name may be. */
const LONG = `long ${'name'.repeat(62)}end`;

const shop = useConsoleShop({
  email: 'elsewhere@example.com',
  fill: ({ fill }) =>
    fill(
      Array.from({ length: TYPES }, (_, n) => ({ event_type: n === 1 ? LONG : `type ${n}`, user_id: `user-${n % 9}` })),
    ),
});

test('all names of a project are counted and found, and a table that shows the first says so', async () => {
  const { page } = await shop.visit('/data');
  const events = page.getByRole('region', { name: 'Events' });
  await events.getByText('3,000 names').waitFor();
  await events.getByText('The first 300 are shown. The search finds the others.').waitFor();
  const search = page.getByRole('searchbox', { name: 'Search' });
  for (const n of [0, 1500, TYPES - 1]) {
    await search.fill(`type ${n}`);
    await events.getByRole('link', { name: `type ${n}`, exact: true }).waitFor();
  }
  expect(await events.getByText('The first 300').count()).toBe(0);

  await search.fill('name');
  const long = events.getByRole('link', { name: LONG });
  expect((await long.boundingBox())?.height).toBeLessThan(50);
  expect(await long.getAttribute('title')).toBe(LONG);
});

test('the first questions of a project with more names than the catalog has are about its most frequent event', async () => {
  const events = Array.from({ length: 5 }, (_, n) => ({ event_type: 'came late', user_id: `user-${n}` }));
  await track(shop.url, shop.publicKey, { events });
  await eventually(async () =>
    expect((await shop.ask('"came late" | last 1d | count')).rows[0]?.count).toBe(events.length),
  );
  const { page } = await shop.visit('/ask');
  await page.getByRole('button', { name: 'How often is came late done?' }).waitFor();
});

test('a dashboard that was changed or deleted in another tab is so after a refresh', async () => {
  const path = `/dashboards/${await createDashboard(shop, SALES)}`;
  const { page, context } = await shop.visit(path);
  await page.getByRole('heading', { name: 'Numbers' }).waitFor();
  const other = await context.newPage();
  await other.goto(shop.addressOf(`${path}#v=edit`));
  await other.getByRole('textbox', { name: 'Text of the dashboard' }).fill(SALES.replace('Numbers', 'Figures'));
  await other.getByRole('button', { name: 'Review changes' }).click();
  await other.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  // The cards beside the text have this heading before it is saved.
  await other.getByRole('textbox', { name: 'Text of the dashboard' }).waitFor({ state: 'detached' });
  await other.getByRole('heading', { name: 'Figures' }).waitFor();
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByRole('heading', { name: 'Figures' }).waitFor();

  await other.getByRole('button', { name: 'More' }).click();
  await other.getByRole('button', { name: 'Delete dashboard' }).click();
  await other.getByRole('dialog').getByRole('button', { name: 'Delete it' }).click();
  await other.getByRole('heading', { name: 'Dashboards', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByRole('status').getByText('There is no such dashboard').waitFor();
  await page.reload();
  await page.getByRole('status').getByText('There is no such dashboard').waitFor();
  expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
  await page.getByRole('link', { name: 'See all dashboards' }).click();
  await page.getByRole('heading', { name: 'Dashboards', exact: true }).waitFor();
});

test('many dashboards are searched by their titles, and one without cards says where they come from', async () => {
  const titles = Array.from({ length: 13 }, (_, n) => `Numbers of region ${n}`);
  const sections = 'sections:\n  - title: Overview\n    cards: []\n';
  await Promise.all(titles.map((title) => createDashboard(shop, `version: 1\ntitle: ${title}\n${sections}`)));
  const visited = await shop.visit('/dashboards');
  const { page } = visited;
  const search = page.getByRole('searchbox', { name: 'Search dashboards' });
  await search.fill('of REGION 7');
  await page.getByRole('link', { name: 'Numbers of region 8' }).waitFor({ state: 'detached' });
  await search.fill('nowhere');
  await page.getByText('Nothing is called so.').waitFor();
  await expectNoFindings(visited);
  await search.fill('7 region');
  await page.getByRole('link', { name: 'Numbers of region 7' }).click();
  await page.getByText('No cards yet.').waitFor();
  expect(await page.getByRole('heading', { name: 'Overview' }).count()).toBe(0);

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('region 9');
  await page.getByRole('option', { name: 'Numbers of region 9' }).click();
  await page.getByRole('heading', { name: 'Numbers of region 9' }).waitFor();

  const asked = await shop.visit(`/ask#${new URLSearchParams({ q: '* | last 7d | count' })}`);
  await asked.page.getByRole('button', { name: 'Add to dashboard' }).click();
  await asked.page.getByRole('searchbox', { name: 'Search dashboards' }).fill('region 12');
  await asked.page.getByRole('button', { name: 'Numbers of region 3' }).waitFor({ state: 'detached' });
  await expectNoFindings(asked);
  await asked.page.getByRole('button', { name: 'Numbers of region 12' }).click();
  await asked.page.getByRole('link', { name: 'Added to Numbers of region 12' }).waitFor();
});

test('many definitions and many members are searched', async () => {
  const names = Array.from({ length: 13 }, (_, n) => `metric_${n}`);
  const metrics = names.map((name) => `  ${name}: {query: '* | count'}`);
  await fetch(`${shop.url}/api/definitions`, {
    method: 'PUT',
    headers: { 'X-API-Key': shop.secretKey },
    body: JSON.stringify({ source_yaml: ['version: 1', 'metrics:', ...metrics, ''].join('\n') }),
  });
  const visited = await shop.visit('/definitions');
  const { page } = visited;
  const third = page.getByRole('link', { name: 'Ask for metric_3' });
  await third.waitFor();
  await page.getByRole('searchbox', { name: 'Search definitions' }).fill('metric_11');
  await third.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Ask for metric_11' }).waitFor();
  await expectNoFindings(visited);

  for (const n of names.keys()) await shop.join(`member${n}@example.com`, 'member');
  await page.goto(shop.addressOf('/settings/members'));
  await page.getByRole('searchbox', { name: 'Search members' }).fill('Member11');
  await page.getByText('member3@example.com').waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: 'Role of member11@example.com' }).waitFor();
  await page.getByRole('searchbox', { name: 'Search members' }).fill('unknown name');
  await page.getByText('Nothing is called so.').waitFor();
  await expectNoFindings(visited);
});

test('a section without cards says so', async () => {
  const empty = `${SALES}  - title: Costs\n    cards: []\n`;
  const { page } = await shop.visit(`/dashboards/${await createDashboard(shop, empty)}`);
  await page.getByRole('region', { name: 'Costs' }).getByText('No cards in this section yet.').waitFor();
  expect(await page.getByText('No cards in this section yet.').count()).toBe(1);
});

test('a secret key that was rotated in another tab is not shown any more', async () => {
  const { id } = await shop.newProject('Keys');
  const { page, context } = await shop.visit('/settings', { projectId: id });
  const other = await context.newPage();
  await other.goto(shop.addressOf('/settings', id));
  const keyOf = async (tab: typeof page): Promise<string | null> => tab.locator('code').nth(1).textContent();
  for (const tab of [page, other]) await tab.getByRole('button', { name: 'Show' }).click();
  const before = await keyOf(page);
  await other.getByRole('button', { name: 'Rotate the secret key' }).click();
  await other.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click();
  await other.getByText('The key has been rotated.').waitFor();
  await page.evaluate("dispatchEvent(new Event('focus'))");
  await page.getByText(String(before)).waitFor({ state: 'detached' });
  expect(await keyOf(page)).toBe(await keyOf(other));
});

test('the settings of a project that were changed in another tab are not overwritten', async () => {
  const { id } = await shop.newProject('Other');
  const { page, context } = await shop.visit('/settings', { projectId: id });
  await page.getByLabel('Time zone').waitFor();
  const other = await context.newPage();
  await other.goto(shop.addressOf('/settings', id));
  await other.getByLabel('Time zone').fill('Europe/Berlin');
  const save = async (tab: typeof page): Promise<void> => {
    const reloaded = tab.waitForEvent('load');
    await tab.getByRole('button', { name: 'Save' }).click();
    await reloaded;
  };
  await save(other);
  await page.getByLabel('Addresses of clients').selectOption('drop');
  await save(page);
  expect(await shop.postgres('projects').where({ id }).first('name', 'timezone', 'ip_policy')).toEqual({
    ...{ name: 'Other', timezone: 'Europe/Berlin', ip_policy: 'drop' },
  });
});

test('a setting that another tab has saved is replaced only after it was named', async () => {
  const { id } = await shop.newProject('Before');
  const { page, context } = await shop.visit('/settings', { projectId: id });
  await page.getByLabel('Name', { exact: true }).fill('Mine');
  const other = await context.newPage();
  await other.goto(shop.addressOf('/settings', id));
  const save = (tab: typeof page) => tab.getByRole('button', { name: 'Save' }).click();
  await other.getByLabel('Name', { exact: true }).fill('Theirs');
  const reloaded = other.waitForEvent('load');
  await save(other);
  await reloaded;
  const nameStored = async () => (await shop.postgres('projects').where({ id }).first('name')).name;
  await save(page);
  await page.getByRole('alert').filter({ hasText: 'has saved meanwhile: Name: Theirs.' }).waitFor();
  expect(await nameStored()).toBe('Theirs');
  await save(page);
  await expect.poll(nameStored).toBe('Mine');
});

test('a role that another tab has changed is replaced only after it was named', async () => {
  await shop.join('role@example.com', 'member');
  const { page, context } = await shop.visit('/settings/members');
  const role = (tab: typeof page) => tab.getByRole('combobox', { name: 'Role of role@example.com' });
  await role(page).waitFor();
  const other = await context.newPage();
  await other.goto(shop.addressOf('/settings/members'));
  await role(other).selectOption('admin');
  const stored = async () => {
    const people = shop.postgres('people').where({ email: 'role@example.com' });
    const where = { organization_id: shop.organizationId, person_id: people.select('id') };
    return (await shop.postgres('members').where(where).first('role')).role;
  };
  await expect.poll(stored).toBe('admin');
  await role(page).selectOption('owner');
  await page.getByRole('alert').filter({ hasText: 'has made role@example.com Admin meanwhile' }).waitFor();
  await expect.poll(() => role(page).inputValue()).toBe('admin');
  expect(await stored()).toBe('admin');
  await role(page).selectOption('owner');
  await expect.poll(stored).toBe('owner');
});

test('a version is restored by a second attempt when another tab has saved before the first', async () => {
  const id = await createDashboard(shop, SALES);
  const { page, context } = await shop.visit(`/dashboards/${id}`);
  const saveIn = async (tab: typeof page, title: string): Promise<void> => {
    await tab.goto('about:blank');
    await tab.goto(shop.addressOf(`/dashboards/${id}#v=edit`));
    await tab.getByRole('textbox', { name: 'Text of the dashboard' }).fill(SALES.replace('Numbers', title));
    await tab.getByRole('button', { name: 'Review changes' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await tab.getByRole('textbox', { name: 'Text of the dashboard' }).waitFor({ state: 'detached' });
    await tab.getByRole('heading', { name: title }).waitFor();
  };
  await saveIn(page, 'Second');
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Versions' }).click();
  const restore = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
  };
  await page.getByRole('button', { name: 'Restore version 1' }).waitFor();
  await saveIn(await context.newPage(), 'Third');
  await restore();
  await page.getByText('the dashboard has version 3 by now').waitFor();
  await page.getByRole('button', { name: 'Restore version 2' }).waitFor();
  await restore();
  await page.getByRole('heading', { name: 'Numbers' }).waitFor();
});

test('a half-typed form of the settings stays when the settings are read again', async () => {
  const { id } = await shop.newProject('Typed');
  const { page } = await shop.visit('/settings', { projectId: id });
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Half-typed');
  await shop.postgres('projects').where({ id }).update({ timezone: 'Europe/Berlin', other_sdks: false });
  await page.getByRole('button', { name: 'Rotate the secret key' }).click();
  const read = page.waitForResponse((of) => of.url().endsWith(id) && of.request().method() === 'GET');
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click();
  await read;
  await page.getByText('The key has been rotated.').waitFor();
  expect(await name.inputValue()).toBe('Half-typed');
  const reloaded = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Save' }).click();
  await reloaded;
  expect(await shop.postgres('projects').where({ id }).first('name', 'timezone', 'other_sdks')).toEqual({
    ...{ name: 'Half-typed', timezone: 'Europe/Berlin', other_sdks: false },
  });
});

test('an invitation that was revoked in another tab is not listed after an attempt to revoke it', async () => {
  const { page, context } = await shop.visit('/settings/members');
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('new@example.com');
  await page.getByRole('button', { name: 'Invite' }).click();
  const revoke = { name: 'Revoke new@example.com' } as const;
  await page.getByRole('button', revoke).waitFor();
  const other = await context.newPage();
  await other.goto(shop.addressOf('/settings/members'));
  const revokeIn = async (tab: typeof page): Promise<void> => {
    await tab.getByRole('button', revoke).click();
    await tab.getByRole('dialog', revoke).getByRole('button', { name: 'Revoke', exact: true }).click();
  };
  await revokeIn(other);
  await other.getByRole('button', revoke).waitFor({ state: 'detached' });
  await revokeIn(page);
  await page.getByRole('alert').filter({ hasText: 'there is no such invitation' }).waitFor();
  await page.getByRole('button', revoke).waitFor({ state: 'detached' });
});

test('Ask leads from a project without events to the first one; People and sessions say what that lacks', async () => {
  const empty = await shop.newProject('Empty');
  const { page } = await shop.visit('/ask', { projectId: empty.id });
  const note = page.getByText('This project has no events yet.');
  await note.getByRole('link', { name: 'Send events' }).waitFor();
  await track(shop.url, empty.publicKey, { events: [{ event_type: 'signup', device_id: 'd' }] });
  await note.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'signup' }).first().waitFor();
  await page.goto(shop.addressOf('/people', empty.id));
  await page.getByRole('link', { name: 'Who was active in the last 30 days' }).click();
  const answer = page.getByRole('region', { name: 'Answer' });
  await answer.getByRole('link', { name: 'd', exact: true }).waitFor();
  await page.goto(shop.addressOf(askPath('sessions | last 30d'), empty.id));
  await answer.getByText('Sessions consist of events with a session_id').waitFor();
});
