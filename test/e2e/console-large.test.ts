// What grows long in the console: lists of tokens, alerts and members that are searched, a palette
// that says when it shows the first, a dashboard that is printed before all of it was seen, a text
// with many marks, a person with long properties on paper, and an upload that decompresses to much
// more. An empty answer says why it cannot be widened.
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { expectNoFindings } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';
import { createDashboard } from '../support/create-dashboard.js';
import { track } from '../support/track.js';

const MANY = 13;
const MEBIBYTE = 1024 * 1024;

const shop = useConsoleShop({
  email: 'large@example.com',
  env: () => ({ IMPORT_UPLOAD_BYTES_MAX: String(MEBIBYTE) }),
  fill: ({ fill }) =>
    fill([
      ...[30, 20, -15].map((total, index) => ({
        ...{ event_type: 'booked', user_id: `user-${index}` },
        event_properties: { account: `account ${index}`, total },
      })),
      { event_type: 'purchase', user_id: 'user-1' },
    ]),
});

const cardsOf = (count: number): string =>
  Array.from(
    { length: count },
    (_, n) =>
      `      - {id: c${n}, title: Card ${n}, kind: metric, viz: number, query: 'purchase | last ${n + 1}d | count'}\n`,
  ).join('');
const boardOf = (title: string, cards: string): string =>
  `version: 1\ntitle: ${title}\nsections:\n  - title: Numbers\n    cards:\n${cards}`;

test('many alerts and many tokens are searched', async () => {
  const alerts = Array.from(
    { length: MANY },
    (_, n) => `  - {id: alert-${n}, query: '* | count', when: value < 0, every: 1d, to: ['https://a.example']}\n`,
  );
  const reports = Array.from(
    { length: MANY },
    (_, n) => `  - {id: report-${n}, at: 'monday 0${n % 10}:00', to: ['https://a.example']}\n`,
  );
  const told = boardOf('Told', cardsOf(1));
  // At most ten reports in one document.
  await createDashboard(shop, `${told}alerts:\n${alerts.join('')}reports:\n${reports.slice(0, 6).join('')}`);
  await createDashboard(shop, `${told}reports:\n${reports.slice(6).join('')}`);
  const visited = await shop.visit('/alerts');
  const { page } = visited;
  for (const [path, name, kind] of [
    ['/alerts', 'Search alerts', 'alert'],
    ['/alerts/reports', 'Search reports', 'report'],
  ] as const) {
    await page.goto(shop.addressOf(path));
    await page.getByRole('heading', { name: `${kind}-3` }).waitFor();
    await page.getByRole('searchbox', { name }).fill(`told ${kind}-12`);
    await page.getByRole('heading', { name: `${kind}-3` }).waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: `${kind}-12` }).waitFor();
    await expectNoFindings(visited);
  }

  await page.goto(shop.addressOf('/settings/tokens'));
  const create = page.getByRole('button', { name: 'Create token' });
  for (let n = 0; n < MANY; n += 1) {
    await page.getByRole('textbox', { name: 'Name' }).fill(`token-${n}`);
    await create.click();
    await page.getByRole('rowheader', { name: `token-${n}` }).waitFor();
  }
  await page.getByRole('searchbox', { name: 'Search tokens' }).fill('SERVICE token-12');
  await page.getByRole('rowheader', { name: 'token-3' }).waitFor({ state: 'detached' });
  await page.getByRole('rowheader', { name: 'token-12' }).waitFor();
  await expectNoFindings(visited);
});

test('the form that invites is above the members, however many there are', async () => {
  const { page } = await shop.visit('/settings/members');
  const invite = await page.getByRole('button', { name: 'Invite' }).boundingBox();
  const members = await page.getByRole('list', { name: 'Members' }).boundingBox();
  expect(Number(invite?.y)).toBeLessThan(Number(members?.y));
  await page.getByText('No invitation is open.').waitFor();
});

test('the palette says when it shows only the first of what it found', async () => {
  for (let n = 0; n < MANY; n += 1) await createDashboard(shop, boardOf(`Region ${n}`, cardsOf(1)));
  const { page } = await shop.visit('/live');
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Go to' });
  await field.fill('region');
  await page
    .getByRole('status')
    .filter({ hasText: /The first 12 of \d\d\./ })
    .waitFor();
  await field.fill('region 12');
  await page.getByRole('option', { name: 'Region 12' }).waitFor();
  expect(await page.getByText('The first 12').count()).toBe(0);
});

test('a dashboard is printed with all of its cards, also those that were never seen', async () => {
  const path = `/dashboards/${await createDashboard(shop, boardOf('Long', cardsOf(40)))}`;
  const { page } = await shop.visit('/dashboards');
  await page.addInitScript(`window.print = () => {
    window.printed = [...document.querySelectorAll('main section section')].map((card) => card.textContent);
  };`);
  await page.goto(shop.addressOf(path));
  await page.getByRole('region', { name: 'Card 0' }).getByText('1', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Print' }).click();
  await expect.poll(() => page.evaluate('window.printed?.length')).toBe(40);
  expect(await page.evaluate('window.printed')).toEqual(Array.from({ length: 40 }, (_, n) => `Card ${n}count1`));
});

test('numbers below zero are not drawn as parts of a whole', async () => {
  const query = 'booked | last 30d | sum event_properties.total by event_properties.account';
  const card = (id: string, q: string): string =>
    `      - {id: ${id}, title: ${id}, kind: chart, viz: pie, query: '${q}'}\n`;
  const source = boardOf('Balances', card('all', query) + card('positive', `${query} | where total > 0`));
  const { page } = await shop.visit(`/dashboards/${await createDashboard(shop, source)}`);
  await page
    .getByRole('region', { name: 'positive' })
    .getByText(/60\.0.%/)
    .waitFor();
  const all = page.getByRole('region', { name: 'all' });
  await all
    .getByRole('cell', { name: '-15' })
    .or(all.getByRole('cell', { name: '−15' }))
    .waitFor();
  expect(await all.getByText('%').count()).toBe(0);
});

test('queries of a card by different times are drawn apart', async () => {
  const card =
    "      - id: both\n        title: Both\n        kind: chart\n        viz: line\n        queries:\n          - {name: days, query: 'purchase | last 3d | count by day'}\n          - {name: hours, query: 'purchase | last 3d | count by hour'}\n";
  const { page } = await shop.visit(`/dashboards/${await createDashboard(shop, boardOf('Times', card))}`);
  await page.getByRole('region', { name: 'hours' }).getByRole('img').waitFor();
  await page.getByRole('region', { name: 'days' }).getByRole('img').waitFor();
});

test('an import of a small file that decompresses to a large one is read up to the limit, and says so', async () => {
  const visited = await shop.visit('/settings/import');
  const { page } = visited;
  const line = Buffer.from('203.0.113.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "Mozilla/5.0"\n');
  const buffer = gzipSync(Buffer.concat([line, Buffer.alloc(51 * MEBIBYTE)]));
  await page.getByLabel('From').selectOption('access-log');
  await page.getByLabel('Files').setInputFiles({ name: 'access.log.gz', mimeType: 'application/gzip', buffer });
  await page.getByRole('button', { name: 'Check the files' }).click();
  await page.getByRole('region', { name: 'Checked: nothing has been stored yet' }).waitFor();
  await page.getByText('the files of an upload may have 52428800 bytes after decompression').waitFor();
  await page.getByRole('button', { name: 'Import 1 event' }).waitFor();
  await expectNoFindings(visited);
});

test('a text with thousands of marks is drawn to its end', async () => {
  const card =
    "      - {id: notes, title: Notes, kind: markdown, viz: markdown, markdown: '*a* **b** MANY*the end*'}\n";
  const id = await createDashboard(shop, boardOf('Notes', card.replace('MANY', '*a* '.repeat(4900))));
  const { page } = await shop.visit(`/dashboards/${id}`);
  const notes = page.getByRole('region', { name: 'Notes' });
  await notes.getByText('the end', { exact: true }).waitFor();
  expect(await notes.getByRole('strong').allTextContents()).toEqual(['b']);
  expect(await notes.getByRole('emphasis').count()).toBe(4902);
});

test('an empty answer says that the file which widens its range cannot be loaded', async () => {
  const visited = await shop.openBrowser();
  const { page } = visited;
  await page.route('**/language-*.js', (route) => route.abort());
  await page.goto(shop.addressOf(`/ask#${new URLSearchParams({ q: 'not_sent | last 2h | count' })}`));
  const answer = page.getByRole('region', { name: 'Answer' });
  await answer.getByRole('button', { name: 'Widen to 30 days' }).click();
  await answer.getByRole('alert').filter({ hasText: 'A file of the console could not be loaded' }).waitFor();
  await expectNoFindings(visited);
  await page.context().close();
});

test('an answer and a person are printed on white, whole, and without what is pressed', async () => {
  const note = 'and so on, '.repeat(40);
  await track(shop.url, shop.publicKey, {
    events: [{ event_type: 'noted', user_id: 'paper', event_properties: { note } }],
  });
  const { page } = await shop.visit(`/ask#${new URLSearchParams({ q: 'booked | last 7d | count by day' })}`);
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await button('Chart').waitFor();
  await page.emulateMedia({ media: 'print' });
  for (const name of ['Run', 'History', 'Chart', 'Time range: last 7d'])
    expect(await button(name).isVisible()).toBe(false);
  expect(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');

  await page.goto(shop.addressOf('/people#id=paper'));
  const details = page.getByText(`note: ${note.trim()}`);
  await details.waitFor();
  expect(
    await details.evaluate((of: { scrollWidth: number; clientWidth: number }) => of.scrollWidth - of.clientWidth),
  ).toBe(0);
  for (const name of ['Erase', 'Export all events']) expect(await button(name).isVisible()).toBe(false);
});
