// What the console says is about what it shows now: the title of the page, the notes about a
// question, the dry run of a form, the failure of each part, and what a dialog is about.
import { expect, test } from 'vitest';
import { askPath } from '../support/console-ask.js';
import { useConsoleShop } from '../support/console-shop.js';
import { createDashboard, SALES } from '../support/create-dashboard.js';

const shop = useConsoleShop({
  email: 'current@example.com',
  fill: ({ fill }) =>
    fill(Array.from({ length: 6 }, (_, index) => ({ event_type: 'purchase', user_id: `user-${index}` }))),
});

test('the title of a page is that of what it shows, also on the way back and the second time', async () => {
  const id = await createDashboard(shop, SALES);
  const { page } = await shop.visit(`/dashboards/${id}`);
  const expectTitle = (title: string) => expect.poll(() => page.title()).toBe(title);
  await page.getByRole('heading', { name: 'Numbers' }).waitFor();
  await expectTitle('Sales · Shop');
  await page.getByRole('main').getByRole('link', { name: 'Dashboards', exact: true }).click();
  await expectTitle('Dashboards · Shop');
  await page.getByRole('link', { name: 'Live' }).click();
  await expectTitle('Live · Shop');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('Sales');
  await page.getByRole('option', { name: 'Sales' }).click();
  await page.getByRole('heading', { name: 'Numbers' }).waitFor();
  await expectTitle('Sales · Shop');

  await page.goto(shop.addressOf('/people#id=user-1'));
  await expectTitle('Person · Shop');
  await page.getByRole('main').getByRole('link', { name: 'People' }).click();
  await expectTitle('People · Shop');
});

test('tabs of several alerts, events and parts of the settings differ in their titles', async () => {
  const alert = `alerts:\n  - {id: few, query: '* | count', when: value < 0, every: 1d, to: ['https://a.example']}\n`;
  await createDashboard(shop, SALES + alert);
  const { page } = await shop.visit('/alerts');
  const expectTitle = (title: string) => expect.poll(() => page.title()).toBe(title);
  await page.getByRole('link', { name: 'few', exact: true }).click();
  await expectTitle('few · Alerts · Shop');
  await page.getByRole('main').getByRole('link', { name: 'Alerts' }).click();
  await expectTitle('Alerts · Shop');
  await page.getByRole('link', { name: 'Reports' }).click();
  await expectTitle('Reports · Shop');
  await page.getByRole('link', { name: 'Settings' }).click();
  await expectTitle('Project · Settings · Shop');
  await page.getByRole('link', { name: 'Tokens' }).click();
  await expectTitle('Tokens · Settings · Shop');
  await page.goto(shop.addressOf('/data'));
  await expectTitle('Data · Shop');
  await page.getByRole('link', { name: 'purchase' }).click();
  await expectTitle('purchase · Data · Shop');
  await page.getByRole('link', { name: 'Properties', exact: true }).click();
  await expectTitle('Properties · Data · Shop');
});

test('what was done with a question is not said of the next one', async () => {
  await createDashboard(shop, SALES);
  const { page } = await shop.visit(askPath('purchase | last 7d | count'));
  await page.getByRole('button', { name: 'Add to dashboard' }).click();
  await page.getByRole('button', { name: 'Sales' }).first().click();
  const added = page.getByRole('link', { name: 'Added to Sales' });
  await added.waitFor();
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('button', { name: 'CSV' }).click();
  const downloaded = page.getByText('Downloaded');
  await downloaded.waitFor();
  await page.goto(shop.addressOf(askPath('purchase | last 7d | unique')));
  await added.waitFor({ state: 'detached' });
  await downloaded.waitFor({ state: 'detached' });

  await page.route('**/cards', (route) => route.fulfill({ status: 500, json: { error: 'internal error' } }));
  await page.getByRole('button', { name: 'Add to dashboard' }).click();
  await page.getByRole('button', { name: 'Sales' }).first().click();
  const failed = page.getByText('“Add to dashboard” failed');
  await failed.waitFor();
  await page.goto(shop.addressOf(askPath('purchase | last 7d | count')));
  await failed.waitFor({ state: 'detached' });
});

test('the dry run of a new alert is gone when its condition is changed', async () => {
  const { page } = await shop.visit(`/alerts#${new URLSearchParams({ new: 'purchase | last 7d | count' })}`);
  const dialog = page.getByRole('dialog', { name: 'New alert' });
  await dialog.getByRole('textbox', { name: 'Condition' }).fill('value > 0');
  await dialog.getByRole('button', { name: 'Dry run' }).click();
  await dialog.getByText('This would be sent now.').waitFor();
  await dialog.getByRole('textbox', { name: 'Condition' }).fill('value > 100');
  await dialog.getByText('This would be sent now.').waitFor({ state: 'detached' });
});

test('exposures of an experiment that cannot be read are called so', async () => {
  const { page } = await shop.openBrowser();
  await page.route('**/api/**/query', (route) =>
    route.request().postData()?.includes('unique by day')
      ? route.fulfill({ status: 503, json: { error: 'the exposures cannot be read' } })
      : route.continue(),
  );
  await page.goto(shop.addressOf('/experiments/button#goal=purchase'));
  await page.getByRole('alert').filter({ hasText: 'the exposures cannot be read' }).waitFor();
  await page.context().close();
});

test('the version that was chosen first is the one that its dialog shows', async () => {
  const id = await createDashboard(shop, SALES);
  const { page } = await shop.visit('/dashboards');
  const read: string[] = [];
  await page.route(`**/dashboards/${id}/versions`, (route) =>
    route.fulfill({ json: [3, 2, 1].map((version) => ({ version, created_at: '2026-11-01T00:00:00Z' })) }),
  );
  await page.route(`**/dashboards/${id}/versions/*`, async (route) => {
    const version = route.request().url().split('/').at(-1) ?? '';
    read.push(version);
    if (version === '2') await page.waitForTimeout(1000);
    await route.fulfill({ json: { source_yaml: SALES.replace('title: Sales', `title: Version-${version}`) } });
  });
  await page.goto(shop.addressOf(`/dashboards/${id}#v=versions`));
  await page.getByRole('button', { name: 'Restore version 2' }).click();
  await page.getByRole('button', { name: 'Restore version 3' }).click();
  await page.getByRole('dialog', { name: 'Changes' }).getByText('title: Version-2').waitFor();
  expect(read).toEqual(['2']);
});

test('a click beside a form loses nothing that was typed, and closes a form that is empty', async () => {
  const { page } = await shop.visit('/dashboards');
  const dialog = page.getByRole('dialog', { name: 'New dashboard' });
  const open = () => page.getByRole('button', { name: 'New dashboard' }).click();
  await open();
  await page.mouse.click(4, 4);
  await dialog.waitFor({ state: 'detached' });
  await open();
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Typed');
  await page.mouse.click(4, 4);
  expect(await dialog.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Typed');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('an erasure that goes on is not asked for after its page was left', async () => {
  const { page } = await shop.visit('/people#id=user-1');
  let polled = 0;
  const pending = { status: 'pending', request_id: '01900000-0000-7000-8000-000000000000' };
  await page.route('**/erasures', (route) => route.fulfill({ status: 202, json: pending }));
  await page.route('**/erasures/*', (route) => {
    polled += 1;
    return route.fulfill({ json: pending });
  });
  await page.getByRole('button', { name: 'Erase', exact: true }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('user-1');
  await page.getByRole('dialog').getByRole('button', { name: 'Erase for ever' }).click();
  await expect.poll(() => polled, { timeout: 10_000 }).toBeGreaterThan(0);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Live' }).click();
  // The page may be waiting for its next turn.
  await page.waitForTimeout(3000);
  const before = polled;
  await page.waitForTimeout(5000);
  expect(polled).toBe(before);
});

test('a page with a running check says that leaving ends it, and asks before it is closed', async () => {
  const { page } = await shop.openBrowser();
  await page.route('**/imports?*', () => undefined);
  await page.goto(shop.addressOf('/settings/import'));
  const file = { name: 'events.json', mimeType: 'application/json', buffer: Buffer.from('{}') };
  await page.getByLabel('Files').setInputFiles(file);
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText('Leaving this page ends the check').waitFor();
  const asked = page.waitForEvent('dialog');
  await page.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.accept();
  await page.context().close();
});
