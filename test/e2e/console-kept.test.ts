// What a tab of the console keeps: half-filled forms of a dashboard, the letters typed after
// Ctrl+K, and nothing of another person. A check that failed for a while is made again, and a file
// that cannot be loaded fails nothing.
import { expect, test } from 'vitest';
import { expectNoFindings } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';
import type { CookieJar } from '../support/cookie-jar.js';
import { createDashboard, SALES } from '../support/create-dashboard.js';

const shop = useConsoleShop({ email: 'kept@example.com' });

const VARIABLE = 'variables:\n  plan: {type: input, label: Plan}\n';
const askPath = (q: string): string => `/ask#${new URLSearchParams({ q })}`;

const sessionOf = (jar: CookieJar) => ({
  ...{ name: 'service_session', value: jar.get('service_session') ?? '', url: shop.url },
});

test('half-filled forms of a card, a section and a variable return after a reload, until they are left', async () => {
  const id = await createDashboard(shop, SALES + VARIABLE);
  const visited = await shop.visit(`/dashboards/${id}#v=edit`);
  const { page } = visited;
  const text = page.getByRole('textbox', { name: 'Text of the dashboard' });
  const dialog = page.getByRole('dialog');
  const field = (name: string) => dialog.getByRole('textbox', { name, exact: true });
  const choice = (name: string) => dialog.getByRole('combobox', { name, exact: true });
  const query = dialog.locator('.cm-content');

  await page.getByRole('button', { name: 'Edit Orders' }).click();
  await field('Title').fill('Orders so far');
  await query.press('ControlOrMeta+End');
  await query.pressSequentially(' by day');
  await choice('Width').selectOption({ label: 'A half' });
  await page.reload();
  await expect.poll(() => query.textContent()).toBe('purchase | last 7d | count by day');
  expect(await field('Title').inputValue()).toBe('Orders so far');
  expect(await choice('Width').locator('option:checked').textContent()).toBe('A half');
  await expectNoFindings(visited);
  await field('Title').press('Escape');
  await dialog.getByText('Press Escape again to discard what you typed.').waitFor();
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await text.inputValue()).toContain('title: Orders so far');

  // The form of another card has its own fields; one that was applied is not there any more.
  await page.reload();
  await page.getByRole('button', { name: 'Add card to Numbers' }).click();
  expect(await field('Title').inputValue()).toBe('');
  await choice('Shows').selectOption({ label: 'The answers of several queries' });
  await field('Name').fill('First');
  await page.getByRole('button', { name: 'Add query' }).click();
  await page.reload();
  await expect.poll(() => dialog.locator('fieldset').count()).toBe(2);
  expect(await field('Name').first().inputValue()).toBe('First');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Add section' }).click();
  await field('Title').fill('Half a sec');
  await page.reload();
  await expect.poll(() => field('Title').inputValue()).toBe('Half a sec');
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('button', { name: 'Edit variable plan' }).click();
  await choice('Type').selectOption({ label: 'Choice' });
  await field('Label').fill('Which plan');
  await field('Options, one on each line').fill('pro = Pro');
  await page.reload();
  await expect.poll(() => field('Options, one on each line').inputValue()).toBe('pro = Pro');
  expect(await field('Label').inputValue()).toBe('Which plan');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('button', { name: 'Edit variable plan' }).waitFor();
  expect(await dialog.count()).toBe(0);
});

test('what a person typed and asked is not found by another one who signs in after their session ended', async () => {
  const { page, context } = await shop.visit('/settings/tokens');
  await page.getByRole('textbox', { name: 'Name' }).fill('Secret plans');
  await page.goto(shop.addressOf(askPath('takeover | last 7d | count')));
  await page.getByRole('region', { name: 'Answer' }).getByText('No events match').waitFor();
  await context.clearCookies();
  await page.getByRole('link', { name: 'Live' }).click();
  // The screen asks for events, and is told that the session has ended.
  await page.waitForURL('**/login?*');
  await page.goBack();
  await page.waitForURL('**/login?*');
  const kept = () => page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })');
  expect(await kept()).toContain('takeover');
  await context.addCookies([sessionOf(await shop.join('other@example.com', 'admin'))]);
  await page.goto(shop.addressOf('/settings/tokens'));
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('');
  expect(await kept()).not.toMatch(/takeover|Secret/);

  // The same person finds it.
  await page.getByRole('textbox', { name: 'Name' }).fill('Own plans');
  await page.reload();
  await expect.poll(() => page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Own plans');
});

test('a form that is typed into, and chosen files, stay when the session has ended, and are sent after a sign-in', async () => {
  const { page, context } = await shop.visit('/settings/project');
  const cookies = await context.cookies();
  const signedOut = page.getByRole('alert').filter({ hasText: 'open this page in another tab and sign in there' });
  const name = page.getByRole('textbox', { name: 'Name' });
  await name.fill('Shop of coffee');
  await context.clearCookies();
  // What a tab does that is opened again.
  await Promise.all([
    page.waitForResponse((response) => response.status() === 401),
    page.evaluate("dispatchEvent(new Event('focus'))"),
  ]);
  await page.getByRole('button', { name: 'Save' }).click();
  await signedOut.waitFor();
  expect(await name.inputValue()).toBe('Shop of coffee');

  await context.addCookies(cookies);
  await page.goto(shop.addressOf('/settings/import'));
  const line = '203.0.113.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "Mozilla/5.0"\n';
  await page.getByLabel('From').selectOption('access-log');
  await page
    .getByLabel('Files')
    .setInputFiles({ name: 'access.log', mimeType: 'text/plain', buffer: Buffer.from(line) });
  await page.getByLabel('Address of the site').fill('https://example.com');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Check the files' }).click();
  await signedOut.waitFor();
  await context.addCookies(cookies);
  await page.getByRole('button', { name: 'Check the files' }).click();
  await page.getByRole('region', { name: /^Checked/ }).waitFor();
});

test('letters typed after Ctrl+K go to its field before its list is loaded', async () => {
  const { page } = await shop.openBrowser();
  let load = (): void => {};
  const isWanted = new Promise<void>((resolve) => {
    load = resolve;
  });
  await page.route('**/palette-found*.js', async (route) => {
    await isWanted;
    await route.continue();
  });
  await page.goto(shop.addressOf('/data'));
  await page.getByRole('heading', { name: 'Data' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('audit');
  const field = page.getByRole('combobox', { name: 'Go to' });
  expect(await field.inputValue()).toBe('audit');
  load();
  await page.getByRole('option', { name: 'Settings: Audit trail' }).waitFor();
  await page.keyboard.type(' trail');
  expect(await field.inputValue()).toBe('audit trail');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Audit trail' }).waitFor();
  await page.context().close();
});

test('definitions that could not be checked are checked again, though nothing is typed', async () => {
  const { page } = await shop.visit('/definitions');
  await page.getByRole('button', { name: 'Write the first' }).click();
  await page.getByText('No problems').waitFor();
  await page.context().setOffline(true);
  await page
    .getByRole('textbox', { name: 'Text of the definitions' })
    .fill('version: 1\nmetrics:\n  orders: { query: purchase | count }\n');
  await page.getByRole('alert').filter({ hasText: 'The service cannot be reached' }).waitFor();
  await page.context().setOffline(false);
  await page.getByText('No problems').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('the file of regular expressions that cannot be loaded fails nothing', async () => {
  const { page } = await shop.openBrowser();
  await page.addInitScript("addEventListener('unhandledrejection', () => { window.wasUnhandled = true; });");
  await page.goto(shop.addressOf('/ask'));
  const editor = page.locator('.cm-content');
  await editor.waitFor();
  await page.waitForLoadState('networkidle');
  const asked: string[] = [];
  await page.route('**/*.js', (route) => {
    asked.push(route.request().url());
    return route.abort();
  });
  await editor.pressSequentially('* | where event_type ~ "a" | last 7d | count');
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByRole('region', { name: 'Answer' }).getByText('0', { exact: true }).waitFor();
  expect(await page.evaluate('window.wasUnhandled')).toBe(undefined);
  await page.context().close();
});
