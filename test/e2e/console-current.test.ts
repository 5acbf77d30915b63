// What the console says is about what it shows now: the title of the page, the notes about a
// question, the dry run of a form, and the failure of each part.
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
