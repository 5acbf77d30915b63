// The console for people who use no mouse, no usual colours or no usual size: forced colours (high
// contrast) drop grounds and shadows, and paper does not scroll.
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { askPath, expectQuery, queryIn, region } from '../support/console-ask.js';
import { expectNoSidewaysScroll } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';
import { eventually } from '../support/eventually.js';
import { track } from '../support/track.js';

const DAY_MS = 86_400_000;
const PEOPLE = 40;
const ago = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

const shop = useConsoleShop({
  email: 'display@example.com',
  fill: ({ fill }) =>
    fill(
      Array.from({ length: PEOPLE }, (_, n) => [
        { event_type: 'page_view', user_id: `user-${n}`, time: ago(1 + n) },
        ...(n % 2 === 0 ? [{ event_type: 'purchase', user_id: `user-${n}`, time: ago(0.5 + n) }] : []),
      ]).flat(),
    ),
});

const BROWSER = { forcedColors: 'active' } as const;

const styleOf = ({ page }: { readonly page: Page }, selector: string, property: string): Promise<string> =>
  page.evaluate<string>(
    `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue('${property}')`,
  );

describe('forced colours', () => {
  test('keep the colours of lines in their names, and show what is chosen', async () => {
    const visited = await shop.visit(askPath('page_view | last 30d | count by day, user_id'), { browser: BROWSER });
    const { page } = visited;
    await region(visited).getByRole('button', { name: 'Chart' }).waitFor();
    await region(visited).getByRole('listitem').first().waitFor();
    const grounds = (selector: string) =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => getComputedStyle(each).backgroundColor)`,
      );
    const colours = await grounds('[aria-label="Answer"] li .mark');
    expect([colours.length, new Set(colours).size]).toEqual([8, 8]);
    const [chosen, other] = await grounds('[aria-label="Answer"] fieldset button');
    expect(chosen).not.toBe(other);
    await page.keyboard.press('Control+k');
    await page.getByRole('option').first().waitFor();
    const option = (isChosen: boolean) =>
      styleOf(visited, `[role=option][aria-selected=${isChosen}]`, 'background-color');
    expect(await option(true)).not.toBe(await option(false));
  });

  test('keep the bars of a table', async () => {
    const visited = await shop.visit(askPath('* | last 30d | count by user_id'), { browser: BROWSER });
    await region(visited).getByRole('table').waitFor();
    const bar = (property: string) => styleOf(visited, 'td [aria-hidden]', property);
    expect(await bar('background-color')).not.toBe(await styleOf(visited, 'body', 'background-color'));
    // A line below the number, which stays on the ground that it is readable on.
    expect([await bar('height'), await bar('opacity')]).toEqual(['4px', '1']);
  });

  test('keep the bars of a funnel', async () => {
    const visited = await shop.visit(askPath('funnel page_view -> purchase | last 30d'), { browser: BROWSER });
    await region(visited).getByRole('list').waitFor();
    const bar = await styleOf(visited, '[aria-label="Answer"] ol [style*=inline-size]', 'background-color');
    expect(bar).not.toBe(await styleOf(visited, 'body', 'background-color'));
  });

  test('tell periods of a retention that are not over apart', async () => {
    const visited = await shop.visit(askPath('retention page_view by week | last 3w'), { browser: BROWSER });
    await region(visited).getByRole('table').waitFor();
    const border = (cell: string) => styleOf(visited, cell, 'border-top-style');
    expect(await border('td[title*="so far"]')).toBe('dashed');
    expect(await border('tbody td[title]:not([title*="so far"])')).toBe('solid');
  });
});

describe('the focus', () => {
  test('stays at the header that sorts, and in the answer that a value filters', async () => {
    const visited = await shop.visit(askPath('* | last 30d | count by event_type'));
    const { page } = visited;
    await region(visited).getByRole('button', { name: 'event_type' }).press('Enter');
    await expectQuery(visited, '* | last 30d | count by event_type | sort event_type desc');
    await page.locator('th[aria-sort] :focus').waitFor();
    await region(visited).getByRole('button', { name: 'page_view' }).press('Enter');
    await region(visited).getByText('1 row', { exact: true }).waitFor();
    await expect.poll(() => page.evaluate(IS_IN_ANSWER)).toBe(true);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(IS_IN_ANSWER)).toBe(true);
  });

  test('stays in a chart whose column narrows the time', async () => {
    const visited = await shop.visit(askPath('* | last 5d | count by day'));
    const { page } = visited;
    await region(visited).getByRole('group', { name: 'Columns' }).getByRole('button').nth(2).press('Enter');
    await expect.poll(() => queryIn(visited)).toContain('| from ');
    await region(visited).getByText('1 row', { exact: true }).waitFor();
    await expect.poll(() => page.evaluate(IS_IN_ANSWER)).toBe(true);
  });

  test('returns from a dialog that is cancelled to what opened it', async () => {
    const { page } = await shop.visit('/settings/project');
    for (const name of ['Rotate the secret key', 'Delete the project']) {
      await page.getByRole('button', { name }).press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).press('Enter');
      await expect.poll(() => page.evaluate(FOCUSED)).toBe(name);
    }
  });

  test('stays at a button whose action runs, and at a choice that loads other figures', async () => {
    const { page } = await shop.visit('/settings/tokens');
    await page.route('**/tokens', async (route) => {
      // Longer than a frame, in which the browser takes the focus from a disabled button.
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    await page.getByLabel('Name').fill('by keys');
    await page.getByRole('button', { name: 'Create token' }).press('Enter');
    await page.getByRole('button', { name: 'Revoke by keys' }).waitFor();
    await expect.poll(() => page.evaluate(FOCUSED)).toBe('Create token');

    await page.goto(shop.addressOf('/settings/usage'));
    const period = page.getByRole('combobox', { name: 'Period' });
    await period.press('ArrowDown');
    await period.press('ArrowDown');
    expect(await period.inputValue()).toBe('365');
  });

  test('goes from a control that is gone to the next one, else to one before, and to a screen that opens', async () => {
    const { page } = await shop.visit('/settings/members');
    for (const name of ['first', 'second']) {
      await page.getByLabel('E-mail address').fill(`${name}@example.com`);
      await page.getByRole('button', { name: 'Invite' }).click();
      await page.getByRole('button', { name: `Revoke ${name}@example.com` }).waitFor();
    }
    const revoke = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: `Revoke ${name}@example.com` }).press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).press('Enter');
    };
    await revoke('first');
    await expect.poll(() => page.evaluate(FOCUSED_NAME)).toBe('Revoke second@example.com');
    await revoke('second');
    // No invitation is left: the control before them is that of the member.
    await expect.poll(() => page.evaluate(FOCUSED_NAME)).toBe('Remove display@example.com');

    await page.goto(shop.addressOf('/dashboards/1'));
    await page.getByRole('main').getByRole('link', { name: 'Dashboards', exact: true }).press('Enter');
    await page.getByRole('button', { name: 'New dashboard' }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
  });

  test('goes through a menu by arrow keys, and returns from it', async () => {
    const { page } = await shop.visit('/start');
    await page.getByRole('button', { name: 'Account: display@example.com' }).press('Enter');
    for (const [key, name] of [
      ['ArrowDown', 'As the system'],
      ['ArrowDown', 'Light'],
      ['ArrowUp', 'As the system'],
      ['ArrowUp', 'Sign out'],
      ['Home', 'As the system'],
      ['End', 'Sign out'],
      ['ArrowDown', 'As the system'],
      ['Escape', 'Account: display@example.com'],
    ] as const) {
      await page.keyboard.press(key);
      expect(await page.evaluate(FOCUSED_NAME)).toBe(name);
    }
    await page.getByRole('button', { name: 'As the system' }).waitFor({ state: 'detached' });
  });
});

const FOCUSED = 'document.activeElement.textContent';
const FOCUSED_NAME = 'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent';
const IS_IN_ANSWER = `document.activeElement.closest('[aria-label="Answer"]') !== null`;

test('the bar at the top does not cover a low screen, such as one at 400 %', async () => {
  const visited = await shop.visit(askPath('* | last 30d | count by day'), {
    browser: { viewport: { width: 320, height: 256 } },
  });
  const { page } = visited;
  await region(visited).getByRole('img').waitFor();
  await region(visited).getByRole('img').scrollIntoViewIfNeeded();
  const bottom = await page.evaluate<number>("document.querySelector('header').getBoundingClientRect().bottom");
  expect(bottom).toBeLessThan(0);
});

test('a navigation that scrolls shows the link of the present screen, also beside the name of the project', async () => {
  for (const width of [390, 720]) {
    const { page } = await shop.visit('/ask', { browser: { viewport: { width, height: 800 } } });
    for (const screen of ['ask', 'people', 'experiments', 'settings']) {
      await page.goto(shop.addressOf(`/${screen}`));
      const link = page.getByRole('navigation', { name: 'Screens' }).locator('[aria-current]');
      await link.waitFor();
      const [list, shown] = await Promise.all([link.locator('..').boundingBox(), link.boundingBox()]);
      const [begin, end] = [(shown?.x ?? 0) - (list?.x ?? 0), (shown?.x ?? 0) + (shown?.width ?? 0)];
      expect(begin, `${screen} at ${width}`).toBeGreaterThan(-1);
      // The list scrolls by whole pixels.
      expect(end, `${screen} at ${width}`).toBeLessThan((list?.x ?? 0) + (list?.width ?? 0) + 1);
    }
  }
});

test('the links of all screens have room from a width of 1,024 pixels on', async () => {
  const { page } = await shop.visit('/ask');
  const hiddenAt = async (width: number): Promise<number> => {
    await page.setViewportSize({ width, height: 600 });
    return page.evaluate<number>(`(() => {
      const nav = document.querySelector('header nav');
      return nav.scrollWidth - nav.clientWidth;
    })()`);
  };
  for (const width of [1024, 1119, 1121, 1247, 1249, 1440])
    expect(`${width}: ${await hiddenAt(width)}`).toBe(`${width}: 0`);
});

test('all rows of a table are printed, up to 500, also those that are scrolled out of view', async () => {
  const visited = await shop.visit(askPath('* | last 60d | list time, user_id'));
  const { page } = visited;
  const rows = region(visited).locator('tbody tr[aria-rowindex]');
  await rows.first().waitFor();
  const sent = PEOPLE + PEOPLE / 2;
  await page.emulateMedia({ media: 'print' });
  await expect.poll(() => rows.count()).toBe(sent);
  expect(await region(visited).getByText('Only the first').count()).toBe(0);
  const clipped = 'section[aria-label="Table"]';
  expect(
    await page.evaluate<boolean>(
      `(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)(document.querySelector('${clipped}'))`,
    ),
  ).toBe(false);
});

test('a screen of 320 pixels, such as one at 400 %, cuts off no time, and leaves room for long names', async () => {
  const long = 'W'.repeat(200);
  await track(shop.url, shop.publicKey, { events: [{ event_type: long, user_id: long }] });
  const visited = await shop.visit(askPath('page_view | last 30d | count'), {
    browser: { viewport: { width: 320, height: 900 } },
  });
  const { page } = visited;
  const lefts = await region(visited)
    .getByText(/ – /)
    .first()
    .evaluate((element) => {
      const range = element.ownerDocument.createRange();
      range.selectNodeContents(element);
      return [...range.getClientRects()].map(
        ({ left }) => left - (element.parentElement?.getBoundingClientRect().left ?? 0),
      );
    });
  expect(lefts.length).toBeGreaterThan(1);
  expect(Math.min(...lefts)).toBeGreaterThanOrEqual(0);

  await page.goto(shop.addressOf('/live'));
  const row = page.locator('summary').filter({ hasText: long }).first();
  await row.waitFor();
  const widths = await row.locator('> *').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width));
  expect(Math.min(...widths)).toBeGreaterThan(80);
  await expectNoSidewaysScroll(visited);

  await page.goto('about:blank');
  await page.goto(shop.addressOf(askPath('* | last 2d | count by day, event_type')));
  const name = region(visited).getByRole('listitem').filter({ hasText: long });
  await name.waitFor();
  // Two lines of a name, and not eight.
  expect((await name.boundingBox())?.height).toBeLessThan(50);

  const project = await shop.newProject('Long');
  const stored = await fetch(`${shop.url}/track?wait=1`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': project.secretKey },
    body: JSON.stringify({ event_type: long, user_id: long }),
  });
  expect(stored.status).toBe(200);
  await page.goto(shop.addressOf('/ask', project.id));
  await page.getByRole('button', { name: `How often is ${long} done?` }).waitFor();
  await expectNoSidewaysScroll(visited);

  await page.goto(shop.addressOf(`/data#${new URLSearchParams({ part: 'events', name: long })}`));
  await page.getByRole('heading', { name: `Properties of ${long}` }).waitFor();
  await expectNoSidewaysScroll(visited);
});

describe('a phone', () => {
  const PHONE = { viewport: { width: 390, height: 844 } };
  const boxesOf = async (all: readonly Locator[]) => {
    const boxes = await Promise.all(all.map((each) => each.boundingBox()));
    return boxes.map((box) => box ?? { x: 0, y: 0, width: 0, height: 0 });
  };

  test('shows a long name of a project beside its menu, and the buttons in the same line', async () => {
    const name = 'A name of a project '.repeat(6).trim();
    const project = await shop.newProject(name);
    const { page } = await shop.visit('/data', { projectId: project.id, browser: PHONE });
    const button = page.getByRole('button', { name: `Project: ${name}` });
    const [project_, account, arrow] = await boxesOf([
      button,
      page.getByRole('button', { name: 'Account' }),
      button.locator('svg'),
    ]);
    expect(Math.abs((project_?.y ?? 0) - (account?.y ?? 99))).toBeLessThan(10);
    expect(arrow?.width).toBe(16);
  });

  test('shows the number of a row beside its long name', async () => {
    const path = `/${'a-long-part-of-a-path/'.repeat(5)}`;
    await track(shop.url, shop.publicKey, {
      events: [{ event_type: 'open', user_id: 'p', event_properties: { path } }],
    });
    await eventually(async () => expect((await shop.ask('open | last 1h | count')).rows[0]?.count).not.toBe(0));
    const visited = await shop.visit(askPath('open | last 1h | unique by event_properties.path'), { browser: PHONE });
    const cell = region(visited).getByRole('cell', { name: '1', exact: true }).first();
    await cell.waitFor();
    const [box] = await boxesOf([cell]);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(390);
  });

  test('shows the first two periods of a retention', async () => {
    const visited = await shop.visit(askPath('retention page_view by week | last 5w'), { browser: PHONE });
    const period = region(visited).getByRole('columnheader', { name: 'week 1', exact: true });
    await period.waitFor();
    const [box] = await boxesOf([period]);
    expect((box?.x ?? 999) + (box?.width ?? 0)).toBeLessThan(390 - 12);
  });

  test('has the button that finds people beside the field', async () => {
    const { page } = await shop.visit('/people', { browser: PHONE });
    const field = page.getByRole('searchbox', { name: 'Find people', exact: true });
    await field.waitFor();
    const [words, find] = await boxesOf([field, page.getByRole('button', { name: 'Find' })]);
    expect([find?.y, find?.height]).toEqual([words?.y, words?.height]);
  });
});

test('a step of a funnel that no one reached has no bar, and its median stays on one line of a phone', async () => {
  const visited = await shop.visit(askPath('funnel page_view -> purchase -> refund | window 7d | last 90d'), {
    browser: { viewport: { width: 390, height: 844 } },
  });
  const steps = region(visited)
    .locator('li')
    .filter({ has: visited.page.locator('strong') });
  await steps.nth(2).waitFor();
  const bars = await steps.evaluateAll((all) => all.map((each) => each.lastElementChild?.childElementCount));
  expect(bars).toEqual([1, 1, 0]);
  const lines = await steps.getByText(/median/).evaluateAll((all) =>
    all.map((each) => {
      const range = each.ownerDocument.createRange();
      range.selectNodeContents(each);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    }),
  );
  expect(lines).toEqual([1]);
});

test('screen readers are told of an answer, and find each table by its name', async () => {
  const visited = await shop.visit(askPath('page_view | last 7d | count'));
  const { page } = visited;
  await region(visited).getByRole('status').filter({ hasText: '1 row' }).waitFor();
  await page.goto(shop.addressOf('/data'));
  await page.getByRole('table', { name: 'Events' }).waitFor();
  await page.goto(shop.addressOf('/data#part=properties'));
  await page.getByRole('table', { name: 'Properties' }).waitFor();
});

test('the days of rejected events are as wide as their card and have dates; no form has an empty line', async () => {
  const { page } = await shop.visit('/data#part=rejected');
  await track(shop.url, shop.publicKey, { events: [{ user_id: 'nameless' }] });
  const reason = page.getByRole('list', { name: 'Reason' }).getByRole('listitem');
  const today = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
  await reason.getByText(today, { exact: true }).waitFor();
  const widths = await Promise.all([reason.boundingBox(), reason.getByRole('img').boundingBox()]);
  expect(widths[1]?.width).toBe(widths[0]?.width);

  await page.goto(shop.addressOf('/settings/members'));
  const field = await page.getByLabel('E-mail address').boundingBox();
  const button = await page.getByRole('button', { name: 'Invite' }).boundingBox();
  // The gap between two lines of a form is 16 pixels.
  expect((button?.y ?? 0) - (field?.y ?? 0) - (field?.height ?? 0)).toBeLessThan(20);
});

test('a dashboard is made once by a double click, and not at all by Cancel', async () => {
  const { page } = await shop.visit('/dashboards');
  const dialog = page.getByRole('dialog', { name: 'New dashboard' });
  for (const name of ['Cancel', 'Create dashboard']) {
    await page.getByRole('button', { name: 'New dashboard' }).click();
    await dialog.getByLabel('Title').fill('Twice');
    await dialog.getByRole('button', { name }).dblclick({ noWaitAfter: true });
    await dialog.waitFor({ state: 'detached' });
  }
  await page.getByRole('heading', { name: 'Twice' }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.goto(shop.addressOf('/dashboards'));
  await page.getByRole('link', { name: 'Twice' }).first().waitFor();
  expect(await page.getByRole('link', { name: 'Twice' }).count()).toBe(1);
});
