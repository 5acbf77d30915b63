// Forms and lists of the console: what Escape, reloads and other screens keep, the keys of a search
// field in a menu, open invitations, the check of an import, alerts whose mails cannot be sent,
// long event names, controls on touch screens, and what Ctrl+K finds.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { expectNoFindings } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';
import { createDashboard } from '../support/create-dashboard.js';
import { eventually } from '../support/eventually.js';
import { track } from '../support/track.js';

const shop = useConsoleShop({ email: 'forms@example.com' });

const sourceOf = (title: string): string => `version: 1
title: ${title}
sections:
  - title: Numbers
    cards:
      - {id: orders, title: Orders, kind: metric, viz: number, query: 'purchase | last 7d | count'}
`;

/** More than a glance, so that the list has a search field. */
const TITLES = Array.from({ length: 13 }, (_, index) => `Board ${index + 1}`);

test('the first Escape keeps what was typed into a form, and says that a second one does not', async () => {
  const visited = await shop.visit('/dashboards');
  const { page } = visited;
  const dialog = page.getByRole('dialog', { name: 'New dashboard' });
  const title = dialog.getByRole('textbox', { name: 'Title' });
  const warning = dialog.getByText('Press Escape again to discard what you typed.');
  const open = () => page.getByRole('button', { name: 'New dashboard' }).click();
  await open();
  await title.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await open();
  await title.pressSequentially('Half');
  await title.press('Escape');
  await warning.waitFor();
  await expectNoFindings(visited);
  await title.pressSequentially('-typed');
  await warning.waitFor({ state: 'detached' });
  await title.press('Escape');
  await warning.waitFor();
  expect(await title.inputValue()).toBe('Half-typed');
  await title.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('an erasure that takes its time says that it is in progress', async () => {
  const visited = await shop.visit('/people#id=slow-person');
  const { page } = visited;
  await page.route('**/erasures', () => undefined);
  await page.getByRole('button', { name: 'Erase' }).click();
  const dialog = page.getByRole('dialog', { name: 'Erase this person' });
  await dialog.getByRole('textbox').fill('slow-person');
  await dialog.getByRole('button', { name: 'Erase for ever' }).click();
  await dialog.getByRole('status').filter({ hasText: 'In progress' }).waitFor();
  await expectNoFindings(visited);
});

test('dashboards are listed as people count, and found and chosen by the keyboard alone', async () => {
  for (const title of TITLES) await createDashboard(shop, sourceOf(title));
  const { page } = await shop.visit('/dashboards');
  await page.getByRole('link', { name: /^Board 13/ }).waitFor();
  const items = await page.getByRole('main').getByRole('listitem').allTextContents();
  expect(items.map((text) => /Board \d+/.exec(text)?.[0])).toEqual(TITLES);

  const alert = (number: number): string =>
    `alerts:\n  - {id: low-${number}, query: '* | count', when: value < 0, every: 1d, to: ['https://a.example']}\n`;
  for (const number of [10, 2]) await createDashboard(shop, sourceOf(`Told ${number}`) + alert(number));
  await page.goto(shop.addressOf('/alerts'));
  const alerts = page.getByRole('list', { name: 'Alerts' }).getByRole('heading');
  await expect.poll(() => alerts.allTextContents()).toEqual(['low-2', 'low-10']);

  await page.goto(shop.addressOf(`/ask#${new URLSearchParams({ q: 'purchase | last 7d | count' })}`));
  await page.getByRole('button', { name: 'Add to dashboard' }).click();
  const search = page.getByRole('searchbox');
  await search.fill('Board 1');
  const focused = () => page.evaluate<string>('document.activeElement.textContent || document.activeElement.type');
  for (const [key, expected] of [
    ['ArrowDown', 'Board 1'],
    ['ArrowDown', 'Board 10'],
    ['ArrowUp', 'Board 1'],
    ['ArrowUp', 'search'],
    ['Home', 'search'],
  ] as const) {
    await page.keyboard.press(key);
    expect(await focused(), key).toContain(expected);
  }
});

test('open invitations are searched as members are', async () => {
  const { page } = await shop.visit('/settings/members');
  const list = page.getByRole('list', { name: 'Invitations' });
  for (let number = 1; number <= 13; number += 1) {
    await page.getByRole('textbox', { name: 'E-mail address' }).fill(`guest-${number}@example.com`);
    await page.getByRole('button', { name: 'Invite' }).click();
    await list.getByText(`guest-${number}@example.com`).waitFor();
  }
  await page.getByRole('searchbox', { name: 'Search invitations' }).fill('GUEST-7');
  await expect.poll(() => list.getByRole('listitem').count()).toBe(1);
  await list.getByText('guest-7@example.com').waitFor();
  await page.getByRole('searchbox', { name: 'Search invitations' }).fill('no such address');
  await page.getByText('Nothing is called so.').first().waitFor();
});

test('a check of files is no import: not while it runs, and not after it was cancelled', async () => {
  const visited = await shop.visit('/settings/import');
  const { page } = visited;
  await page.getByLabel('From').selectOption('access-log');
  const line = '203.0.113.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "Mozilla/5.0"\n';
  const folder = mkdtempSync(join(tmpdir(), 'console-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'access.log'), line.repeat(400_000));
  await page.getByLabel('Files').setInputFiles(join(folder, 'access.log'));
  await page.getByRole('button', { name: 'Check the files' }).click();
  await page.getByText('Nothing is stored. Leaving this page ends the check.').waitFor();
  expect(await page.getByText('ends the import').count()).toBe(0);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('alert').filter({ hasText: 'Cancelled. Nothing was stored.' }).waitFor();
  expect(await page.getByRole('button', { name: 'Import again' }).count()).toBe(0);
  await expectNoFindings(visited);
});

test('an alert with a mailbox says that the service has no mail server, before it is added and after', async () => {
  const id = await createDashboard(shop, sourceOf('Told'));
  const visited = await shop.visit('/alerts#new=purchase+%7C+last+1h+%7C+count');
  const { page } = visited;
  const warning = page.getByText('Mails cannot be sent: the service has no mail server');
  const dialog = page.getByRole('dialog', { name: 'New alert' });
  const to = dialog.getByRole('textbox', { name: 'Sent to' });
  await to.fill('https://hooks.example.com/x');
  expect(await warning.count()).toBe(0);
  await to.fill('ops@example.com');
  await warning.waitFor();
  await expectNoFindings(visited);
  await dialog.getByRole('combobox', { name: 'Dashboard' }).selectOption(id);
  await dialog.getByRole('textbox', { name: 'Name' }).fill('few-orders');
  await dialog.getByRole('button', { name: 'Add alert' }).click();
  await page.getByRole('link', { name: 'few-orders' }).click();
  await warning.waitFor();

  await page.goto(shop.addressOf(`/dashboards/${id}#v=edit`));
  const text = page.getByRole('textbox', { name: 'Text of the dashboard' });
  await text.fill((await text.inputValue()).replace('ops@', 'sales@'));
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('dialog', { name: 'Changes' }).getByText('Mails cannot be sent').waitFor();
});

test('what Backspace removed in the query of a form, and what was completed, counts as typed', async () => {
  const path = `/dashboards/${await createDashboard(shop, sourceOf('Edited'))}#v=edit&card=orders`;
  const { page } = await shop.visit(path);
  const dialog = page.getByRole('dialog', { name: 'Edit Orders' });
  const query = dialog.locator('.cm-content');
  const warning = dialog.getByText('Press Escape again to discard what you typed.');
  await query.press('ControlOrMeta+End');
  await query.press('Backspace');
  await dialog.getByText('purchase | last 7d | coun', { exact: true }).waitFor();
  await query.press('Escape');
  await warning.waitFor();

  await page.reload();
  await query.press('ControlOrMeta+Home');
  await query.press('Control+Space');
  await dialog.getByRole('listbox').getByRole('option').first().click();
  await expect.poll(() => query.textContent()).not.toBe('purchase | last 7d | count');
  await query.press('Escape');
  await warning.waitFor();
});

test('a half-filled token and invitation return after another screen and a reload, until they are sent', async () => {
  const { page } = await shop.visit('/settings/tokens');
  const name = page.getByRole('textbox', { name: 'Name' });
  const scope = (scopeName: string) => page.getByRole('checkbox', { name: scopeName });
  const lifetime = page.getByRole('combobox', { name: 'Valid for' });
  await name.fill('Nightly job');
  await lifetime.selectOption('30d');
  await page.getByText('query asks about events. dashboards reads').waitFor();
  await scope('query').uncheck();
  await scope('dashboards').check();
  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('half@example.com');
  await page.reload();
  expect(await page.getByRole('textbox', { name: 'E-mail address' }).inputValue()).toBe('half@example.com');
  await page.getByRole('link', { name: 'Tokens' }).click();
  expect([await name.inputValue(), await lifetime.inputValue()]).toEqual(['Nightly job', '30d']);
  expect([await scope('query').isChecked(), await scope('dashboards').isChecked()]).toEqual([false, true]);
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('rowheader', { name: /^Nightly job/ }).waitFor();
  await page.reload();
  await page.getByRole('rowheader', { name: /^Nightly job/ }).waitFor();
  expect(await name.inputValue()).toBe('');
  expect(await scope('query').isChecked()).toBe(true);
});

test('a half-filled alert returns after a reload, and Escape still asks before it is discarded', async () => {
  const id = await createDashboard(shop, sourceOf('Kept'));
  const { page } = await shop.visit('/alerts#new=purchase+%7C+last+1h+%7C+count');
  const dialog = page.getByRole('dialog', { name: 'New alert' });
  const field = (name: string) => dialog.getByRole('textbox', { name });
  const query = dialog.locator('.cm-content');
  await field('Name').fill('too-few');
  await field('Condition').fill('value < 7');
  await field('Sent to').fill('mailto:ops@example.com');
  await dialog.getByRole('combobox', { name: 'Dashboard' }).selectOption(id);
  await query.press('ControlOrMeta+End');
  await query.pressSequentially(' by day');
  await page.reload();
  await dialog.getByText('Mails cannot be sent').waitFor();
  await expect.poll(() => query.textContent()).toBe('purchase | last 1h | count by day');
  const texts = ['Name', 'Condition', 'Sent to'].map((name) => field(name).inputValue());
  expect(await Promise.all(texts)).toEqual(['too-few', 'value < 7', 'mailto:ops@example.com']);
  await expect.poll(() => dialog.getByRole('combobox', { name: 'Dashboard' }).inputValue()).toBe(id);
  await field('Name').press('Escape');
  await dialog.getByText('Press Escape again to discard what you typed.').waitFor();
  await field('Name').press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'New alert' }).click();
  await page.goto(shop.addressOf('/alerts#new=purchase+%7C+last+1h+%7C+count'));
  await expect.poll(() => field('Name').inputValue()).toBe('purchase-last-1h-count');
});

test('a long event name has the width of the timeline, and its details stand below', async () => {
  const name = 'Subscription plan upgrade confirmation dialog opened from the billing settings';
  const event = { event_type: name, user_id: 'long-name', insert_id: 'long-name-1', event_properties: { plan: 'pro' } };
  await track(shop.url, shop.publicKey, { events: [event] });
  await eventually(async () => expect((await shop.ask('user "long-name"')).total).toBe(1));
  const { page } = await shop.visit('/people#id=long-name', { browser: { viewport: { width: 1440, height: 900 } } });
  const title = page.getByText(name, { exact: true });
  const details = page.getByText(/^plan: pro/);
  const [above, below] = [await title.boundingBox(), await details.boundingBox()];
  // One line, which had a column of 11rem.
  expect(above?.height).toBeLessThan(32);
  expect(below?.y).toBeGreaterThan((above?.y ?? 0) + 10);
});

test('on a touch screen, buttons, fields and parts of a page are 40 pixels high', async () => {
  const id = await createDashboard(shop, sourceOf('Touched'));
  const browser = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const { page } = await shop.visit('/alerts', { browser });
  const question = `/ask#${new URLSearchParams({ q: 'purchase | last 7d | count by day' })}`;
  for (const path of ['/start', question, `/dashboards/${id}`, '/alerts', '/data', '/settings/tokens']) {
    await page.goto(shop.addressOf(path));
    await page.waitForLoadState('networkidle');
    const low = await page.evaluate<string[]>(`
      [...document.querySelectorAll('button, select, input:not([type=checkbox], [type=hidden]), nav a, main section header a')]
        .filter((element) => !element.closest('table') && element.checkVisibility())
        .filter((element) => element.getBoundingClientRect().height < 39)
        .map((element) => element.textContent || element.name)`);
    expect(low, path).toEqual([]);
  }
});

test('a list of events begins with the time, and the audit trail names the member who acted', async () => {
  const event = { event_type: 'listed', user_id: 'erased-soon', insert_id: 'listed-1' };
  await track(shop.url, shop.publicKey, { events: [event] });
  await eventually(async () => expect((await shop.ask('listed | list')).total).toBe(1));
  const { page } = await shop.visit(`/ask#${new URLSearchParams({ q: 'listed | list' })}`);
  const heads = page.getByRole('region', { name: 'Answer' }).getByRole('columnheader');
  await heads.first().waitFor();
  const names = await heads.allTextContents();
  expect([names.slice(0, 3), names.at(-1)]).toEqual([['time', 'event_type', 'user_id'], 'insert_id']);

  await page.goto(shop.addressOf('/people#id=erased-soon'));
  await page.getByRole('button', { name: 'Erase' }).click();
  const dialog = page.getByRole('dialog', { name: 'Erase this person' });
  await dialog.getByRole('textbox').fill('erased-soon');
  const accepted = page.waitForResponse('**/erasures');
  await dialog.getByRole('button', { name: 'Erase for ever' }).click();
  expect((await accepted).ok()).toBe(true);
  await page.goto(shop.addressOf('/settings/audit'));
  await page.getByRole('cell', { name: 'forms@example.com' }).first().waitFor();
  // Also the details, which are the last column.
  await page.setViewportSize({ width: 1440, height: 900 });
  const table = page.getByRole('region', { name: 'Audit trail' });
  expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
});

test('reports and the parts of the settings are found by their names, and reports from a dashboard', async () => {
  const id = await createDashboard(shop, sourceOf('Sent'));
  const { page } = await shop.visit(`/dashboards/${id}`);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Send as a report' }).click();
  const heading = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
  await heading('Reports');
  await page.getByRole('dialog', { name: 'New report' }).getByRole('button', { name: 'Cancel' }).click();
  for (const [words, option, title] of [
    ['token', 'Settings: Tokens', 'Tokens'],
    ['audit', 'Settings: Audit trail', 'Audit trail'],
    ['report', 'Reports', 'Reports'],
  ] as const) {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill(words);
    await page.getByRole('option', { name: option }).click();
    await heading(title);
  }
});

test('a fix of the text of a dashboard is a button, and can be undone as what is typed', async () => {
  const wrong = sourceOf('🚀 Fixes')
    .replace('last 7d', 'where _city = "🚀" && _os = "iOS"')
    .replace('| count', '| cont');
  const id = await createDashboard(shop, sourceOf('Fixes'));
  const visited = await shop.visit(`/dashboards/${id}#v=edit`);
  const { page } = visited;
  const text = page.getByRole('textbox', { name: 'Text of the dashboard' });
  await text.fill(wrong);
  const problems = page.getByRole('list', { name: 'Problems of the dashboard' });
  await problems.getByRole('button', { name: 'Replace with count' }).click();
  const halfRight = wrong.replace('| cont', '| count');
  expect(await text.inputValue()).toBe(halfRight);
  await problems.getByRole('button', { name: 'Replace with and' }).click();
  await problems.waitFor({ state: 'detached' });
  expect(await text.inputValue()).toBe(halfRight.replace('&&', 'and'));
  await expectNoFindings(visited);
  await text.press('ControlOrMeta+z');
  expect(await text.inputValue()).toBe(halfRight);
});
