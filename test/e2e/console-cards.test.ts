// Cards of dashboards that are edited by forms, in a real browser: the text is the only state. And
// what leads away from a dashboard: its text, the print, and the full screen.
import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import type { ConsoleVisit } from '../support/console.js';
import { expectNoFindings } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';
import { createDashboard } from '../support/create-dashboard.js';
import { eventually } from '../support/eventually.js';
import { MOVED_DASHBOARD } from '../support/moved-dashboard.js';

const shop = useConsoleShop({
  email: 'cards@example.com',
  fill: ({ fill }) =>
    fill([
      ...Array.from({ length: 6 }, (_, index) => ({ event_type: 'purchase', user_id: `user-${index}` })),
      ...Array.from({ length: 30 }, (_, index) => ({
        event_type: 'page_view',
        user_id: `visitor-${index}`,
        time: new Date(Date.now() - (index % 10) * 86_400_000 - 3_600_000).toISOString(),
        event_properties: { plan: index % 2 === 0 ? 'pro' : 'free' },
      })),
    ]),
});

const SOURCE = `# Owned by the growth team.
version: 1
title: Sales
sections:
  - title: Numbers   # the first ones
    cards:
      - {id: orders, title: Orders, kind: metric, viz: number, query: 'purchase | last 7d | count'} # all shops
`;

async function send(method: string, path: string, body: object): Promise<Response> {
  const headers = { 'X-API-Key': shop.secretKey, 'Content-Type': 'application/json' };
  const response = await fetch(shop.url + path, { method, headers, body: JSON.stringify(body) });
  expect(response.ok).toBe(true);
  return response;
}

const textOf = ({ page }: ConsoleVisit): Promise<string> =>
  page.getByRole('textbox', { name: 'Text of the dashboard' }).inputValue();

/** By keyboard, in the place of what the editor holds. */
async function typeQuery(form: Locator, q: string): Promise<void> {
  const editor = form.locator('.cm-content');
  await editor.click();
  await editor.press('Control+a');
  await editor.press('Delete');
  await editor.pressSequentially(q);
}

test('a card is added and changed by forms, each of which leaves the rest of the text alone', async () => {
  const id = await createDashboard(shop, SOURCE);
  const visited = await shop.visit(`/dashboards/${id}`);
  const { page } = visited;
  await page.getByRole('button', { name: 'Edit Orders' }).click();
  const form = page.getByRole('dialog', { name: 'Edit Orders' });
  await form.getByRole('textbox', { name: 'Title' }).fill('All orders');
  await form.getByRole('combobox', { name: 'Width' }).selectOption('A half');
  await form.locator('.cm-content').waitFor();
  await expectNoFindings(visited);
  // Selecting text with the mouse may end outside.
  await form.getByRole('textbox', { name: 'Title' }).hover();
  await page.mouse.down();
  await page.mouse.move(2, 2, { steps: 5 });
  await page.mouse.up();
  await form.getByRole('button', { name: 'Apply' }).click();
  await form.waitFor({ state: 'detached' });
  const changed = SOURCE.replace('title: Orders', 'title: All orders').replace(
    "| count'}",
    "| count', layout: { w: 6, h: 4 }}",
  );
  expect(await textOf(visited)).toBe(changed);

  await page.getByRole('button', { name: 'Add card to Numbers' }).click();
  const added = page.getByRole('dialog', { name: 'New card' });
  await added.getByRole('textbox', { name: 'Title' }).fill('By day');
  await typeQuery(added, 'purchase {{range.stage}} | count by day');
  await expect.poll(() => added.getByText('unexpected').count()).toBe(0);
  await added.getByRole('button', { name: 'Apply' }).click();
  await added.waitFor({ state: 'detached' });
  expect(await textOf(visited)).toContain(`${changed}      - id: by-day\n        title: By day\n        kind: chart\n`);
  await page.getByRole('button', { name: 'Go to By day in the text, line 8' }).click();
  await expectNoFindings(visited);

  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('dialog', { name: 'Changes' }).getByRole('button', { name: 'Save' }).click();
  await page.getByRole('region', { name: 'By day' }).getByRole('img').waitFor();
  await page.getByRole('region', { name: 'All orders' }).getByText('6', { exact: true }).waitFor();
  await expectNoFindings(visited);
});

test('a form leaves a query in several lines as it is', async () => {
  const head = '      - id: by-plan\n        title: Plans\n        kind: table\n        viz: table\n';
  const block = `${head}        query: |\n          purchase | last 7d # a week\n          | count by user.plan\n`;
  const visited = await shop.visit(`/dashboards/${await createDashboard(shop, SOURCE + block)}#v=edit`);
  await visited.page.getByRole('button', { name: 'Edit Plans' }).click();
  const form = visited.page.getByRole('dialog', { name: 'Edit Plans' });
  await form.getByRole('textbox', { name: 'Title' }).fill('By plan');
  await form.getByRole('button', { name: 'Apply' }).click();
  await form.waitFor({ state: 'detached' });
  expect(await textOf(visited)).toBe(SOURCE + block.replace('Plans', 'By plan'));
});

test('a form with a wrong query names the line; the text is checked while it is typed; a card is removed', async () => {
  const id = await createDashboard(shop, SOURCE);
  const visited = await shop.visit('/dashboards');
  const { page } = visited;
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/draft', (route) => held.then(() => route.continue()));
  await page.goto(shop.addressOf(`/dashboards/${id}#v=edit&card=orders`));
  await page.getByRole('region', { name: 'Cards' }).getByText('Loading').waitFor();
  expect(await page.getByRole('button', { name: 'Add variable' }).count()).toBe(0);
  release();
  const form = page.getByRole('dialog', { name: 'Edit Orders' });
  await typeQuery(form, 'purchase | last 7d | cont');
  await form.getByText('nearest is').waitFor();
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('alert').getByRole('button', { name: 'Line 7' }).waitFor();
  await expectNoFindings(visited);
  const text = page.getByRole('textbox', { name: 'Text of the dashboard' });
  await text.fill(SOURCE.replace('viz: number', 'viz: lines'));
  await page.getByRole('alert').getByText('nearest is "line"').waitFor();
  await text.fill(SOURCE);
  await page.getByRole('alert').waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Edit Orders' }).click();
  await form.getByRole('button', { name: 'Remove card' }).click();
  await form.waitFor({ state: 'detached' });
  expect(await textOf(visited)).toContain('# Owned by the growth team.');
  await page.getByRole('list').filter({ hasText: 'Orders' }).waitFor({ state: 'detached' });
});

test('sections, variables and several queries are edited by forms, and a card is moved', async () => {
  const id = await createDashboard(shop, SOURCE);
  const visited = await shop.visit(`/dashboards/${id}#v=edit`);
  const { page } = visited;
  /** Opens a form, fills it, and applies it. */
  const apply = async (button: string, dialog: string, fill: (form: Locator) => Promise<unknown>): Promise<void> => {
    await page.getByRole('button', { name: button, exact: true }).click();
    const form = page.getByRole('dialog', { name: dialog });
    await fill(form);
    await expectNoFindings(visited);
    await form.getByRole('button', { name: 'Apply' }).click();
    await form.waitFor({ state: 'detached' });
  };
  const field = (form: Locator, name: string): Locator => form.getByRole('textbox', { name, exact: true });

  await apply('Add variable', 'New variable', async (form) => {
    await field(form, 'Name').fill('plan');
    await form.getByRole('combobox', { name: 'Type' }).selectOption('Choice');
    await field(form, 'Label').fill('Plan');
    await field(form, 'Default').fill('pro');
    await field(form, 'Options, one on each line').fill('pro = Professional\nfree');
  });
  const plan = `variables:
  plan:
    type: select
    label: Plan
    default: pro
    options:
      - value: pro
        label: Professional
      - value: free
`;
  const withPlan = SOURCE.replace('sections:', `${plan}sections:`);
  expect(await textOf(visited)).toBe(withPlan);

  await apply('Edit section Numbers', 'Edit section Numbers', (form) => field(form, 'Title').fill('Figures'));
  await apply('Add section', 'New section', (form) => field(form, 'Title').fill('More'));
  const withSections = withPlan
    .replace('title: Numbers', 'title: Figures')
    .replace('# all shops\n', '# all shops\n  - title: More\n    cards: []\n');
  expect(await textOf(visited)).toBe(withSections);

  await apply('Edit Orders', 'Edit Orders', async (form) => {
    await form.getByRole('combobox', { name: 'Section' }).selectOption('More');
  });
  await page.getByRole('region', { name: 'More' }).getByRole('button', { name: 'Edit Orders' }).waitFor();
  await apply('Add card to Figures', 'New card', async (form) => {
    await field(form, 'Title').fill('Two');
    await form.getByRole('combobox', { name: 'Shows' }).selectOption('The answers of several queries');
    await form.getByRole('button', { name: 'Add query' }).click();
    for (const [position, name] of ['All', 'Buyers'].entries()) {
      const part = form.getByRole('group', { name: `Query ${position + 1}` });
      await field(part, 'Name').fill(name);
      await typeQuery(part, `purchase | last 7d | ${position === 0 ? 'count' : 'unique'} by day`);
    }
  });
  await apply('Edit Two', 'Edit Two', async (form) => {
    await field(form.getByRole('group', { name: 'Query 2' }), 'Name').fill('People');
  });
  await apply('Edit variable plan', 'Edit variable plan', (form) => field(form, 'Name').fill('tier'));
  const text = await textOf(visited);
  expect(text).toContain(
    '          - name: All\n            query: purchase | last 7d | count by day\n          - name: People\n',
  );
  expect(text).toContain(plan.replace('  plan:', '  tier:'));
  expect(text).toContain('# Owned by the growth team.');
  expect(text).toContain('title: Figures   # the first ones');

  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('dialog', { name: 'Changes' }).getByRole('button', { name: 'Save' }).click();
  await page.getByRole('region', { name: 'Two' }).getByRole('img').first().waitFor();
  await page.getByRole('combobox', { name: 'Plan' }).waitFor();
  await page.getByRole('region', { name: 'Orders' }).getByText('6', { exact: true }).waitFor();
  await expectNoFindings(visited);
});

test('an answer copied as a card is pasted into a dashboard, which syncs unchanged', async () => {
  const q = 'purchase # orders\n| last 7d\n| count by day';
  const visited = await shop.visit(`/ask#${new URLSearchParams({ q })}`, {
    browser: { permissions: ['clipboard-read', 'clipboard-write'] },
  });
  const { page } = visited;
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('button', { name: 'Copy as dashboard card' }).click();
  await page.getByText('Copied').waitFor();
  const card = await page.evaluate<string>('navigator.clipboard.readText()');
  const source = `version: 1\ntitle: Pasted\nsections:\n  - title: A\n    cards:\n${card.replace(/^(?=.)/gm, '      ')}`;
  const sync = async () => {
    const response = await fetch(`${shop.url}/api/dashboard-sync/pasted`, {
      method: 'PUT',
      headers: { 'X-API-Key': shop.secretKey },
      body: JSON.stringify({ source_yaml: source }),
    });
    return (await response.json()) as { dashboard: { id: string }; changed: boolean };
  };
  const { dashboard, changed } = await sync();
  expect(changed).toBe(true);

  await page.goto(shop.addressOf(`/dashboards/${dashboard.id}`));
  await page.getByRole('region', { name: 'purchase | last 7d | count by day' }).getByRole('img').waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Copy YAML' }).click();
  await page.getByText('Copied').waitFor();
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(source);
  expect((await sync()).changed).toBe(false);
  await page.getByRole('link', { name: /^Open / }).click();
  await page.getByRole('region', { name: 'Answer' }).getByRole('img').waitFor();
  expect(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('q')).toBe(q);
});

const LISTED = `version: 1
title: Listed
variables:
  kind:
    type: select
    label: Kind
    default: purchase
    value_column: event_type
    query: '* | last 30d | count by event_type'
sections:
  - title: Numbers
    cards:
      - {id: of, title: Of, kind: metric, viz: number, query: '* | last 30d | where event_type = {{kind}} | count'}
`;

test('a variable whose options cannot be read says why, and its cards are shown', async () => {
  const { page } = await shop.visit(`/dashboards/${await createDashboard(shop, LISTED)}`);
  const answer = page.getByRole('region', { name: 'Of' }).getByText('6', { exact: true });
  await answer.waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.route('**/query', (route) =>
    route.request().postDataJSON().q.includes('by event_type')
      ? route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":"the store does not answer"}' })
      : route.continue(),
  );
  await page.reload();
  await page.getByRole('alert').filter({ hasText: 'the store does not answer' }).waitFor();
  await answer.waitFor();
  expect(await page.getByRole('combobox', { name: 'Kind' }).inputValue()).toBe('purchase');
});

test('a document in other spellings is shown with its ranges, its choices and its input', async () => {
  for (const user of [0, 1, 2]) {
    await send('POST', '/identify', {
      user_id: `visitor-${user}`,
      user_properties: { email: `u${user}@moved.example` },
    });
  }
  const synced = await send('PUT', '/api/dashboard-sync/moved', { source_yaml: MOVED_DASHBOARD });
  const { dashboard } = (await synced.json()) as { dashboard: { id: string } };
  const visited = await shop.visit(`/dashboards/${dashboard.id}`);
  const { page } = visited;
  const card = (name: string) => page.getByRole('region', { name, exact: true });
  const showsEvents = (count: string) => card('Events').getByText(count, { exact: true }).waitFor();
  await showsEvents('36');
  const range = page.getByRole('combobox', { name: 'Range' });
  expect((await range.getByRole('option').allTextContents()).slice(0, 4)).toEqual([
    ...['A week', 'A month', 'This year', 'Today'],
  ]);
  await range.selectOption('A week');
  await showsEvents('27');
  const plan = page.getByRole('combobox', { name: 'Plan' });
  await eventually(async () =>
    expect(await plan.getByRole('option').allTextContents()).toEqual(['All', 'free', 'pro']),
  );
  await plan.selectOption('pro');
  await showsEvents('12');

  const ofCustomer = card('Events of the customer');
  await ofCustomer.getByText('the variable "subject" has no value').waitFor();
  const field = page.getByRole('textbox', { name: 'Customer' });
  expect(await field.getAttribute('placeholder')).toBe('email or *@example.com');
  const apply = page.getByRole('button', { name: 'Apply' });
  await field.fill('*@Moved.example');
  await apply.click();
  await eventually(async () => {
    await page.getByRole('button', { name: 'Refresh' }).click();
    await ofCustomer.getByText('3', { exact: true }).waitFor({ timeout: 2000 });
  });
  await field.fill('x" | list@moved.example');
  await apply.click();
  await ofCustomer.getByText('the variable "subject" is an e-mail address').waitFor();
  await showsEvents('12');
  await expectNoFindings(visited);
});

const TWO_CARDS = `version: 1
title: Two
sections:
  - title: Numbers
    cards:
      - {id: by-day, title: By day, kind: chart, viz: line, query: 'page_view | last 7d | count by day'}
      - {id: orders, title: Orders, kind: metric, viz: number, query: 'purchase | last 7d | count'}
`;

test('a card that cannot be drawn says so, and leaves the others alone', async () => {
  const visited = await shop.visit('/dashboards');
  const { page } = visited;
  const isBroken = (url: URL): boolean => url.pathname.endsWith('/query');
  await page.route(isBroken, async (route) => {
    if (!route.request().postDataJSON().q.includes('by day')) return route.continue();
    const response = await route.fetch();
    return route.fulfill({ response, json: { ...(await response.json()), period: 7 } });
  });
  await page.goto(shop.addressOf(`/dashboards/${await createDashboard(shop, TWO_CARDS)}`));
  const card = page.getByRole('region', { name: 'By day' });
  await card.getByRole('alert').getByText('This card could not be shown').waitFor();
  await page.getByRole('region', { name: 'Orders' }).getByText('6', { exact: true }).waitFor();
  await expectNoFindings(visited);
  await card.getByRole('button', { name: 'Try again' }).click();
  await card.getByRole('alert').waitFor();
  await page.unroute(isBroken);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await card.getByRole('img').waitFor();
  // What React says about the error.
  expect(visited.complaints.splice(0).join()).toContain('split');
});

test('a dashboard is printed without its controls, and shown on the full screen; members do not edit it', async () => {
  const id = await createDashboard(shop, SOURCE);
  const changed = await fetch(`${shop.url}/api/projects/${shop.id}/dashboards/${id}?base_version=1`, {
    method: 'PUT',
    headers: { Cookie: `service_session=${shop.owner.get('service_session')}`, Origin: shop.url },
    body: JSON.stringify({ source_yaml: `${SOURCE}# Changed.\n` }),
  });
  expect(changed.status).toBe(200);
  const visited = await shop.visit(`/dashboards/${id}`);
  const { page } = visited;
  const refresh = page.getByRole('button', { name: 'Refresh' });
  await page.getByRole('region', { name: 'Orders' }).getByText('6', { exact: true }).waitFor();
  await page.emulateMedia({ media: 'print' });
  expect(await refresh.isVisible()).toBe(false);
  expect(await page.getByRole('navigation').first().isVisible()).toBe(false);
  expect(await page.getByRole('region', { name: 'Orders' }).isVisible()).toBe(true);
  // Bars and cells are backgrounds, which browsers leave out by default.
  expect(await page.evaluate<string>("getComputedStyle(document.querySelector('main')).printColorAdjust")).toBe(
    'exact',
  );
  await page.emulateMedia({ media: 'screen' });
  await page.getByRole('button', { name: 'Full screen' }).click();
  await page.waitForFunction('document.fullscreenElement !== null');
  await page.evaluate('document.exitFullscreen()');

  const member = await shop.visit(`/dashboards/${id}`, { jar: await shop.join('reader@example.com', 'member') });
  await member.page.getByRole('region', { name: 'Orders' }).waitFor();
  expect(await member.page.getByRole('button', { name: /^Edit/ }).count()).toBe(0);
  await member.page.goto(shop.addressOf(`/dashboards/${id}#v=versions`));
  await member.page.getByText('Version 1', { exact: true }).waitFor();
  expect(await member.page.getByRole('button', { name: /^Restore/ }).count()).toBe(0);
});
