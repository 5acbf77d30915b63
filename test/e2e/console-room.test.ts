// The console has room: for names of sixty letters without a blank, for lists beside charts, and
// for what is shown while something else loads.
import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectNoFindings, expectNoSidewaysScroll } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';
import { createDashboard } from '../support/create-dashboard.js';
import { identify } from '../support/identify.js';

const LONG = 'Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauamt';
const BROWSERS = 12;
const COHORTS = 20;
const daysAgo = (days: number): number => Date.now() - days * 86_400_000;
const PHONE = { viewport: { width: 390, height: 844 } };

const shop = useConsoleShop({
  email: 'room@example.com',
  fill: ({ fill }) =>
    fill([
      ...Array.from({ length: BROWSERS }, (_, n) => [
        { event_type: 'visit', user_id: `user-${n}`, event_properties: { campaign: `c${n}` } },
        { event_type: 'order', user_id: `user-${n}` },
      ]).flat(),
      ...Array.from({ length: COHORTS }, (_, n) => ({ event_type: 'opened', user_id: `user-${n}`, time: daysAgo(n) })),
      ...Array.from({ length: 5 }, (_, n) => ({
        ...{ event_type: `product_viewed_${n}`, user_id: 'walker', time: daysAgo(1) + n },
      })),
    ]),
});

const heightOf = async (of: Locator): Promise<number> => (await of.boundingBox())?.height ?? 0;
const isCut = (of: Locator): Promise<boolean> =>
  of.evaluate(
    ({ scrollWidth, clientWidth }: { scrollWidth: number; clientWidth: number }) => scrollWidth > clientWidth,
  );

test('a token with a name of one long word stays in its table and in its dialog', async () => {
  const { page } = await shop.visit('/settings/tokens', { browser: PHONE });
  await page.getByRole('textbox', { name: 'Name' }).fill(LONG);
  await page.getByRole('button', { name: 'Create token' }).click();
  const name = page.getByRole('rowheader', { name: LONG });
  await name.waitFor();
  expect((await name.boundingBox())?.width).toBeLessThan(PHONE.viewport.width / 2);
  await page.getByRole('button', { name: `Revoke ${LONG}` }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading').waitFor();
  expect(await isCut(dialog)).toBe(false);
});

test('a property with a name of one long word stays in the profile', async () => {
  await identify(shop.url, shop.publicKey, { user_id: 'user-1', user_properties: { [LONG]: LONG } });
  const visited = await shop.visit('/people#id=user-1');
  await visited.page
    .getByRole('region', { name: 'Profile' })
    .getByRole('definition')
    .filter({ hasText: LONG })
    .waitFor();
  for (const width of [390, 1280]) {
    await visited.page.setViewportSize({ width, height: 800 });
    await expectNoSidewaysScroll(visited);
  }
});

test('a dashboard whose names are one long word stays in its list, and in each of its views', async () => {
  const source = `version: 1
title: ${LONG}
variables:
  plan: {type: select, label: ${LONG}, default: all, options: [{value: all, label: ${LONG}}]}
sections:
  - title: ${LONG}
    cards:
      - {id: visits, title: ${LONG}, kind: metric, viz: number, query: 'visit | last 7d | count'}
`;
  const id = await createDashboard(shop, source, 'personal');
  const visited = await shop.visit('/dashboards', { browser: PHONE });
  const { page } = visited;
  const link = page.getByRole('link', { name: LONG }).first();
  await link.waitFor();
  expect(await isCut(link)).toBe(false);
  for (const view of ['', '#v=versions', '#v=edit']) {
    await page.goto('about:blank');
    await page.goto(shop.addressOf(`/dashboards/${id}${view}`));
    await page.getByRole('heading', { level: 1 }).filter({ hasText: LONG }).waitFor();
    await expectNoSidewaysScroll(visited);
  }
});

test('the keys of a shortcut are as high beside two lines as beside one', async () => {
  const { page } = await shop.visit('/live', { browser: PHONE });
  await page.getByRole('heading', { name: 'Live' }).waitFor();
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog').locator('kbd');
  await keys.first().waitFor();
  const heights = await Promise.all((await keys.all()).map(heightOf));
  expect(new Set(heights.map(Math.round)).size).toBe(1);
});

test('a long list of a card scrolls beside a chart, and is printed whole', async () => {
  const source = `version: 1
title: Side by side
sections:
  - title: All
    cards:
      - {id: list, title: Campaigns, kind: funnel, viz: funnel, query: 'funnel visit -> order | last 30d | by event_properties.campaign'}
      - {id: chart, title: Visits, kind: chart, viz: line, query: 'visit | last 30d | count by day'}
`;
  const visited = await shop.visit(`/dashboards/${await createDashboard(shop, source)}`);
  const { page } = visited;
  const list = page.getByRole('region', { name: 'Campaigns' });
  const chart = page.getByRole('region', { name: 'Visits' }).getByRole('img');
  await list.getByText('c11', { exact: true }).waitFor();
  await chart.waitFor();
  expect(await heightOf(list)).toBeLessThan(1.6 * (await heightOf(chart)));
  await expectNoFindings(visited);
  await page.emulateMedia({ media: 'print' });
  expect(await heightOf(list)).toBeGreaterThan(4 * (await heightOf(chart)));
});

test('a retention of many cohorts is as high as the chart beside it', async () => {
  const source = `version: 1
title: Cohorts
sections:
  - title: All
    cards:
      - {id: grid, title: Returning, kind: metric, viz: retention-grid, query: 'retention opened by day | last 20d'}
      - {id: chart, title: Visits, kind: chart, viz: line, query: 'visit | last 30d | count by day'}
`;
  const visited = await shop.visit(`/dashboards/${await createDashboard(shop, source)}`);
  const { page } = visited;
  const cohorts = page.getByRole('region', { name: 'Cohorts' });
  const chart = page.getByRole('region', { name: 'Visits' }).getByRole('img');
  await cohorts.getByRole('row').nth(COHORTS).waitFor();
  await chart.waitFor();
  expect(await heightOf(cohorts)).toBeLessThan(1.6 * (await heightOf(chart)));
  const average = cohorts.getByRole('row').last();
  const [box, within] = [await average.boundingBox(), await cohorts.boundingBox()];
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual((within?.y ?? 0) + (within?.height ?? 0) + 1);
  await expectNoFindings(visited);
  await page.emulateMedia({ media: 'print' });
  expect(await heightOf(cohorts)).toBeGreaterThan(1.6 * (await heightOf(chart)));
});

test('paths of five steps fit a tablet, with the numbers of the last, and the buttons of the query fit a row', async () => {
  const q = 'paths from product_viewed_0 | last 7d | depth 5';
  const { page } = await shop.visit(`/ask#${new URLSearchParams({ q })}`, {
    browser: { viewport: { width: 760, height: 900 } },
  });
  const steps = page.getByRole('region', { name: 'Steps' });
  await steps
    .locator('text')
    .filter({ hasText: /^product_view/ })
    .nth(4)
    .waitFor();
  expect(await isCut(steps)).toBe(false);
  const middles = ['Run', 'History', 'Explain', 'Add to dashboard', 'Share or download'].map(async (name) => {
    const { y = 0, height = 0 } = (await page.getByRole('button', { name, exact: true }).boundingBox()) ?? {};
    return Math.round(y + height / 2);
  });
  expect(new Set(await Promise.all(middles)).size).toBe(1);
});

test('what can be typed after Ctrl+K is read whole on a phone', async () => {
  const { page } = await shop.visit('/live', { browser: PHONE });
  await page.getByRole('heading', { name: 'Live' }).waitFor();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Go to' });
  await field.fill((await field.getAttribute('placeholder')) ?? '');
  expect(await isCut(field)).toBe(false);
});

test('the figures of usage stay until those of another period have come', async () => {
  const { page } = await shop.visit('/settings/usage');
  const figure = page.getByRole('definition').first();
  await figure.waitFor();
  let answer: () => void = () => undefined;
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/usage?*', async (route) => {
    await isAnswered;
    await route.continue();
  });
  await page.getByRole('combobox', { name: 'Period' }).selectOption('90');
  await page.locator('[aria-busy=true]').waitFor();
  expect(await figure.isVisible()).toBe(true);
  answer();
  await page.locator('[aria-busy=false]').waitFor();
});

test('what the audit trail says was done is one line on a desktop', async () => {
  const headers = { 'X-API-Key': shop.secretKey };
  expect((await fetch(`${shop.url}/api/gdpr/users/user-2`, { method: 'DELETE', headers })).status).toBe(200);
  const visited = await shop.visit('/settings/audit', { browser: { viewport: { width: 1280, height: 800 } } });
  const action = visited.page.getByRole('rowheader', { name: 'Requested the erasure of a person' }).first();
  await action.waitFor();
  const lines = await visited.page.evaluate<number>(`(() => {
    const range = document.createRange();
    range.selectNode([...document.querySelectorAll('tbody th')].find((each) => /^Requested the/.test(each.textContent)).firstChild);
    return range.getClientRects().length;
  })()`);
  expect(lines).toBe(1);
  await expectNoSidewaysScroll(visited);
});

test('an e-mail address of the audit trail is broken between its parts', async () => {
  const { page } = await shop.visit('/people#id=user-3', { browser: { viewport: { width: 1280, height: 800 } } });
  await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export all events' }).click()]);
  await page.goto(shop.addressOf('/settings/audit'));
  await page.getByRole('cell', { name: 'room@example.com' }).first().waitFor();
  const lines = await page.evaluate<number[]>(`(() => {
    const cell = [...document.querySelectorAll('td')].find((each) => each.textContent === 'room@example.com');
    return [...cell.childNodes].map((node) => {
      const range = document.createRange();
      range.selectNode(node);
      return range.getClientRects().length;
    });
  })()`);
  expect(Math.max(...lines)).toBe(1);
});
