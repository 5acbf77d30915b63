// The console of an account with many things: searches above long lists, the edges of a row of
// screens that is longer than a phone is wide, links and marks that keep their place, and hidden
// tabs.
import { expect, test } from 'vitest';
import { askPath } from '../support/console-ask.js';
import { expectNoFindings } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';
import { createDashboard } from '../support/create-dashboard.js';
import { track } from '../support/track.js';

const MANY = 13;
const numbered = Array.from({ length: MANY }, (_, index) => `n${index + 1}`);

const shop = useConsoleShop({
  email: 'many@example.com',
  fill: async ({ fill, newProject }) => {
    await fill(
      numbered.map((key) => ({
        event_type: 'service.exposure',
        user_id: 'ada',
        event_properties: { choice_key: `checkout-${key}`, variant_key: 'control', price: 5 },
      })),
    );
    for (const name of numbered) await newProject(`Branch ${name}`);
  },
});

test('many experiments have a search, and one person is no plural', async () => {
  const visited = await shop.visit('/experiments');
  const { page } = visited;
  const items = page.getByRole('list', { name: 'Experiments' }).getByRole('article');
  await expect.poll(() => items.count()).toBe(MANY);
  expect(await items.first().textContent()).toContain('1 person');
  await page.getByRole('searchbox', { name: 'Search experiments' }).fill('N12');
  await expect.poll(() => items.count()).toBe(1);
  await page.getByRole('link', { name: 'checkout-n12' }).waitFor();
  await expectNoFindings(visited);
});

test('the switcher of many projects has a search, by keys alone', async () => {
  const visited = await shop.visit('/live');
  const { page } = visited;
  await page.getByRole('button', { name: 'Project: Shop' }).press('Enter');
  const search = page.getByRole('searchbox', { name: 'Search projects' });
  await search.waitFor();
  expect(await page.getByRole('link', { name: /^Branch/ }).count()).toBe(MANY);
  await expectNoFindings(visited);
  await page.keyboard.press('ArrowDown');
  await search.and(page.locator(':focus')).fill('n7');
  expect(await page.getByRole('link', { name: /^Branch/ }).count()).toBe(1);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Project: Branch n7' }).waitFor();
  expect(page.url()).toMatch(/\/live$/);
});

test.each([
  ['sum', 'event_properties.price'],
  ['unique', 'event_properties.choice_key'],
  ['count by', 'day'],
])('of many names behind %s, completion shows the most likely first', async (words, first) => {
  const { page } = await shop.visit(askPath(`* | ${words} `));
  const query = page.getByRole('textbox', { name: 'Query' });
  // As far as the names of the project are read.
  await expect
    .poll(async () => {
      await query.press('Escape');
      await query.press('End');
      await query.press('Control+Space');
      return page.getByRole('listbox').getByRole('option').first().textContent();
    })
    .toContain(first);
});

test('an empty answer of a project without events leads to sending them, not to wider ranges', async () => {
  const { id } = await shop.newProject('New');
  const { page } = await shop.visit(askPath('* | last 7d | count'), { projectId: id });
  await page.getByRole('status').filter({ hasText: 'No events match' }).waitFor();
  const answer = page.getByRole('region', { name: 'Answer' });
  await answer.getByRole('link', { name: 'Send events' }).click();
  await page.getByRole('heading', { name: 'Send your first event' }).waitFor();
});

test('on a phone the edge of the screens is shaded where more follow', async () => {
  const { page } = await shop.visit('/ask', { browser: { viewport: { width: 390, height: 844 } } });
  const screens = page.getByRole('navigation').first();
  await screens.waitFor();
  /** Above the names, at the right edge. */
  const edge = async (): Promise<string> => {
    const { x = 0, y = 0, width = 0 } = (await screens.boundingBox()) ?? {};
    return (await page.screenshot({ clip: { x: x + width - 4, y: y + 2, width: 4, height: 3 } })).toString('base64');
  };
  const before = await edge();
  await screens.evaluate((element) =>
    (element as unknown as { scrollTo: (x: number, y: number) => void }).scrollTo(9999, 0),
  );
  await expect.poll(edge).not.toBe(before);
});

test('the links to alerts and reports stand at the same place on both pages, on a phone and on a desktop', async () => {
  const { page } = await shop.visit('/alerts');
  const link = page.getByRole('main').getByRole('link', { name: 'Reports', exact: true });
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 844 });
    await page.goto(shop.addressOf('/alerts'));
    await page.getByRole('heading', { name: 'No alerts yet' }).waitFor();
    const before = await link.boundingBox();
    await link.click();
    await page.getByRole('heading', { name: 'No reports yet' }).waitFor();
    expect(await link.boundingBox()).toEqual(before);
  }
});

test('a hidden tab has no live connection, and shows what came meanwhile when it is seen again', async () => {
  const { page } = await shop.openBrowser();
  await page.addInitScript(
    "Object.defineProperty(document, 'visibilityState', { get: () => (window.isHidden ? 'hidden' : 'visible') })",
  );
  await page.goto(shop.addressOf('/live'));
  const log = page.getByRole('log', { name: 'Accepted' });
  await page.getByRole('status').filter({ hasText: 'new ones within' }).waitFor();
  const setHidden = (isHidden: boolean) =>
    page.evaluate(`window.isHidden = ${isHidden}; document.dispatchEvent(new Event('visibilitychange'))`);
  const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/live'));
  await setHidden(true);
  await ended;
  await track(shop.url, shop.publicKey, { event_type: 'meanwhile', user_id: 'ada' });
  const connected = page.waitForRequest((request) => request.url().endsWith('/live'));
  await setHidden(false);
  await connected;
  await log.getByText('meanwhile', { exact: true }).waitFor();
  await page.context().close();
});

test('the reason of a rejected event has the rest of its line', async () => {
  const { page } = await shop.visit('/live', { browser: { viewport: { width: 1024, height: 800 } } });
  await track(shop.url, shop.publicKey, { events: [{ event_type: 'a', user_id: 'a', event_properties: 'no' }] });
  const reason = page.getByRole('region', { name: 'Rejected' }).getByText('properties not an object');
  await reason.waitFor();
  const [wide, row, time] = await Promise.all(
    [reason, reason.locator('..'), reason.locator('..').getByRole('time')].map((each) => each.boundingBox()),
  );
  expect((wide?.x ?? 0) + (wide?.width ?? 0)).toBeCloseTo((row?.x ?? 0) + (row?.width ?? 0), 0);
  // Nothing but a gap is between the time and the reason.
  expect((wide?.x ?? 0) - (time?.x ?? 0) - (time?.width ?? 0)).toBeLessThan(20);
});

test('what marks a dashboard is as high as its line beside one with a long title', async () => {
  const yaml = (title: string) => `version: 1\ntitle: ${title}\nsections: [{title: A, cards: []}]\n`;
  await createDashboard(shop, yaml('Short'), 'personal');
  await createDashboard(shop, yaml('A title that needs more than one line of its card in the list '.repeat(3)));
  const { page } = await shop.visit('/dashboards');
  const mark = await page.getByText('Only you', { exact: true }).first().boundingBox();
  const card = await page.getByRole('link', { name: 'Short' }).first().boundingBox();
  expect(card?.height).toBeGreaterThan(100);
  expect(mark?.height).toBeLessThan(24);
});

test('a button that is disabled looks the same under the pointer', async () => {
  const { page } = await shop.visit('/ask');
  const run = page.getByRole('button', { name: 'Run', exact: true });
  const colour = () =>
    page.evaluate<string>(`getComputedStyle([...document.querySelectorAll('button')]
      .find(({ textContent }) => textContent === 'Run')).backgroundColor`);
  await run.waitFor();
  const before = await colour();
  await run.hover({ force: true });
  expect(await run.isDisabled()).toBe(true);
  expect(await colour()).toBe(before);
  await page.getByRole('textbox', { name: 'Query' }).fill('*');
  await expect.poll(colour).not.toBe(before);
});
