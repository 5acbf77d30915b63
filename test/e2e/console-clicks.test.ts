// Taps and clicks in the console: room for a finger on touch screens and for long names, the ways
// from an answer to a person and to a dashboard, and from a dashboard to a report. What is clicked
// twice is sent once and says that it is in progress.
import { expect, test } from 'vitest';
import { expectNoFindings } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';
import { createDashboard, SALES } from '../support/create-dashboard.js';

const LONG = `checkout.${'step.'.repeat(36)}done`;

const shop = useConsoleShop({
  email: 'clicks@example.com',
  fill: ({ fill }) =>
    fill([
      ...['pro', 'free'].map((plan) => ({ event_type: 'purchase', user_id: plan, event_properties: { plan } })),
      { event_type: LONG, user_id: 'long' },
    ]),
});

const askPath = (q: string): string => `/ask#${new URLSearchParams({ q })}`;
const TOUCH = { browser: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } };

test('on a touch screen, ways back, headers, legends, and cards of a text are 40 pixels high', async () => {
  const id = await createDashboard(shop, SALES);
  const { page } = await shop.visit('/data', TOUCH);
  const expectRoom = async (path: string, role: 'link' | 'button' | 'checkbox', name: string): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(shop.addressOf(path));
    // Behind the navigation, which may have the same name.
    const control = page.getByRole(role, { name, exact: true }).last();
    await control.waitFor();
    const tapped = role === 'checkbox' ? page.getByText(name, { exact: true }) : control;
    const { width, height } = (await tapped.boundingBox()) ?? { width: 0, height: 0 };
    expect(Math.min(width, height), name).toBeGreaterThanOrEqual(40);
  };
  await expectRoom('/live', 'link', 'Event Analytics');
  await expectRoom('/people#id=pro', 'link', 'People');
  await expectRoom('/settings/tokens', 'checkbox', 'query');
  await expectRoom(`/dashboards/${id}#v=edit`, 'button', 'Edit Orders');
  await expectRoom(`/dashboards/${id}#v=edit`, 'button', 'Go to Orders in the text, line 6');
  await expectRoom('/data#part=events&name=purchase', 'link', 'pro');
  await expectRoom(askPath('purchase | last 7d | count by event_properties.plan'), 'button', 'count');
  await expectRoom(askPath('purchase | last 30d | count by day, event_properties.plan'), 'button', 'pro');
});

test('completions have room for a finger, and a long name ends in an ellipsis before its kind', async () => {
  const { page } = await shop.visit('/ask', TOUCH);
  const editor = page.locator('.cm-content');
  await editor.pressSequentially('che');
  const option = page.getByRole('option').first();
  await option.waitFor();
  expect((await option.boundingBox())?.height).toBeGreaterThanOrEqual(40);
  const isCut = (box: { scrollWidth: number; clientWidth: number }): boolean => box.scrollWidth > box.clientWidth;
  expect(await option.locator('.cm-completionLabel').evaluate(isCut)).toBe(true);
  expect(await option.evaluate(isCut)).toBe(false);
});

test('a long name has the room that it shows: in a chip, in paths, which tell the whole name, and in shares', async () => {
  const { page } = await shop.visit(askPath(`paths from "${LONG}" | last 30d`));
  const chip = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: LONG }) });
  const widthOf = async (box: typeof chip) => (await box.boundingBox())?.width ?? 0;
  await expect.poll(() => widthOf(chip)).toBe(await widthOf(chip.getByRole('button')));
  await expect.poll(() => page.locator('svg title').allTextContents()).toEqual([LONG]);
  const card = "      - {id: all, title: All, kind: metric, viz: pie, query: '* | last 30d | count by event_type'}\n";
  const id = await createDashboard(shop, SALES + card);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(shop.addressOf(`/dashboards/${id}`));
  const LINES_PX = 72;
  expect((await page.getByTitle(LONG).boundingBox())?.height).toBeLessThanOrEqual(LINES_PX);
});

test('an id of a person in an answer opens the page of that person, and back leads to the answer', async () => {
  const { page } = await shop.visit(askPath('funnel purchase -> refund | last 30d | people lost after 1'));
  await page.getByRole('row', { name: 'free' }).getByRole('link', { name: 'free' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'free' }).waitFor();
  await page.getByRole('listitem').getByText('purchase').waitFor();
  await page.goBack();
  await page.getByRole('row', { name: 'free' }).waitFor();
  await page.goto(shop.addressOf(askPath('purchase | last 30d | count by user_id')));
  await page.getByRole('link', { name: 'pro' }).click();
  await page.getByRole('heading', { level: 1, name: 'pro' }).waitFor();
});

test('an invitation is revoked after a question, by two clicks once, without a failure', async () => {
  const { page, requests } = await shop.visit('/settings/members');
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('twice@example.com');
  await page.getByRole('button', { name: 'Invite' }).click();
  const revoke = page.getByRole('button', { name: 'Revoke twice@example.com' });
  await revoke.waitFor();
  await page.route('**/invitations/*', async (route) => {
    await page.waitForTimeout(300);
    await route.continue();
  });
  const deletions = () => requests.filter((request) => request.method() === 'DELETE');
  await revoke.click();
  const asking = page.getByRole('dialog', { name: 'Revoke twice@example.com' });
  await asking.getByRole('button', { name: 'Cancel' }).click();
  await revoke.click();
  expect(deletions()).toHaveLength(0);
  await asking.getByRole('button', { name: 'Revoke', exact: true }).dblclick();
  await revoke.waitFor({ state: 'detached' });
  expect(deletions()).toHaveLength(1);
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('the demo that is loaded by two clicks is asked for once', async () => {
  const { page, requests } = await shop.visit('/start');
  await page.route('**/demo', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await page.waitForTimeout(300);
    return route.fulfill({ status: 503, json: { error: 'try again later' } });
  });
  await page.getByRole('button', { name: 'Load the demo' }).dblclick();
  await page.getByRole('alert').filter({ hasText: 'try again later' }).waitFor();
  const sent = requests.filter((request) => request.method() === 'POST' && request.url().endsWith('/demo'));
  expect(sent).toHaveLength(1);
});

test('an answer that is being added to a dashboard says so until it is', async () => {
  const id = await createDashboard(shop, SALES);
  const { page } = await shop.visit(askPath('purchase | last 7d | count'));
  let add = (): void => {};
  const isWanted = new Promise<void>((resolve) => {
    add = resolve;
  });
  await page.route(`**/dashboards/${id}/cards`, async (route) => {
    await isWanted;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Add to dashboard' }).click();
  await page.getByRole('button', { name: 'Sales', exact: true }).last().click();
  await page.getByRole('status').filter({ hasText: 'In progress' }).waitFor();
  add();
  await page.getByRole('link', { name: 'Added to Sales' }).waitFor();
  expect(await page.getByText('In progress').count()).toBe(0);
});

test('an answer becomes a card of a new dashboard, which is named, and of another by two clicks', async () => {
  const { page } = await shop.visit(askPath('purchase # orders\n| last 30d | count by day'));
  await page.getByRole('region', { name: 'Answer' }).getByRole('img').waitFor();
  await page.getByRole('button', { name: 'Add to dashboard' }).click();
  await page.getByRole('button', { name: 'New dashboard' }).click();
  const dialog = page.getByRole('dialog', { name: 'New dashboard' });
  await dialog.getByRole('textbox', { name: 'Title' }).fill('All orders');
  await dialog.getByRole('combobox', { name: 'Who sees it' }).selectOption('Everyone in the project');
  await dialog.getByRole('button', { name: 'Create dashboard' }).click();
  await page.getByRole('heading', { name: 'All orders' }).waitFor();
  await page.getByRole('img').waitFor();
  expect(await page.getByText('Only you').count()).toBe(0);

  await page.goto(shop.addressOf(askPath('purchase | last 30d | count')));
  await page.getByRole('region', { name: 'Answer' }).getByText('2', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Add to dashboard' }).click();
  await page.getByRole('button', { name: 'All orders' }).click();
  await page.getByRole('link', { name: 'Added to All orders' }).click();
  const card = page.getByRole('region', { name: 'purchase | last 30d | count', exact: true });
  await card.getByText('2', { exact: true }).waitFor();
});

test('a report is added by a form, from the menu of the dashboard that it sends', async () => {
  const id = await createDashboard(shop, SALES);
  const visited = await shop.visit(`/dashboards/${id}`);
  const { page } = visited;
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Send as a report' }).click();
  const dialog = page.getByRole('dialog', { name: 'New report' });
  await expect.poll(() => dialog.getByRole('combobox', { name: 'Dashboard' }).inputValue()).toBe(id);
  await dialog.getByRole('combobox', { name: 'Sent' }).selectOption('On Fridays');
  await dialog.getByRole('textbox', { name: 'Sent to' }).fill('ann@example.com');
  await expectNoFindings(visited);
  await dialog.getByRole('button', { name: 'Add report' }).click();
  const list = page.getByRole('list', { name: 'Reports', exact: true });
  await list.getByText('friday 08:00').waitFor();
  await list.getByText('mailto:ann@example.com').waitFor();
  const personal = await createDashboard(shop, SALES, 'personal');
  await page.goto(shop.addressOf(`/alerts/reports#new=${personal}`));
  await dialog.getByText('Only you see “Sales”').waitFor();
  await expect.poll(() => dialog.getByRole('combobox', { name: 'Dashboard' }).inputValue()).toBe('');
});

test('steps of a funnel change places, and its window is said and chosen', async () => {
  const visited = await shop.visit(askPath('funnel purchase -> refund | last 30d'), TOUCH);
  const { page } = visited;
  const answer = page.getByRole('region', { name: 'Answer' });
  await answer.getByText('window 1 h').waitFor();
  const chips = page.getByRole('list', { name: 'Parts of the query' });
  await chips.getByRole('button', { name: 'Event: refund' }).click();
  await expectNoFindings(visited);
  await chips.getByRole('button', { name: 'Move one step earlier' }).click();
  const query = page.locator('.cm-content');
  await expect.poll(() => query.textContent()).toBe('funnel refund -> purchase | last 30d');
  await chips.getByRole('button', { name: 'Add: Window' }).click();
  await chips.getByRole('button', { name: 'window 7d' }).click();
  await expect.poll(() => query.textContent()).toBe('funnel refund -> purchase | last 30d | window 7d');
  await answer.getByText('window 7 d').waitFor();
});

test('a form that was opened from another screen returns to it when it is cancelled', async () => {
  const id = await createDashboard(shop, SALES);
  const { page } = await shop.visit(askPath('purchase | last 30d | count'));
  const cancel = async (name: string): Promise<void> => {
    const dialog = page.getByRole('dialog', { name });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  const answer = page.getByRole('region', { name: 'Answer' });
  await answer.getByText('2', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Add to dashboard' }).click();
  await page.getByRole('link', { name: 'New alert' }).click();
  await cancel('New alert');
  await answer.getByText('2', { exact: true }).waitFor();
  await page.goto(shop.addressOf(`/dashboards/${id}`));
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Send as a report' }).click();
  await cancel('New report');
  await page.getByRole('button', { name: 'More' }).waitFor();
  await page.goto(shop.addressOf('/alerts'));
  await page.getByRole('button', { name: 'New alert' }).click();
  await cancel('New alert');
  await page.getByRole('button', { name: 'New alert' }).waitFor();
});
