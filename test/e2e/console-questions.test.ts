// Questions of the console in a real browser: nothing of one leaves the page but the query itself,
// what is copied works elsewhere, and the largest answer scrolls.
import { describe, expect, test } from 'vitest';
import { questionsOf } from '../support/console.js';
import { askPath, expectQuery, region } from '../support/console-ask.js';
import { expectNoFindings } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';

const DAY_MS = 86_400_000;
const PEOPLE = 60;
const MANY = 10_000;
/** About a thousand of the groups, and those of people. */
const FEW = '(event_properties.n not exists or event_properties.n starts with "value 1")';
const ago = (days: number, ms = 0): string => new Date(Date.now() - days * DAY_MS + ms).toISOString();

const shop = useConsoleShop({
  email: 'questions@example.com',
  fill: ({ fill }) =>
    fill([
      ...Array.from({ length: PEOPLE }, (_, n) => ({
        ...{ event_type: 'page_view', user_id: `user-${n}`, time: ago(1 + (n % 20)) },
      })),
      ...Array.from({ length: MANY }, (_, n) => ({
        ...{ event_type: 'many', user_id: `user-${n % 50}`, time: ago(40, n) },
        event_properties: { n: `value ${n}` },
      })),
    ]),
});

describe('an answer with more rows than a table shows at first', () => {
  test('is drawn whole, to its last day', async () => {
    const q = `* | last 60d | where ${FEW} | count by day, event_properties.n`;
    const { total } = await shop.ask(q);
    expect(total).toBeGreaterThan(1000);
    const visited = await shop.visit(askPath(q));
    await region(visited)
      .getByRole('img', { name: `count, ${total} values` })
      .waitFor();
    expect(await region(visited).getByText('Only the first').count()).toBe(0);
  });

  test('says so when it is longer than an answer may be', async () => {
    const q = '* | last 60d | count by day, event_properties.n';
    const { total } = await shop.ask(q);
    expect(total).toBeGreaterThan(MANY);
    const visited = await shop.visit(askPath(q));
    await region(visited)
      .getByText(`Only the first 10,000 of ${total.toLocaleString('en')} rows are shown.`)
      .waitFor();
    await expectNoFindings(visited);
  });
});

describe('the menus below a question', () => {
  test('ask for days and against the days before, by keys alone', async () => {
    const [from, last] = [ago(12), ago(4)].map((time) => time.slice(0, 10));
    const end = ago(3).slice(0, 10);
    const visited = await shop.visit(askPath('page_view | last 30d | count'));
    const { page } = visited;
    const chips = page.getByRole('list', { name: 'Parts of the query' });
    const focused = (name: string) => chips.getByRole('button', { name }).and(page.locator(':focus'));
    await chips.getByRole('button', { name: 'Time range: last 30d' }).press('Enter');
    await chips.getByRole('textbox', { name: 'From' }).fill(from ?? '');
    await chips.getByRole('textbox', { name: 'To' }).fill(last ?? '');
    await expectNoFindings(visited);
    await chips.getByRole('textbox', { name: 'To' }).press('Enter');
    await expectQuery(visited, `page_view | from ${from} to ${end} | count`);
    await focused(`Time range: from ${from} to ${end}`).waitFor();

    await chips.getByRole('button', { name: 'Add: Compare' }).press('Enter');
    await expectNoFindings(visited);
    await page.keyboard.press('Escape');
    await focused('Add: Compare').press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const q = `page_view | from ${from} to ${end} | count | compare previous`;
    await expectQuery(visited, q);
    const [row] = (await shop.ask(q)).rows;
    await region(visited).getByText(String(row?.count), { exact: true }).waitFor();
    await focused('Compare: previous').press('Enter');
    await chips.getByRole('textbox', { name: 'From' }).fill('2026-01-31');
    await chips.getByRole('textbox', { name: 'To' }).fill('2026-01-31');
    await chips.getByRole('button', { name: 'Apply' }).press('Enter');
    await expectQuery(visited, q.replace('previous', 'from 2026-01-31 to 2026-02-01'));
    await focused('Compare: from 2026-01-31 to 2026-02-01').press('Enter');
    await chips.getByRole('button', { name: 'Remove' }).press('Enter');
    await expectQuery(visited, q.replace(' | compare previous', ''));
    await focused('Measure: count').waitFor();
  });
});

describe('a question', () => {
  test('is in no request but its own, whatever is done with it', async () => {
    const secret = 'xqzsecretqzx';
    const visited = await shop.visit(askPath(`page_view | last 30d | where event_properties.n != "${secret}" | count`));
    const { page, requests, context } = visited;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await region(visited).getByText(String(PEOPLE), { exact: true }).waitFor();
    for (const name of ['Copy link', 'Copy as curl', 'Copy as dashboard card', 'Copy as Markdown', 'Copy as prompt']) {
      await page.getByRole('button', { name: 'Share' }).click();
      await page.getByRole('button', { name }).click();
      await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toContain(secret);
    }
    for (const screen of ['Live', 'Data', 'People', 'Ask']) {
      await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: screen }).click();
      await page.waitForLoadState('domcontentloaded');
    }
    await page.reload();
    await region(visited).getByText(String(PEOPLE), { exact: true }).waitFor();
    expect(requests.length).toBeGreaterThan(10);
    for (const request of requests) {
      const sent = `${request.url()} ${JSON.stringify(await request.allHeaders())}`;
      expect(sent).not.toContain(secret);
      const isQuery = request.method() === 'POST' && request.url().endsWith('/query');
      if (!isQuery) expect(request.postData() ?? '', request.url()).not.toContain(secret);
    }
  });

  test('is kept with what was typed over it: by another screen, a reload, and the way back', async () => {
    const q = 'page_view | last 30d | count';
    const typed = `${q} by _platform`;
    const visited = await shop.visit(askPath(q), { jar: await shop.join('leaver@example.com', 'member') });
    const { page } = visited;
    const editor = page.locator('.cm-content[aria-label="Query"]');
    const openScreen = (name: string) =>
      page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name }).click();
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' by _platform');
    await openScreen('People');
    await page.getByRole('heading', { name: 'People' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'People' }).waitFor();
    await openScreen('Ask');
    await expectQuery(visited, q);
    await expect.poll(() => editor.textContent()).toBe(typed);
    await page.getByRole('button', { name: 'Run' }).click();
    await expectQuery(visited, typed);
    await openScreen('Ask');
    await page.getByRole('heading', { name: 'Start with a question' }).waitFor();
    await page.goBack();
    await expect.poll(() => editor.textContent()).toBe(typed);
    await page.goBack();
    await expect.poll(() => editor.textContent()).toBe(q);

    await page.getByRole('button', { name: 'Account:' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL((address) => !address.pathname.startsWith('/projects'));
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain('page_view');
  });

  test('is not lost when it is typed faster than the page is drawn', async () => {
    const q = 'page_view | last 30d | count';
    const visited = await shop.visit(askPath(q));
    const { page } = visited;
    await region(visited).getByText(String(PEOPLE), { exact: true }).waitFor();
    const editor = page.locator('.cm-content[aria-label="Query"]');
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: 20 });
    await editor.click();
    for (let again = 0; again < 10; again += 1) {
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Delete');
      await page.keyboard.insertText(q);
    }
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 1000))');
    expect(await editor.textContent()).toBe(q);
    expect(await page.getByRole('button', { name: 'Run' }).isEnabled()).toBe(true);
  });

  test('that was asked before is asked again by Run, and is not by going back', async () => {
    const [q, other] = ['page_view | last 30d | count', 'page_view | last 30d | unique'];
    const visited = await shop.visit(askPath(q));
    const { page, requests } = visited;
    const asked = (): string[] => questionsOf(requests).filter((text) => text === q || text === other);
    const run = async (text: string): Promise<void> => {
      await region(visited).getByText(String(PEOPLE), { exact: true }).waitFor();
      const editor = page.locator('.cm-content[aria-label="Query"]');
      await editor.click();
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Delete');
      await page.keyboard.insertText(text);
      await page.getByRole('button', { name: 'Run' }).click();
      await expectQuery(visited, text);
    };
    await run(other);
    await run(q);
    await expect.poll(asked).toEqual([q, other, q]);
    await run(q);
    await expect.poll(asked).toEqual([q, other, q, q]);
    await page.goBack();
    await expectQuery(visited, other);
    await region(visited).getByText(String(PEOPLE), { exact: true }).waitFor();
    expect(asked()).toEqual([q, other, q, q]);
  });

  test('whose answer cannot be drawn stays in the editor, and its next answer is drawn', async () => {
    const visited = await shop.visit('/ask');
    const { page } = visited;
    const isBroken = (url: URL): boolean => url.pathname.endsWith('/query');
    await page.route(isBroken, async (route) => {
      const response = await route.fetch();
      return route.fulfill({ response, json: { ...(await response.json()), period: 7 } });
    });
    const q = 'page_view | last 30d | count';
    await page.goto(shop.addressOf(askPath(q)));
    await region(visited).getByRole('alert').getByText('This answer could not be shown').waitFor();
    await expectQuery(visited, q);
    await expectNoFindings(visited);
    await page.unroute(isBroken);
    await page.getByRole('button', { name: 'Run' }).click();
    await region(visited).getByText(String(PEOPLE), { exact: true }).waitFor();
    // What React says about the error.
    expect(visited.complaints.splice(0).join()).toContain('split');
  });

  test('whose answer breaks off can be asked again, and stays in the editor', async () => {
    const visited = await shop.visit('/ask');
    const { page } = visited;
    const isQuery = (url: URL): boolean => url.pathname.endsWith('/query');
    await page.route(isQuery, async (route) => {
      const response = await route.fetch();
      return route.fulfill({ response, body: (await response.text()).slice(0, 20) });
    });
    const q = 'page_view | last 30d | count';
    await page.goto(shop.addressOf(askPath(q)));
    const retry = region(visited).getByRole('button', { name: 'Retry' });
    await retry.waitFor();
    await expectQuery(visited, q);
    await page.unroute(isQuery);
    await retry.click();
    await region(visited).getByText(String(PEOPLE), { exact: true }).waitFor();
  });

  test('is explained in words and SQL, and is not run for it', async () => {
    const call = 'count(many) > 0';
    const q = `* | last 90d | where ${call} | count by event_type`;
    const visited = await shop.visit(askPath(q));
    const { page } = visited;
    await page.getByRole('button', { name: 'Explain' }).click();
    const dialog = page.getByRole('dialog', { name: 'Plan of the query' });
    const body = JSON.stringify({ q, explain: true, timezone: 'Asia/Tehran' });
    const headers = { 'X-API-Key': shop.secretKey };
    const plan = (await (await fetch(`${shop.url}/query`, { method: 'POST', headers, body })).json()) as {
      sql: string;
    };
    expect(plan).toMatchObject({ columns: ['event_type', 'count'], mode: 'aggregate', timezone: 'Asia/Tehran' });
    expect(plan).not.toHaveProperty('rows');
    const withoutTimes = (sql: string): string => sql.replace(/'\d{4}-\d\d-\d\d [\d:.]+'/g, '');
    const shown = await dialog.getByRole('region', { name: 'SQL' }).textContent();
    expect(withoutTimes(shown ?? '')).toBe(withoutTimes(plan.sql));
    await dialog.getByText('event_type, count').waitFor();
    await dialog.getByText('all events').waitFor();
    const all = (await shop.ask('* | last 90d | unique')).rows[0]?.value;
    const passing = (await shop.ask(`* | last 90d | where ${call} | unique`)).rows[0]?.value;
    const calls = dialog.getByRole('definition').filter({ hasText: `${passing} of ${all} people` });
    await calls.waitFor();
    await expectNoFindings(visited);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('copied as a card is a card of a dashboard that syncs unchanged, and as curl it runs', async () => {
    const q = 'page_view | last 30d | count by day';
    const visited = await shop.visit(askPath(q));
    const { page, context } = visited;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await region(visited).getByRole('img').waitFor();
    const copied = async (name: string): Promise<string> => {
      await page.getByRole('button', { name: 'Share' }).click();
      await page.getByRole('button', { name }).click();
      await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    const card = await copied('Copy as dashboard card');
    const source = `version: 1\ntitle: Copied\nsections:\n  - title: All\n    cards:\n${card.replace(/^/gm, '      ').trimEnd()}\n`;
    const sync = (): Promise<Response> =>
      fetch(`${shop.url}/api/dashboard-sync/copied`, {
        method: 'PUT',
        headers: { 'X-API-Key': shop.secretKey, 'Content-Type': 'application/json' },
        body: JSON.stringify({ source_yaml: source }),
      });
    const response = await sync();
    expect(response.status, await response.text()).toBe(201);
    expect((await sync()).status).toBe(200);
    const curl = await copied('Copy as curl');
    expect(curl).toContain(`curl ${shop.url}/query`);
    const body = /-d '(.*)'$/s.exec(curl)?.[1] ?? '';
    const answer = await fetch(`${shop.url}/query`, { method: 'POST', headers: { 'X-API-Key': shop.secretKey }, body });
    expect(((await answer.json()) as { rows: unknown[] }).rows).toHaveLength((await shop.ask(q)).rows.length);
    expect(await copied('Copy link')).toBe(page.url());
    expect(await copied('Copy as Markdown')).toMatch(/\| day +\| +count \|/);
    expect(await copied('Copy as prompt')).toMatch(/Explain .*Query:\n```\npage_view .*\| day +\| +count \|/s);
    await page.getByRole('button', { name: 'Share' }).click();
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(csv.suggestedFilename()).toBe('answer.csv');
  });
});

describe('an answer of 10,000 rows', () => {
  test('scrolls to its end with at most 1,500 elements', async () => {
    const visited = await shop.visit(
      askPath('many | last 90d | count by event_properties.n | sort event_properties.n'),
    );
    const { page } = visited;
    await region(visited).getByText('1,000 of 10,000 rows').first().waitFor();
    await region(visited).getByRole('button', { name: 'Show all rows' }).click();
    await region(visited)
      .locator(`table[aria-rowcount="${MANY + 1}"]`)
      .waitFor();
    await page.waitForLoadState('networkidle');
    const most: number[] = [];
    for (let step = 1; step <= 20; step++) {
      await page.evaluate(`(() => {
        const scroller = document.querySelector('section[aria-label="Table"]');
        scroller.scrollTop = (scroller.scrollHeight * ${step}) / 20;
      })()`);
      await page.waitForTimeout(30);
      most.push(await page.evaluate<number>('document.getElementsByTagName("*").length'));
    }
    expect(Math.max(...most)).toBeLessThanOrEqual(1500);
    await region(visited)
      .locator(`tr[aria-rowindex="${MANY + 1}"]`)
      .waitFor();
    await expectNoFindings(visited);
  });
});

test('the console shows the names of all screens without scrolling on a desktop', async () => {
  const { id: projectId } = await shop.newProject('A project with a long name');
  for (const width of [1000, 1280, 1440, 1536, 1600, 1760]) {
    const { page } = await shop.visit('/start', { projectId, browser: { viewport: { width, height: 800 } } });
    const navigation = page.getByRole('navigation', { name: 'Screens' });
    await navigation.waitFor();
    const project = await page.getByRole('button', { name: 'Project: ' }).boundingBox();
    expect((await navigation.boundingBox())?.x).toBeGreaterThan((project?.x ?? 0) + (project?.width ?? 0));
    if (width === 1000) continue;
    const { scrollWidth, clientWidth } = await navigation.evaluate((element) => ({
      scrollWidth: element.scrollWidth,
      clientWidth: element.clientWidth,
    }));
    expect({ width, hidden: scrollWidth - clientWidth }).toEqual({ width, hidden: 0 });
  }
});

test('the running bucket is so called in a browser whose clock is a day ahead', async () => {
  const visited = await shop.visit('/start');
  const { page } = visited;
  await page.clock.setFixedTime(Date.now() + 86_400_000);
  await page.goto(shop.addressOf('/ask#q=*+|+last+7d+|+count+by+day'));
  await page
    .getByRole('region', { name: 'Answer' })
    .getByText(/: so far\./)
    .waitFor();
});

test('the console asks no other host', async () => {
  const visited = await shop.visit('/experiments');
  const { page, requests } = visited;
  for (const screen of ['Ask', 'Dashboards', 'Live', 'People', 'Experiments', 'Data', 'Send events', 'Settings']) {
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: screen }).click();
    await page.waitForTimeout(300);
  }
  const hosts = new Set(requests.map((request) => new URL(request.url()).host));
  expect([...hosts]).toEqual([new URL(shop.url).host]);
});

test('the console stands still for people who ask for reduced motion', async () => {
  const waiting = await shop.newProject('No events');
  const { page } = await shop.visit('/start', { projectId: waiting.id });
  await page.getByRole('status').filter({ hasText: 'Waiting' }).waitFor();
  expect(await page.evaluate<string[]>(MOVING)).not.toEqual([]);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  expect(await page.evaluate<string[]>(MOVING)).toEqual([]);
});

/**
 * Elements that move when they change, for longer than a frame, or are animated: an endless
 * animation of a moment flickers.
 */
const MOVING = `[...document.querySelectorAll('*')].filter((element) =>
  ['', '::before', '::after'].some((part) => {
    const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(element, part);
    const longest = (durations) => Math.max(...durations.split(',').map((text) => Number.parseFloat(text)));
    return scrollBehavior === 'smooth' || longest(transitionDuration) > 0.001 || animationName !== 'none';
  })).map((element) => element.outerHTML.slice(0, 120))`;
