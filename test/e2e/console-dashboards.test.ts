// Dashboards of the console in a real browser: cards, variables, the text with its problems and
// changes, versions, new ones; the chips of a query; definitions and alerts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alertDocument, REPORT_CARDS } from '../support/alert-documents.js';
import { type ConsoleVisit, questionsOf } from '../support/console.js';
import { expectNoFindings, expectNoSidewaysScroll } from '../support/console-axe.js';
import { expectReachByKeyboard } from '../support/console-keyboard.js';
import { type ConsoleShop, useConsoleShop } from '../support/console-shop.js';
import { eventually } from '../support/eventually.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});

afterAll(() => receiver?.close());

const shop = useConsoleShop({
  email: 'dashboards@example.com',
  fill: fillShop,
  env: () => ({ WEBHOOK_PRIVATE_ADDRESSES: '127.0.0.1' }),
});

async function fillShop({ fill }: ConsoleShop): Promise<void> {
  const events = Array.from({ length: 30 }, (_, index) => ({
    event_type: index % 3 === 0 ? 'purchase' : 'page_view',
    user_id: `user-${index}`,
    time: new Date(Date.now() - (index % 10) * 86_400_000 - 3_600_000).toISOString(),
    event_properties: { plan: index % 2 === 0 ? 'pro' : 'free', price: index },
  }));
  await fill(events);
}

const CARDS = `version: 1
title: Sales
variables:
  plan:
    type: select
    label: Plan
    default: all
    options:
      - {value: all, label: All plans}
      - {value: pro, label: Pro, fragment: '| where event_properties.plan = {{value}}'}
sections:
  - title: Numbers
    cards:
      - {id: orders, title: Orders, kind: metric, viz: number, query: 'purchase | last 30d {{plan.fragment}} | count'}
      - {id: visits, title: Visits, kind: chart, viz: line, query: 'page_view {{range.stage}} | count by day'}
      - id: both
        title: Both
        kind: chart
        viz: area
        queries:
          - {name: Orders, query: purchase | last 30d | count by day}
          - {name: Visits, query: page_view | last 30d | count by day}
      - {id: plans, title: Plans, kind: chart, viz: pie, query: '* | last 30d | count by event_properties.plan'}
      - {id: steps, title: Steps, kind: funnel, viz: funnel, query: 'funnel page_view -> purchase | last 30d'}
      - {id: latest, title: Latest, kind: events, viz: event-stream, query: '* | last 30d | list | limit 5'}
      - {id: raw, title: Raw, kind: table, viz: json, query: '* | last 30d | count'}
      - id: notes
        title: Notes
        kind: markdown
        viz: markdown
        markdown: |
          # About
          These are **real** [numbers](https://example.com) and no [script](javascript:alert(1)) <b>is run</b>.
`;

async function sync(key: string, source: string): Promise<string> {
  const response = await fetch(`${shop.url}/api/dashboard-sync/${key}`, {
    method: 'PUT',
    headers: { 'X-API-Key': shop.secretKey },
    body: JSON.stringify({ source_yaml: source }),
  });
  return ((await response.json()) as { dashboard: { id: string } }).dashboard.id;
}

/** As the owner in the console. */
async function fetchAs(path: string, body: object): Promise<void> {
  const response = await fetch(`${shop.url}/api/projects/${shop.id}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Cookie: `service_session=${shop.owner.get('service_session')}` },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
}

const card = ({ page }: ConsoleVisit, name: string) => page.getByRole('region', { name, exact: true });

test('a synced dashboard shows every kind of card, and is not edited here', async () => {
  const id = await sync('sales', CARDS);
  const visited = await shop.visit('/dashboards');
  const { page } = visited;
  await page.getByRole('link', { name: /Sales/ }).click();
  await page.getByRole('heading', { name: 'Sales', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toContain(id);
  await card(visited, 'Orders').getByText('10', { exact: true }).waitFor();
  await card(visited, 'Visits').getByRole('img').waitFor();
  await card(visited, 'Both').getByRole('listitem').filter({ hasText: 'Orders' }).waitFor();
  await card(visited, 'Plans').getByText('50.0').first().waitFor();
  await card(visited, 'Steps').getByRole('list').first().waitFor();
  await card(visited, 'Latest').getByText('page_view').first().waitFor();
  await card(visited, 'Raw').getByText('"count": 30').waitFor();
  const notes = card(visited, 'Notes');
  await notes.getByRole('link', { name: 'numbers' }).waitFor();
  expect(await notes.getByRole('link').count()).toBe(1);
  await notes.getByText('<b>is run</b>').waitFor();
  expect(await page.getByRole('button', { name: 'Edit', exact: true }).count()).toBe(0);
  await page.getByText('Synced from a repository').waitFor();
  await expectNoFindings(visited);
  await expectReachByKeyboard(visited);

  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Save as mine' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
});

test('a variable asks again only the cards that depend on it, and stays in the address', async () => {
  const id = await sync('vars', CARDS);
  const visited = await shop.visit(`/dashboards/${id}`);
  const { page, requests } = visited;
  await card(visited, 'Orders').getByText('10', { exact: true }).waitFor();
  await eventually(() => expect(questionsOf(requests)).toHaveLength(8));
  const before = requests.length;
  await page.getByRole('combobox', { name: 'Plan' }).selectOption('pro');
  await card(visited, 'Orders').getByText('5', { exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(questionsOf(requests.slice(before))).toEqual([expect.stringContaining('plan = "pro"')]);
  await page.reload();
  await card(visited, 'Orders').getByText('5', { exact: true }).waitFor();
  await page.getByRole('combobox', { name: 'Time range' }).selectOption('today');
  await page.waitForURL(/var\.range=today/);
  await page.getByRole('button', { name: 'Refresh' }).click();
  expect(requests.every((request) => !request.url().includes('plan'))).toBe(true);
});

test('the text names problems at their lines, shows its changes, and keeps versions', async () => {
  const visited = await shop.visit('/dashboards');
  const { page } = visited;
  await page.getByRole('button', { name: 'New dashboard' }).click();
  await page.getByRole('textbox', { name: 'Title' }).fill('Mine: "all"');
  await page.getByRole('button', { name: 'Create dashboard' }).click();
  const text = page.getByRole('textbox', { name: 'Text of the dashboard' });
  const source = await text.inputValue();
  const withCard = (query: string): string =>
    source.replace('cards: []', `cards:\n      - {id: a, title: Orders, kind: metric, viz: number, query: '${query}'}`);
  await text.fill(withCard('purchase | last 30d | cont'));
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('alert').getByRole('button', { name: 'Line 6' }).waitFor();
  await expectNoFindings(visited);
  await text.fill(withCard('purchase | last 30d | count'));
  await page.getByRole('button', { name: 'Review changes' }).click();
  const dialog = page.getByRole('dialog', { name: 'Changes' });
  await dialog.getByText('2 lines added, 1 line removed').waitFor();
  await expectNoFindings(visited);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await card(visited, 'Orders').getByText('10', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Versions' }).click();
  await page.getByText('Version 2').waitFor();
  await expectNoFindings(visited);
  await page.getByRole('button', { name: 'Restore version 1' }).click();
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await page.getByText('No cards yet.').waitFor();
  expect(await card(visited, 'Orders').count()).toBe(0);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Delete dashboard' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete it' }).click();
  await page.getByRole('heading', { name: 'Dashboards', level: 1 }).waitFor();
  expect(await page.getByRole('link', { name: /Mine/ }).count()).toBe(0);
});

describe('a query', () => {
  test('is changed by chips, each of which leaves the rest of the text alone', async () => {
    const q = '*  # all\n|  last 7d  # when\n| where not event_type = "x"\n| count  by day';
    const visited = await shop.visit(`/ask#${new URLSearchParams({ q })}`);
    const { page } = visited;
    const asked = () => new URLSearchParams(new URL(page.url()).hash.slice(1)).get('q');
    await page.getByRole('button', { name: 'Time range: last 7d' }).click();
    await page.getByRole('button', { name: 'last 30d', exact: true }).click();
    await page.getByRole('button', { name: 'Time range: last 30d' }).waitFor();
    expect(asked()).toBe(q.replace('last 7d', 'last 30d'));
    await page.getByRole('button', { name: 'Add: Group by' }).click();
    await page.getByRole('textbox', { name: 'Group by' }).fill('event_type');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Group by: event_type' }).waitFor();
    await page.getByRole('region', { name: 'Answer' }).getByRole('img').waitFor();
    await expectNoFindings(visited);
    await page.setViewportSize({ width: 360, height: 800 });
    await page.getByRole('button', { name: 'Group by: event_type' }).click();
    await expectNoSidewaysScroll(visited);
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Group by: event_type' }).waitFor({ state: 'detached' });
    expect(asked()).toBe(q.replace('last 7d', 'last 30d'));
    await page.getByRole('button', { name: /where not .*edit as text/ }).click();
    await page.locator('.cm-focused').waitFor();
    // Another document, in which no chart of the text before stands.
    await page.goto('about:blank');
    await page.setViewportSize({ width: 1440, height: 800 });
    await page.goto(shop.addressOf(`/ask#q=*+|+last+30d+|+count+by+day`));
    const chart = page.getByRole('region', { name: 'Answer' }).getByRole('img');
    await chart.waitFor();
    const box = await chart.boundingBox();
    if (box === null) throw new Error('the chart is not there');
    await page.mouse.move(box.x + box.width * 0.5, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + 100);
    await page.mouse.up();
    await page.getByRole('button', { name: /Time range: from \d{4}-\d\d-\d\d to / }).waitFor();
    await page.goto(shop.addressOf(`/ask#q=*+|+last+30d+|+count+by+event_type`));
    await page.getByRole('region', { name: 'Answer' }).getByRole('button', { name: 'purchase' }).click();
    await page.getByRole('button', { name: 'Filter: event_type = "purchase"' }).waitFor();
  });
});

describe('definitions', () => {
  const editor = ({ page }: ConsoleVisit) => page.getByRole('textbox', { name: 'Text of the definitions' });
  const SOURCE = `version: 1
events:
  bought: { query: 'purchase[price > 3]', about: 'an order that counts' }
metrics:
  orders: { query: 'bought | count', about: 'as finance counts them', unit: orders }
`;

  test('are written with problems at their lines, open in Ask, and say what uses them', async () => {
    const visited = await shop.visit('/definitions');
    const { page } = visited;
    await page.getByRole('heading', { name: 'No events, cohorts or metrics yet' }).waitFor();
    await expectNoFindings(visited);
    await page.getByRole('button', { name: 'Write the first' }).click();
    await editor(visited).fill(SOURCE.replace('| count', '| cont'));
    await page.getByRole('alert').getByRole('button', { name: 'Line 5' }).waitFor();
    await expectNoFindings(visited);
    await editor(visited).fill(SOURCE);
    await page.getByText('No problems').waitFor();
    await page.getByRole('button', { name: 'Review changes' }).click();
    const changes = page.getByRole('dialog', { name: 'Changes' });
    await changes.getByText('5 lines added').waitFor();
    await changes.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('list', { name: 'Metrics' }).getByText('as finance counts them').waitFor();
    await page.getByRole('list', { name: 'Events' }).getByText('Definition metric orders').waitFor();

    const id = await sync('finance', CARDS.replace('purchase | last 30d {{plan.fragment}} | count', 'metric orders'));
    await page.reload();
    await page.getByRole('link', { name: 'Card Orders · Sales' }).waitFor();
    await expectNoFindings(visited);
    await page.getByRole('link', { name: 'Ask for orders' }).click();
    await page.getByRole('region', { name: 'Answer' }).getByRole('img').waitFor();
    await page.getByRole('link', { name: 'Definitions' }).click();
    await page.getByRole('link', { name: 'Card Orders · Sales' }).click();
    await page.waitForURL(`**/dashboards/${id}`);
  });

  test('warn before one is removed that a card uses, and earlier versions return', async () => {
    const visited = await shop.visit('/definitions');
    const { page } = visited;
    await page.getByRole('link', { name: 'Edit orders, line 5' }).click();
    await editor(visited).fill(SOURCE.slice(0, SOURCE.indexOf('metrics:')));
    await page.getByRole('button', { name: 'Review changes' }).click();
    const changes = page.getByRole('dialog', { name: 'Changes' });
    await changes.getByText('but the card "Orders" of the dashboard "Sales" uses it').waitFor();
    await expectNoFindings(visited);
    await changes.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Versions' }).click();
    await page.getByText('Version 2').waitFor();
    await expectNoFindings(visited);
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await changes.getByText('2 lines added, 0 lines removed').waitFor();
    await changes.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('list', { name: 'Metrics' }).getByText('as finance counts them').waitFor();
  });

  test('of a repository are not edited by accident, and not at all by members', async () => {
    await fetch(`${shop.url}/api/definitions`, {
      method: 'PUT',
      headers: { 'X-API-Key': shop.secretKey },
      body: JSON.stringify({ source_yaml: `${SOURCE}  buyers: { query: bought | unique }\n` }),
    });
    const visited = await shop.visit('/definitions');
    const { page } = visited;
    await page.getByText('They are synced from a repository, and changed there.').waitFor();
    await expectNoFindings(visited);
    await page.getByRole('button', { name: 'Edit here instead' }).click();
    await page.getByText('Its next sync replaces what is saved here.').waitFor();
    const jar = await shop.join('reader@example.com', 'member');
    const reading = await shop.visit('/definitions', { jar });
    await reading.page.getByRole('link', { name: 'Ask for buyers' }).waitFor();
    expect(await reading.page.getByRole('button', { name: /^Edit/ }).count()).toBe(0);
  });
});

describe('alerts', () => {
  test('are listed with their state, and one shows its checks, what was sent, and a dry run', async () => {
    const query = 'purchase | last 30d | count';
    const id = await sync(
      'watched',
      alertDocument(
        [
          { id: 'many', query, when: 'value > 5', every: '1m', to: [`${receiver.url}/console`] },
          { id: 'calm', query, when: 'value < 5' },
        ],
        { cards: REPORT_CARDS },
      ),
    );
    const visited = await shop.visit('/alerts');
    const { page } = visited;
    await page.getByText('1 Firing · 1 OK').waitFor({ timeout: 120_000 });
    const list = page.getByRole('list', { name: 'Alerts' });
    await list
      .getByText(/^Last value 10, /)
      .first()
      .waitFor();
    await list.getByText('OK, has not changed').waitFor();
    await expectNoFindings(visited);
    await page.getByRole('link', { name: 'many' }).click();
    const checks = page.getByRole('region', { name: 'Last 100 checks' });
    await checks.getByText(/ · sent /).waitFor({ timeout: 120_000 });
    await page.getByRole('img', { name: /^\d+ checks?: the condition held in \d+, 0 failed$/ }).waitFor();
    await page.getByText('synced from a repository, and changed there').waitFor();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('status').filter({ hasText: 'Nothing would be sent: the state stays Firing.' }).waitFor();
    await expectNoFindings(visited);
    await page.getByRole('link', { name: 'Sales' }).click();
    await page.waitForURL(`**/dashboards/${id}`);
    await page.getByRole('link', { name: 'New alert for Orders' }).click();
    const dialog = page.getByRole('dialog', { name: 'New alert' });
    await dialog.getByRole('textbox', { name: 'Query' }).getByText('compare').waitFor();
  });

  test('have reports beside them, with the next time, a dry run, and runs', async () => {
    const visited = await shop.visit('/alerts');
    const { page } = visited;
    await page.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('heading', { name: 'No reports yet' }).waitFor();
    await expectNoFindings(visited);
    const reports = [{ id: 'weekly', at: 'monday 08:00', timezone: 'Europe/Berlin', to: ['mailto:team@example.com'] }];
    await sync('reported', alertDocument([], { cards: REPORT_CARDS, reports }));
    await page.reload();
    const list = page.getByRole('list', { name: 'Reports', exact: true });
    await list.getByText(/^Next \d+ \w+ \d{4}, 08:00:00$/).waitFor();
    await list.getByRole('button', { name: 'Dry run of weekly' }).click();
    await list.getByText('Report: Sales (weekly)').first().waitFor();
    await list.getByRole('link', { name: 'Last runs of weekly' }).click();
    await list.getByText('Not sent yet').nth(1).waitFor();
    await expectNoFindings(visited);
  });

  test('are made of an answer, tried, and written into the text of a dashboard', async () => {
    await fetchAs(`/dashboards?key=own`, { source_yaml: CARDS.replace('Sales', 'Own'), visibility: 'project' });
    const visited = await shop.visit(`/ask#q=${encodeURIComponent('purchase | last 30d | count')}`);
    const { page } = visited;
    await page.getByRole('region', { name: 'Answer' }).getByText('10', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add to dashboard' }).click();
    await page.getByText(/^\d dashboards are synced from a repository, and edited there\.$/).waitFor();
    await page.getByRole('link', { name: 'New alert' }).click();
    const dialog = page.getByRole('dialog', { name: 'New alert' });
    await dialog.getByRole('textbox', { name: 'Condition' }).fill('valeu > 5');
    await dialog.getByRole('combobox', { name: 'Dashboard' }).selectOption('Own');
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'the query has no column "valeu"' }).waitFor();
    await dialog.getByRole('textbox', { name: 'Condition' }).fill('value > 5');
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    await dialog.getByText('This would be sent now.').waitFor();
    await dialog.getByRole('textbox', { name: 'Sent to' }).fill(`${receiver.url}/new`);
    await dialog.getByRole('button', { name: 'Show as text' }).click();
    await dialog.getByText('id: purchase-last-30d-count').waitFor();
    await expectNoFindings(visited);
    await dialog.getByRole('button', { name: 'Add alert' }).click();
    await page.getByRole('link', { name: 'purchase-last-30d-count' }).click();
    await page.getByRole('link', { name: 'Edit in the text' }).click();
    const text = page.getByRole('textbox', { name: 'Text of the dashboard' });
    await expect.poll(() => text.inputValue()).toContain('- id: purchase-last-30d-count');
    const line = await page.evaluate<string>(`{
      const { value, selectionStart } = document.activeElement;
      value.slice(selectionStart).split('\\n')[0];
    }`);
    expect(line).toBe('  - id: purchase-last-30d-count');

    const member = await shop.join('member@example.com', 'member');
    const asked = await shop.visit(`/ask#q=${encodeURIComponent('purchase | last 30d | count')}`, { jar: member });
    await asked.page.getByRole('button', { name: 'Add to dashboard' }).click();
    await asked.page.getByText('1 dashboard of the project: only admins and owners edit it.').waitFor();
    await expectNoFindings(asked);
  });
});
