// Charts of values far from zero, over days without rows, and of two ranges, as the browser draws
// them.
import { expect, test } from 'vitest';
import { useConsoleShop } from '../support/console-shop.js';
import { createDashboard } from '../support/create-dashboard.js';

const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

const shop = useConsoleShop({
  email: 'charts@example.com',
  fill: ({ fill }) =>
    fill([
      ...[0, 2, 4, 6].map((days) => ({
        ...{ event_type: 'refund', user_id: `user-${days}`, time: daysAgo(days) },
        event_properties: { total: -1000 - days, plan: days === 0 ? 'free' : 'pro' },
      })),
      ...[0, 1].map((days) => ({
        ...{ event_type: 'sale', user_id: 'user-0', time: daysAgo(days) },
        event_properties: { total: 17_000 },
      })),
      ...[1, 2, 3, 9].map((days) => ({ event_type: 'order', user_id: `user-${days}`, time: daysAgo(days) })),
    ]),
});

const asking = (q: string): string => `/ask#${new URLSearchParams({ q })}`;

test.each(['last 7d', 'last 20d'])('values far below zero are drawn inside of their chart: %s', async (range) => {
  const { page } = await shop.visit(asking(`refund | ${range} | avg event_properties.total by day`));
  const chart = page.getByRole('region', { name: 'Answer' }).getByRole('img');
  await chart.waitFor();
  const { top, bottom } = await page.evaluate<{ top: number; bottom: number }>(`(() => {
    const svg = document.querySelector('main svg[role=img]');
    const parts = [...svg.querySelectorAll('path, rect, circle')].map((part) => part.getBoundingClientRect());
    const own = svg.getBoundingClientRect();
    return {
      top: Math.min(...parts.map(({ top }) => top)) - own.top,
      bottom: own.bottom - Math.max(...parts.map(({ bottom }) => bottom)),
    };
  })()`);
  expect(top).toBeGreaterThanOrEqual(0);
  expect(bottom).toBeGreaterThanOrEqual(0);
});

test('days on which no group has a row are on the axis, and lead to themselves', async () => {
  const { page } = await shop.visit(asking('refund | last 8d | count by day, event_properties.plan'));
  const chart = page.getByRole('region', { name: 'Answer' }).getByRole('img');
  await chart.waitFor();
  const box = await chart.boundingBox();
  if (box === null) throw new Error('the chart is not drawn');
  const day = (days: number): string => daysAgo(days).slice(0, 10);
  // Nine days, of which these are the fifth and the sixth in the middle of the chart.
  const step = (box.width - 56 - 12) / 8;
  await page.mouse.move(box.x + 56 + step * 3, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + 56 + step * 5, box.y + 100);
  await page.mouse.up();
  const text = page.locator('.cm-content');
  await expect.poll(() => text.textContent()).toContain('from ');
  // The shop's days begin earlier than those of UTC.
  const [, from = '', to = ''] = /from ([\d-]+) to ([\d-]+)/.exec((await text.textContent()) ?? '') ?? [];
  expect((Date.parse(to) - Date.parse(from)) / DAY_MS).toBe(3);
  expect([day(6), day(5), day(4)]).toContain(from);
});

test('an axis has one unit', async () => {
  const { page } = await shop.visit(asking('sale | last 7d | sum event_properties.total by day'));
  const axis = page.getByRole('region', { name: 'Answer' }).locator('svg text[text-anchor=end]');
  await axis.first().waitFor();
  const labels = (await axis.allTextContents()).filter((label) => /^[\d,.]+(?:\u202f\w)?$/.test(label));
  expect(labels.join(' ').replaceAll('\u202f', ' ')).toBe('0 5 k 10 k 15 k 20 k');
});

test('a card of one number has the earlier number of compare beside it', async () => {
  const card = "{id: n, title: Orders, kind: metric, viz: number, query: 'order | last 7d | count | compare previous'}";
  const id = await createDashboard(
    shop,
    `version: 1\ntitle: Now\nsections:\n  - title: A\n    cards:\n      - ${card}\n`,
  );
  const { page } = await shop.visit(`/dashboards/${id}`);
  const orders = page.getByRole('region', { name: 'Orders' });
  await orders.getByText('3', { exact: true }).waitFor();
  await orders.getByText('before: 1, +200').waitFor();
});

test('cohorts of twelve periods, and all of a JSON card, stand on paper', async () => {
  const card = (id: string, title: string, viz: string, query: string): string =>
    `      - {id: ${id}, title: ${title}, kind: chart, viz: ${viz}, query: '${query}'}\n`;
  const id = await createDashboard(
    shop,
    `version: 1\ntitle: Paper\nsections:\n  - title: A\n    cards:\n${card('c', 'Weeks', 'retention-grid', 'retention order by day | last 13d')}${card('j', 'Rows', 'json', '* | last 90d | count by day')}`,
  );
  // The width of A4, without its margins.
  const { page } = await shop.visit(`/dashboards/${id}`, { browser: { viewport: { width: 718, height: 1000 } } });
  await page.getByRole('region', { name: 'Cohorts' }).getByRole('table').waitFor();
  await page.getByRole('region', { name: 'Rows' }).getByText('"count"').waitFor();
  const hidden = (selector: string): Promise<readonly number[]> =>
    page.evaluate(`(() => {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.querySelector('${selector}');
      return [scrollWidth - clientWidth, scrollHeight - clientHeight];
    })()`);
  const [cohorts, rows] = ['[aria-label="Cohorts"]', '[aria-label="Rows"] pre'];
  expect([(await hidden(cohorts))[0], (await hidden(rows))[1]].every((pixels) => Number(pixels) > 0)).toBe(true);
  await page.emulateMedia({ media: 'print' });
  await expect.poll(async () => (await hidden(cohorts))[0]).toBe(0);
  expect((await hidden(rows))[1]).toBe(0);
});

test('a number with decimals is shown once when it has room, and beside its short form when not', async () => {
  const card = (id: string, query: string) =>
    `      - {id: ${id}, title: ${id}, kind: metric, viz: number, query: '${query}', options: {unit: EUR, decimals: 2}}\n`;
  const source =
    'version: 1\ntitle: Money\nsections:\n  - title: All\n    cards:\n' +
    card('refunds', 'refund | last 20d | where event_properties.total < -1005 | sum event_properties.total') +
    card('sales', 'sale | last 20d | sum event_properties.total') +
    card('none', 'sale | last 20d | where event_properties.total < 0 | sum event_properties.total');
  const { page } = await shop.visit(`/dashboards/${await createDashboard(shop, source)}`);
  const shown = (name: string) => page.getByRole('region', { name }).locator('dd span').allTextContents();
  await page.getByText('34,000.00').waitFor();
  await page.getByText('0.00', { exact: true }).waitFor();
  await page.getByText('-1,006.00').waitFor();
  expect(await shown('none')).toEqual(['0.00', 'EUR']);
  expect(await shown('refunds')).toEqual(['-1,006.00', 'EUR']);
  expect(await shown('sales')).toEqual(['34\u202fk', 'EUR', '34,000.00']);
});
