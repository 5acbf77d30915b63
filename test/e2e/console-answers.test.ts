// Answers of the console in a real browser: what is drawn is what the API answers, clicks refine
// the text, and the builder needs no typing.
import { describe, expect, test } from 'vitest';
import type { ConsoleVisit } from '../support/console.js';
import { askPath, expectQuery, queryIn, region } from '../support/console-ask.js';
import { expectNoFindings } from '../support/console-axe.js';
import { type ConsoleShop, useConsoleShop } from '../support/console-shop.js';
import { eventually } from '../support/eventually.js';

const DAY_MS = 86_400_000;

const shop = useConsoleShop({ email: 'answers@example.com', fill: fillShop });

/** Sixty people over twenty days. */
async function fillShop({ fill }: ConsoleShop): Promise<void> {
  const now = Date.now();
  const people = Array.from({ length: 60 }, (_, user) => {
    const start = now - (user % 20) * DAY_MS - 3_600_000;
    const at = (minutes: number): string => new Date(start + minutes * 60_000).toISOString();
    const own = { user_id: `user-${user}`, session_id: `session-${user}` };
    const plan = ['pro', 'free', 'a "b"'][user % 3];
    return [
      { ...own, event_type: 'page_view', time: at(0), event_properties: { plan } },
      ...(user % 2 === 0 ? [{ ...own, event_type: 'signup', time: at(5), event_properties: { plan } }] : []),
      ...(user % 4 === 0 ? [{ ...own, event_type: 'purchase', time: at(20), event_properties: { price: user } }] : []),
    ];
  }).flat();
  await fill(people);
}

/** For a person to look at: PICTURES names the folder. */
async function takePictures({ page }: ConsoleVisit, name: string): Promise<void> {
  if (process.env.PICTURES === undefined) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [size, width] of [
      ['desktop', 1280],
      ['phone', 390],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: `${process.env.PICTURES}/${name}-${size}-${colorScheme}.png` });
    }
  }
}

/** Every day of a period, in the time zone of the shop: those without rows are drawn, too. */
function daysOf(period: string): readonly string[] {
  const [from = 0, to = 0] = period.split('/').map((text) => Date.parse(text));
  const hours = Array.from({ length: Math.ceil((to - from) / 3_600_000) }, (_, hour) => from + hour * 3_600_000);
  const dayOf = (at: number): string => new Date(at).toLocaleDateString('sv-SE', { timeZone: 'Asia/Tehran' });
  return [...new Set([...hours, to - 1].map(dayOf))];
}
const numberOf = (text: string): number => Number(text.replaceAll(',', ''));

/** Numbers of the panel under the pointer for each bucket: by bucket, then by series. */
async function drawnNumbers(
  visited: ConsoleVisit,
  buckets: number,
  shape: 'line' | 'columns',
): Promise<Readonly<Record<string, string>>[]> {
  const picture = region(visited).getByRole('img').first();
  await picture.waitFor();
  const box = await picture.boundingBox();
  if (box === null) throw new Error('nothing is drawn');
  const [left, right] = [48, 12];
  const read: Readonly<Record<string, string>>[] = [];
  for (let index = 0; index < buckets; index++) {
    // Lines begin and end at the edges; columns stand in bands.
    const share = shape === 'columns' ? (index + 0.5) / buckets : index / (buckets - 1);
    const inset = share === 0 ? 2 : share === 1 ? -2 : 0;
    await visited.page.mouse.move(box.x + left + share * (box.width - left - right) + inset, box.y + 150);
    const lines = region(visited).locator('[class*="panel"] [class*="line"]');
    await lines.first().waitFor();
    read.push(
      Object.fromEntries(
        (await lines.evaluateAll((all) =>
          all.map((line) => [
            (line as { querySelector(of: string): { textContent: string } }).querySelector('[class*="name"]')
              .textContent,
            (line as { querySelector(of: string): { textContent: string } }).querySelector('strong').textContent,
          ]),
        )) as [string, string][],
      ),
    );
  }
  return read;
}

describe('what is drawn', () => {
  test.each([
    ['* | last 20d | count by day', 'count', 'line'],
    ['* | last 5d | count by day', 'count', 'columns'],
    ['* | last 3w | unique by week', 'unique_count', 'columns'],
    ['formula count(purchase) / count(page_view) | by day | last 20d', 'value', 'line'],
    ['sessions | last 20d', 'sessions', 'line'],
    ['stickiness page_view | last 20d', 'users', 'columns'],
  ] as const)('of %s has the numbers of the API', async (q, measure, shape) => {
    const visited = await shop.visit(askPath(q));
    const { rows } = await shop.ask(q);
    const drawn = await drawnNumbers(visited, rows.length, shape);
    expect(drawn.map((line) => Object.values(line)[0])).toEqual(
      rows.map((row) =>
        row[measure] === null ? '–' : Number(row[measure]).toLocaleString('en', { maximumFractionDigits: 6 }),
      ),
    );
  });

  test('marks the buckets that the range covers in part, in the chart and in the table', async () => {
    const q = '* | last 5d | count by day';
    const { rows, metadata } = await shop.ask(q);
    const partial = (metadata.partial ?? []).map(({ day }) => rows.findIndex((row) => row.day === day));
    expect(partial).toEqual([0, rows.length - 1]);
    const visited = await shop.visit(askPath(q));
    await region(visited)
      .getByText(/^Dashed: not complete. .*: partial. .*: so far.$/)
      .waitFor();
    expect(await region(visited).locator('svg rect[stroke-dasharray][stroke-width="1.5"]').count()).toBe(2);
    await takePictures(visited, 'chart');

    await visited.page.goto(shop.addressOf(askPath(q, 'table')));
    const cells = region(visited).locator('tbody td:first-child');
    await expect.poll(() => cells.count()).toBe(rows.length);
    const marks = cells.locator('em[title]');
    expect(await marks.allTextContents()).toEqual(['partial', 'so far']);
    expect(await marks.first().getAttribute('title')).toBe('The range covers only a part of it.');
    // As screen readers read the cell.
    await region(visited)
      .getByRole('cell', { name: /\d so far$/ })
      .waitFor();
    await takePictures(visited, 'table');
    await expectNoFindings(visited);
  });

  test('of the edges of a number is a column for each, and a bar in the table', async () => {
    const q = 'purchase | last 30d | count by bucket(price, 20)';
    const visited = await shop.visit(askPath(q));
    const { rows } = await shop.ask(q);
    const drawn = await drawnNumbers(visited, rows.length, 'columns');
    expect(drawn.map((line) => Number(line.count))).toEqual(rows.map(({ count }) => count));
    await takePictures(visited, 'edges');
    await visited.page.goto(shop.addressOf(askPath(q, 'table')));
    const bars = region(visited).locator('tbody tr:first-child td [class*="bar"]');
    await expect.poll(() => bars.count()).toBe(1);
    expect(await region(visited).locator('tbody tr:first-child td:last-child [class*="bar"]').count()).toBe(1);
  });

  test('of several groups has a line for each, with the numbers of the API', async () => {
    const q = '(page_view, signup) | last 20d | count by day, event_properties.plan';
    const visited = await shop.visit(askPath(q));
    const { rows, period } = await shop.ask(q);
    const drawn = await drawnNumbers(visited, daysOf(String(period)).length, 'line');
    for (const [index, day] of daysOf(String(period)).entries()) {
      for (const plan of ['pro', 'free', 'a "b"']) {
        const row = rows.find((each) => each.day === day && each['event_properties.plan'] === plan);
        expect(numberOf(drawn[index]?.[plan] ?? ''), `${day} ${plan}`).toBe(row?.count ?? 0);
      }
    }
  });

  test('of a lifecycle has every status of every period', async () => {
    const q = 'lifecycle page_view by week | last 4w';
    const visited = await shop.visit(askPath(q));
    const { rows } = await shop.ask(q);
    const periods = [...new Set(rows.map(({ period }) => period))].sort();
    const drawn = await drawnNumbers(visited, periods.length, 'columns');
    for (const [index, period] of periods.entries()) {
      for (const status of ['New', 'Returning', 'Resurrected', 'Dormant']) {
        const row = rows.find((each) => each.period === period && each.status === status);
        expect(numberOf(drawn[index]?.[status] ?? ''), `${period} ${status}`).toBe(row?.users ?? 0);
      }
    }
  });

  test('of a funnel, a retention, paths and a number is what the API answers', async () => {
    const funnel = 'funnel page_view -> signup -> purchase | last 30d';
    const visited = await shop.visit(askPath(funnel));
    const { page } = visited;
    const steps = region(visited).getByRole('list').first();
    for (const { event, users } of (await shop.ask(funnel)).rows) {
      await steps
        .getByRole('listitem')
        .filter({ hasText: String(event) })
        .getByText(String(users), { exact: true })
        .waitFor();
    }
    const retention = 'retention page_view by week | last 4w';
    await page.goto(shop.addressOf(askPath(retention)));
    const cells = region(visited).locator('tbody td[title]');
    await cells.first().waitFor();
    const rates = (await shop.ask(retention)).rows.map(({ rate }) => rate).filter((rate) => rate !== null);
    expect((await cells.allTextContents()).map((text) => Number.parseFloat(text)).sort()).toEqual(
      rates.map((rate) => Number((Number(rate) * 100).toFixed(1))).sort(),
    );
    await region(visited).getByRole('rowheader', { name: 'Average, weighted by size' }).waitFor();
    const paths = 'paths from page_view | last 30d';
    await page.goto(shop.addressOf(askPath(paths)));
    const people = (await shop.ask(paths)).rows.reduce((sum, { users }) => sum + Number(users), 0);
    await region(visited)
      .getByRole('img', { name: new RegExp(`^Paths of ${people} people`) })
      .waitFor();
    const total = '* | last 30d | unique';
    await page.goto(shop.addressOf(askPath(total)));
    await region(visited)
      .getByText(String((await shop.ask(total)).rows[0]?.unique_count), { exact: true })
      .waitFor();
  });

  test('has labels of the time zone of the project', async () => {
    const q = 'page_view | yesterday | count by hour';
    const visited = await shop.visit(askPath(q, 'table'));
    const { rows, period } = await shop.ask(q);
    const inTehran = (instant: string): string =>
      new Intl.DateTimeFormat('en-GB', {
        ...{ timeZone: 'Asia/Tehran', day: 'numeric', month: 'short', year: 'numeric' },
        ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
      }).format(new Date(instant));
    await region(visited).getByRole('row').nth(1).waitFor();
    const shown = await region(visited).locator('tbody tr td:first-child').allTextContents();
    expect(shown).toEqual(rows.map(({ hour }) => inTehran(String(hour))));
    expect(shown[0]).toContain('00:00');
    const [from = '', to = ''] = String(period).split('/');
    await region(visited)
      .getByText(`${inTehran(from)} – ${inTehran(to)}`)
      .waitFor();
    await region(visited).getByText('Asia/Tehran').waitFor();
  });
});

describe('a click', () => {
  test('on a header sorts, and sorts the other way when repeated', async () => {
    const q = '* | last 30d | count by event_type # all of them';
    const visited = await shop.visit(askPath(q));
    const count = region(visited).getByRole('columnheader', { name: 'count' });
    await count.getByRole('button').click();
    await expectQuery(visited, '* | last 30d | count by event_type | sort count desc # all of them');
    await region(visited).locator('th[aria-sort="descending"]').waitFor();
    await count.getByRole('button').click();
    await expectQuery(visited, '* | last 30d | count by event_type | sort count asc # all of them');
    await region(visited).locator('th[aria-sort="ascending"]').waitFor();
    const { rows } = await shop.ask(queryIn(visited));
    const first = region(visited).locator('tbody tr:first-child td').first();
    // The rows before stay until the answer arrives.
    await eventually(async () => expect(await first.textContent()).toBe(rows[0]?.event_type));
  });

  test('on a bar or a value filters', async () => {
    const visited = await shop.visit(askPath('page_view | last 30d | count by event_properties.plan'));
    const row = region(visited).getByRole('row').filter({ hasText: 'a "b"' });
    await row.getByRole('cell').last().click();
    const filtered =
      'page_view | last 30d | where event_properties.plan = "a \\"b\\"" | count by event_properties.plan';
    await expectQuery(visited, filtered);
    await region(visited).getByText('1 row', { exact: true }).waitFor();
  });

  test('on the group of all further values does nothing, because no filter asks for them', async () => {
    const q = 'page_view | last 20d | count by day, event_properties.plan | top 1 other';
    const visited = await shop.visit(askPath(q));
    const legend = region(visited).getByRole('list').first();
    await legend.getByRole('button', { name: 'a "b"' }).waitFor();
    await legend.getByText('(other)').waitFor();
    expect(await region(visited).getByRole('button', { name: '(other)' }).count()).toBe(0);
    await region(visited).getByRole('button', { name: 'Table' }).click();
    await region(visited).getByRole('button', { name: 'a "b"' }).first().waitFor();
    expect(await region(visited).getByRole('button', { name: '(other)' }).count()).toBe(0);
  });

  test('on a series of the legend filters by its groups, on a column narrows to its time', async () => {
    const visited = await shop.visit(askPath('page_view | last 20d | count by day, event_properties.plan'));
    await region(visited).getByRole('button', { name: 'free' }).click();
    await expectQuery(
      visited,
      'page_view | last 20d | where event_properties.plan = "free" | count by day, event_properties.plan',
    );
    const columns = 'page_view | last 5d | count by day';
    await visited.page.goto(shop.addressOf(askPath(columns)));
    const days = (await shop.ask(columns)).rows.map(({ day }) => String(day));
    const picture = region(visited).getByRole('img', { name: /6 values/ });
    await picture.waitFor();
    const box = await picture.boundingBox();
    await picture.click({ position: { x: 48 + ((box?.width ?? 0) - 60) * (1.5 / 6), y: 250 } });
    await expectQuery(visited, `page_view | from ${days[1]} to ${days[2]} | count by day`);
  });

  test('on a time in the table narrows to it, for those who use keys', async () => {
    const visited = await shop.visit(askPath('page_view | last 5d | count by day', 'table'));
    const { rows } = await shop.ask('page_view | last 5d | count by day');
    const time = region(visited).locator('tbody tr:nth-child(2) button');
    await time.focus();
    await visited.page.keyboard.press('Enter');
    await expectQuery(visited, `page_view | from ${rows[1]?.day} to ${rows[2]?.day} | count by day`);
  });

  test('lists those who were lost, who returned, and who is in a state', async () => {
    const visited = await shop.visit(askPath('funnel page_view -> signup | last 30d'));
    await region(visited).getByRole('button', { name: '30 lost' }).click();
    await expectQuery(visited, 'funnel page_view -> signup | last 30d | people lost after 1');
    await region(visited).getByText('30 rows').waitFor();
    await visited.page.goto(shop.addressOf(askPath('retention page_view by week | last 4w')));
    await region(visited).getByRole('columnheader', { name: 'week 1', exact: true }).getByRole('button').click();
    await expectQuery(visited, 'retention page_view by week | last 4w | people at 1');
    await visited.page.goto(shop.addressOf(askPath('lifecycle page_view by week | last 4w')));
    await region(visited).getByRole('button', { name: 'Dormant', exact: true }).click();
    await expectQuery(visited, 'lifecycle page_view by week | last 4w | people dormant');
  });

  test('has keys: columns and steps of paths are reached by Tab and arrows, and chosen by Enter', async () => {
    const q = 'lifecycle page_view by week | last 4w';
    const visited = await shop.visit(askPath(q));
    const { keyboard } = visited.page;
    const { rows } = await shop.ask(q);
    const periods = [...new Set(rows.map(({ period }) => String(period)))].sort();
    const columns = region(visited).getByRole('group', { name: 'Columns' });
    await columns
      .getByRole('button')
      .nth(periods.length - 1)
      .waitFor();
    await region(visited).getByRole('button', { name: 'Dormant', exact: true }).focus();
    await keyboard.press('Tab');
    await keyboard.press('ArrowRight');
    const dormant = rows.find(({ period, status }) => period === periods[1] && status === 'Dormant')?.users ?? 0;
    await columns
      .getByRole('button', { name: new RegExp(`Dormant ${dormant}. Only this time`) })
      .and(visited.page.locator(':focus'))
      .waitFor();
    await expectNoFindings(visited);
    await keyboard.press('Enter');
    await expect.poll(() => queryIn(visited)).toMatch(new RegExp(`by week \\| from ${periods[1]} to `));

    await visited.page.goto(shop.addressOf(askPath('paths from page_view | last 30d')));
    const steps = region(visited).getByRole('group', { name: 'Steps to begin at' });
    await steps.getByRole('button', { name: /^signup, step 2, \d+ people/ }).waitFor();
    await region(visited).getByRole('region', { name: 'Steps by position' }).focus();
    await keyboard.press('Tab');
    await keyboard.press('End');
    await keyboard.press('Home');
    const first = await visited.page.locator(':focus').getAttribute('aria-label');
    await expectNoFindings(visited);
    await keyboard.press('Enter');
    await expectQuery(visited, `paths from ${first?.split(',')[0]} | last 30d`);
  });

  test('on a step of paths begins there', async () => {
    const visited = await shop.visit(askPath('paths from page_view | last 30d'));
    await region(visited).getByRole('img').locator('g').filter({ hasText: 'signup' }).first().locator('rect').click();
    await expectQuery(visited, 'paths from signup | last 30d');
  });
});

describe('the builder', () => {
  test('makes a funnel of three events by a field by pointer alone, and draws what the API answers', async () => {
    const visited = await shop.visit(askPath());
    const { page } = visited;
    await page.getByRole('button', { name: /How many go from/ }).click();
    await region(visited).getByRole('list').first().waitFor();
    const chips = page.getByRole('list', { name: 'Parts of the query' });
    const pick = async (chip: string, name: string): Promise<void> => {
      await chips.getByRole('button', { name: chip }).first().click();
      await chips.getByRole('list', { name: 'Names' }).getByRole('button', { name, exact: true }).click();
    };
    await expectQuery(visited, 'funnel page_view -> signup | last 30d | window 7d');
    await pick('Event: signup', 'purchase');
    await pick('Event: purchase', 'signup');
    await pick('Add: Event', 'purchase');
    await pick('Add: Group by', 'event_properties.plan');
    const funnel = 'funnel page_view -> signup -> purchase | last 30d | window 7d | by event_properties.plan';
    await expectQuery(visited, funnel);
    const { rows } = await shop.ask(queryIn(visited));
    await region(visited).getByRole('button', { name: 'Table' }).click();
    await region(visited).getByText(`${rows.length} rows`).waitFor();
    const users = await region(visited).locator('tbody tr td:nth-child(4)').allTextContents();
    expect(users.map(numberOf)).toEqual(rows.map((row) => row.users));
  });

  test('offers the values of a field with their counts', async () => {
    const visited = await shop.visit(askPath('page_view | last 30d | count'));
    const chips = visited.page.getByRole('list', { name: 'Parts of the query' });
    await chips.getByRole('button', { name: 'Add: Filter' }).click();
    const names = chips.getByRole('list', { name: 'Names' });
    await names.getByRole('button', { name: 'event_properties.plan', exact: true }).click();
    await names.getByRole('button', { name: 'a "b"', exact: true }).click();
    await expectQuery(visited, 'page_view | last 30d | where event_properties.plan = "a \\"b\\"" | count');
    await region(visited).getByText('20', { exact: true }).waitFor();
  });

  test('changes the time range and leaves every other byte alone', async () => {
    const q = '# sales\n  page_view|last 30d  # a comment\n|   count   by day';
    const visited = await shop.visit(askPath(q));
    const chips = visited.page.getByRole('list', { name: 'Parts of the query' });
    await chips.getByRole('button', { name: /^Time range/ }).click();
    await visited.page.getByRole('button', { name: 'last 90d' }).click();
    await expectQuery(visited, q.replace('last 30d', 'last 90d'));
    await visited.page.goto(
      shop.addressOf(askPath('page_view | last 30d | where not event_properties.plan ~ "^p" | count')),
    );
    await chips.getByRole('button', { name: /where not .*, edit as text/ }).click();
    await visited.page.locator('.cm-focused').waitFor();
    await expectQuery(visited, 'page_view | last 30d | where not event_properties.plan ~ "^p" | count');
  });
});
