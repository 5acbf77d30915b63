// What a person has typed or chosen in the console is still there after a reload, a way back, a
// refusal, and a service that does not answer; and no answer stands under another question or time
// range.
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type ConsoleVisit, questionsOf } from '../support/console.js';
import { expectNoFindings } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';
import { createDashboard } from '../support/create-dashboard.js';
import { eventually } from '../support/eventually.js';
import { track } from '../support/track.js';

const PERSON = 'user-1';
/** More rows than a table has at first. */
const MANY = 1200;

const shop = useConsoleShop({
  email: 'nothing-lost@example.com',
  fill: ({ fill }) =>
    fill([
      ...Array.from({ length: 6 }, (_, index) => ({ event_type: 'purchase', user_id: `user-${index}` })),
      ...Array.from({ length: MANY }, (_, n) => ({
        ...{ event_type: 'many', user_id: `user-${n % 6}`, event_properties: { n: `value ${n}` } },
      })),
    ]),
});

const SOURCE = `version: 1
title: Sales
sections:
  - title: Numbers
    cards:
      - {id: orders, title: Orders, kind: metric, viz: number, query: 'purchase {{range.stage}} | count'}
`;

const asking = (q: string): string => `/ask#${new URLSearchParams({ q })}`;
const answerIn = ({ page }: ConsoleVisit) => page.getByRole('region', { name: 'Answer' });

test('the file and the text of an answer have the rows that are shown, and the file all of them', async () => {
  const live = 'clicked | last 1h | count by event_properties.n';
  const visited = await shop.visit(asking(live));
  const { page, requests } = visited;
  const answer = answerIn(visited);
  const downloadCsv = async (): Promise<string> => {
    await page.getByRole('button', { name: 'Share' }).click();
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(csv.suggestedFilename()).toBe('answer.csv');
    return readFile(await csv.path(), 'utf8');
  };
  const send = async (n: string): Promise<void> => {
    const event = { event_type: 'clicked', user_id: PERSON, event_properties: { n } };
    await track(shop.url, shop.publicKey, { events: [event] });
    await eventually(async () =>
      expect((await shop.ask(live)).rows.some((row) => Object.values(row).includes(n))).toBe(true),
    );
  };
  await answer.getByText('No events match').waitFor();
  await send('=1+1, "a"');
  await page.getByRole('button', { name: 'Run' }).click();
  await answer.getByRole('cell', { name: '=1+1' }).waitFor();
  // Sent after the answer that is shown.
  await send('later');
  const asked = questionsOf(requests).length;
  expect(await downloadCsv()).toBe('event_properties.n,count\r\n"\'=1+1, ""a""",1\r\n');
  await visited.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  for (const name of ['Copy as Markdown', 'Copy as prompt']) {
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('button', { name }).click();
    await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
    const text = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(text).toContain('Rows: 1 of 1.');
    expect(text).not.toContain('later');
  }
  expect(questionsOf(requests)).toHaveLength(asked);

  // Of an answer whose first rows are shown, the table has all rows with the file.
  const many = 'many | last 90d | count by event_properties.n | sort event_properties.n';
  await page.goto(shop.addressOf(asking(many)));
  await answer.getByText('1,000 of 1,200 rows').first().waitFor();
  expect((await downloadCsv()).trimEnd().split('\r\n')).toHaveLength(1 + MANY);
  await answer.locator(`table[aria-rowcount="${MANY + 1}"]`).waitFor();
});

test('the answer of another question is not shown under one that was cancelled', async () => {
  const { page } = await shop.visit(asking('purchase | last 30d | count'));
  const answer = page.getByRole('region', { name: 'Answer' });
  await answer.getByText('6', { exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  const { pid } = shop.processes.get('query');
  process.kill(pid, 'SIGSTOP');
  try {
    await page.goto(shop.addressOf(asking('signup | last 90d | count')));
    await page.getByRole('button', { name: 'Cancel' }).click();
    await answer.getByRole('status').filter({ hasText: 'Cancelled' }).waitFor();
    expect(await answer.textContent()).toBe('Cancelled. Nothing runs any more.');
  } finally {
    process.kill(pid, 'SIGCONT');
  }
});

test('what is typed over a selection violates no policy, and is undone in one step', async () => {
  const editor = (await shop.visit('/ask')).page.locator('.cm-content');
  await editor.pressSequentially('purchase | last 7d');
  for (const typed of ['refund', '"']) await editor.press('Control+a').then(() => editor.pressSequentially(typed));
  expect(await editor.textContent()).toBe('"refund"');
  await editor.press('Control+z');
  expect(await editor.textContent()).toBe('refund');
});

test('the text of a dashboard that is not saved returns after a reload, until it is cancelled', async () => {
  const id = await createDashboard(shop, SOURCE);
  const visited = await shop.visit(`/dashboards/${id}#v=edit`);
  const { page } = visited;
  const text = page.getByRole('textbox', { name: 'Text of the dashboard' });
  const changed = SOURCE.replace('Numbers', 'Figures');
  await text.fill(changed);
  await page.reload();
  await page.getByText('These are your unsaved changes').waitFor();
  expect(await text.inputValue()).toBe(changed);
  await expectNoFindings(visited);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  expect(await text.inputValue()).toBe(SOURCE);
  expect(await page.getByText('These are your unsaved changes').count()).toBe(0);
});

test('a dashboard that two people change at once keeps both texts, and says what would be replaced', async () => {
  const id = await createDashboard(shop, SOURCE);
  const [first, second] = [await shop.visit(`/dashboards/${id}#v=edit`), await shop.visit(`/dashboards/${id}#v=edit`)];
  const fill = ({ page }: ConsoleVisit, text: string) =>
    page.getByRole('textbox', { name: 'Text of the dashboard' }).fill(text);
  const review = ({ page }: ConsoleVisit) => page.getByRole('button', { name: 'Review changes' }).click();
  const save = ({ page }: ConsoleVisit) => page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await fill(first, SOURCE.replace('Numbers', 'Figures'));
  await fill(second, SOURCE.replace('Orders', 'Purchases'));
  await review(first);
  await save(first);
  await first.page.getByRole('heading', { name: 'Figures' }).waitFor();
  await review(second);
  const overtaken = second.page.getByText('Version 2 was saved while you edited.');
  await overtaken.waitFor();
  await second.page.reload();
  await overtaken.waitFor();
  await review(second);
  const dialog = second.page.getByRole('dialog');
  await dialog.getByText('Version 2 was saved while you edited.').waitFor();
  await dialog.getByText('− ').filter({ hasText: 'Figures' }).waitFor();
  await expectNoFindings(second);
  await save(second);
  await second.page.getByRole('region', { name: 'Purchases' }).waitFor();
  expect(await second.page.getByRole('heading', { name: 'Figures' }).count()).toBe(0);
});

test('the text of definitions that is not saved returns after another screen, and is saved', async () => {
  const visited = await shop.visit('/definitions');
  const { page } = visited;
  await page.getByRole('button', { name: 'Write the first' }).click();
  const text = page.getByRole('textbox', { name: 'Text of the definitions' });
  const changed = 'version: 1\nmetrics:\n  orders: { query: purchase | count }\n';
  await text.fill(changed);
  await page.getByRole('link', { name: 'Ask', exact: true }).click();
  await page.getByRole('link', { name: 'Definitions' }).click();
  await page.getByRole('button', { name: 'Write the first' }).click();
  await page.getByText('These are your unsaved changes').waitFor();
  expect(await text.inputValue()).toBe(changed);
  await expectNoFindings(visited);
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('dialog', { name: 'Changes' }).getByRole('button', { name: 'Save' }).click();
  await page.getByRole('list', { name: 'Metrics' }).waitFor();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  expect(await text.inputValue()).toBe(changed);
  expect(await page.getByText('These are your unsaved changes').count()).toBe(0);
});

test('the time range of a dashboard is the one of the address after going back', async () => {
  const id = await createDashboard(shop, SOURCE);
  const { page } = await shop.visit(`/dashboards/${id}#var.range=today`);
  const range = page.getByRole('combobox', { name: 'Time range' });
  const from = page.getByLabel('From');
  await range.selectOption('custom');
  await from.fill('2026-01-01');
  await page.getByLabel('To', { exact: true }).fill('2026-01-31');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/var\.range=from/);
  await range.selectOption('last 30d');
  await page.waitForURL(/var\.range=last/);
  await page.goBack();
  await from.waitFor();
  expect(await from.inputValue()).toBe('2026-01-01');
  await page.goBack();
  await from.waitFor({ state: 'detached' });
  expect(await range.inputValue()).toBe('today');
});

test('a card with a time range of its own names it, beside that of the dashboard', async () => {
  const own =
    "      - {id: month, title: Month, kind: metric, viz: number, query: 'purchase | from 2026-10-03 to 2026-10-18 | count'}\n";
  const visited = await shop.visit(`/dashboards/${await createDashboard(shop, SOURCE + own)}`);
  const { page } = visited;
  await page
    .getByRole('region', { name: 'Month' })
    .getByText(/^Own time range: 3 Oct 2026, 00:00 – 18 Oct 2026, 00:00$/)
    .waitFor();
  await page.getByRole('region', { name: 'Orders' }).getByText('6', { exact: true }).waitFor();
  expect(await page.getByText('Own time range').count()).toBe(1);
  await expectNoFindings(visited);
});

test('an alert of a project without dashboards makes one, which stays chosen when the alert is refused', async () => {
  const { id: projectId } = await shop.newProject('Without dashboards');
  const visited = await shop.visit('/alerts', { projectId });
  const { page } = visited;
  await page.getByRole('button', { name: 'New alert' }).click();
  const dialog = page.getByRole('dialog', { name: 'New alert' });
  await dialog.getByRole('link', { name: 'Ask a question first' }).waitFor();
  const dashboard = dialog.getByRole('combobox', { name: 'Dashboard' });
  const add = dialog.getByRole('button', { name: 'Add alert' });
  const answered = (path: string) => page.waitForResponse((response) => response.url().endsWith(path));
  expect(await dashboard.locator('option').allTextContents()).toEqual(['New dashboard']);
  const query = dialog.locator('.cm-content');
  await query.click();
  await query.pressSequentially('purchase | last 1h | count');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('not an id');
  await dialog.getByRole('textbox', { name: 'Condition' }).fill('valeu < 5');
  await dialog.getByRole('textbox', { name: 'Sent to' }).fill('mailto:ops@example.com');
  await expectNoFindings(visited);
  await Promise.all([answered('/alerts/dry-run'), add.click()]);
  await dialog.getByRole('alert').filter({ hasText: 'has no column "valeu"' }).waitFor();
  expect(await dashboard.locator('option').allTextContents()).toEqual(['New dashboard']);
  await dialog.getByRole('textbox', { name: 'Condition' }).fill('value < 5');
  await add.click();
  await dialog.getByRole('alert').waitFor();
  await expect.poll(() => dashboard.locator('option').allTextContents()).toEqual(['Alerts', 'New dashboard']);
  await dialog.getByRole('textbox', { name: 'Name' }).fill('few-orders');
  await add.click();
  await page.getByRole('list', { name: 'Alerts' }).getByRole('link', { name: 'few-orders' }).waitFor();
  await page.getByRole('link', { name: 'Dashboards' }).click();
  await expect.poll(() => page.getByRole('main').getByRole('listitem').count()).toBe(1);
});

test('a personal dashboard is copied for the project, also when its key is taken there', async () => {
  const { page } = await shop.visit(`/dashboards/${await createDashboard(shop, SOURCE, 'personal')}`);
  const mine = page.getByText('Only you');
  const copy = async (): Promise<string> => {
    await mine.waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Copy for the project' }).click();
    await mine.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
    return page.url();
  };
  const first = await copy();
  await page.goBack();
  expect(await copy()).not.toBe(first);
});

test('a lost connection is named at once, and screens load when it is back', async () => {
  const id = await createDashboard(shop, SOURCE);
  const { page, context, complaints } = await shop.visit(`/dashboards/${id}`);
  await page.getByRole('heading', { name: 'Orders' }).waitFor();
  await context.setOffline(true);
  await page.getByRole('main').getByRole('link', { name: 'Dashboards' }).click();
  await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
  await page.getByRole('link', { name: 'Experiments' }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'A file of the console could not be loaded' });
  await alert.waitFor();
  // The browser's own, about the file that it could not load.
  for (const text of complaints.splice(0)) expect(text).toMatch(/preload|imported module/);
  await context.setOffline(false);
  await alert.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Experiments', exact: true }).waitFor();
});

test('an erasure is asked about again while the service does not answer', async () => {
  const { page } = await shop.visit(`/people#${new URLSearchParams({ id: PERSON })}`);
  const answers = [
    { status: 503, json: { error: 'try again later' } },
    { status: 200, json: { status: 'erased', request_id: 'r1', events: 7 } },
  ];
  await page.route('**/erasures', (route) =>
    route.fulfill({ status: 202, json: { status: 'pending', request_id: 'r1' } }),
  );
  await page.route('**/erasures/r1', (route) => route.fulfill(answers.shift() ?? { status: 500 }));
  await page.getByRole('button', { name: 'Erase' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill(PERSON);
  await page.getByRole('button', { name: 'Erase for ever' }).click();
  const receipt = page.getByRole('dialog', { name: 'Receipt' });
  await receipt.getByRole('heading', { name: 'Erased' }).waitFor();
  await receipt.getByText('7', { exact: true }).waitFor();
});

test('a dashboard that could not be read at first is read again by itself', async () => {
  const id = await createDashboard(shop, SOURCE);
  const { page } = await shop.visit('/dashboards');
  const answers = [503];
  await page.route('**/draft', (route) => {
    const status = answers.shift();
    return status === undefined ? route.continue() : route.fulfill({ status, json: { error: 'try again later' } });
  });
  await page.goto(shop.addressOf(`/dashboards/${id}#v=edit&card=orders`));
  await page.getByText('try again later').waitFor();
  await eventually(async () => expect(await page.getByRole('dialog', { name: 'Edit Orders' }).count()).toBe(1));
});

test('the console works in a browser that forbids storage', async () => {
  const { page } = await shop.visit('/live');
  await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage']) {
    Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });
  }`);
  const asked = shop.addressOf(asking('purchase | last 30d | count'));
  await page.goto(asked);
  await page.getByRole('region', { name: 'Answer' }).getByText('6', { exact: true }).waitFor();
  // The sign-in keeps the query elsewhere, and fails at nothing where it cannot.
  await page.context().clearCookies();
  const { pathname, hash } = new URL(asked);
  await page.goto(`${shop.url}/login?next=${encodeURIComponent(pathname)}${hash}`);
  await page.waitForURL(/\/login/);
});

test('a menu whose file is missing leaves the question and its answer', async () => {
  const visited = await shop.visit(asking('purchase | last 30d | count'));
  const { page } = visited;
  await answerIn(visited).getByText('6', { exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.route('**/share-actions*.js', (route) => route.abort());
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('alert').filter({ hasText: 'This menu could not be shown' }).waitFor();
  await answerIn(visited).getByText('6', { exact: true }).waitFor();
  await expectNoFindings(visited);
  // React prints the failure that the menu shows.
  visited.complaints.length = 0;
});

test.each([
  ['Explain', 'explain-dialog', []],
  ['New project', 'new-project', ['Project: Shop']],
])('a dialog whose file is missing leaves the question and its answer: %s', async (name, file, before) => {
  const visited = await shop.visit(asking('purchase | last 30d | count'));
  const { page } = visited;
  await answerIn(visited).getByText('6', { exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.route(`**/${file}*.js`, (route) => route.abort());
  for (const first of before) await page.getByRole('button', { name: first }).click();
  await page.getByRole('button', { name, exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'This dialog could not be shown' });
  await dialog.getByRole('alert').filter({ hasText: 'A file of the console could not be loaded' }).waitFor();
  await expectNoFindings(visited);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  await answerIn(visited).getByText('6', { exact: true }).waitFor();
  // React prints the failure that the dialog shows.
  visited.complaints.length = 0;
});

test('a query is asked and answered where the file of its chips is missing', async () => {
  const visited = await shop.visit('/live');
  const { page } = visited;
  await page.route('**/chips-bar*.js', (route) => route.abort());
  await page.goto(shop.addressOf(asking('purchase | last 30d | count')));
  await page.getByRole('alert').filter({ hasText: 'The parts of the query could not be shown' }).waitFor();
  await answerIn(visited).getByText('6', { exact: true }).waitFor();
  await expectNoFindings(visited);
  visited.complaints.length = 0;
});

test('live events that are refused for good are not asked for again, with the reason', async () => {
  const { page } = await shop.openBrowser();
  let asked = 0;
  await page.route('**/api/**/live*', (route) => {
    asked += 1;
    return route.fulfill({ status: 403, json: { error: 'not for members' } });
  });
  await page.goto(shop.addressOf('/live'));
  await page.getByRole('status').filter({ hasText: 'cannot be read: not for members.' }).waitFor();
  await page.waitForTimeout(6000);
  // The feed, and why it was refused.
  expect(asked).toBe(2);
  await page.context().close();
});

test('a list of devices that is cut says so', async () => {
  const { page } = await shop.visit('/live');
  let total = 1;
  await page.route('**/query', async (route) => {
    if (!route.request().postDataJSON().q.includes('device_id exists')) return route.continue();
    const rows = [{ device_id: 'laptop', user_id: PERSON, count: 1 }];
    return route.fulfill({ json: { columns: [], rows, total, metadata: {} } });
  });
  await page.goto(shop.addressOf(`/people#id=${PERSON}`));
  const devices = page.getByRole('region', { name: 'Devices' });
  await devices.getByText('laptop').waitFor();
  expect(await devices.getByText('more devices than are listed').count()).toBe(0);
  total = 501;
  await page.reload();
  await devices.getByText('more devices than are listed').waitFor();
});
