// The console in a real browser, against the real processes: by role and name, under the shipped
// Content-Security-Policy.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { type ConsoleVisit, closeVisit } from '../support/console.js';
import { expectNoFindings } from '../support/console-axe.js';
import { expectReachByKeyboard } from '../support/console-keyboard.js';
import { type ConsoleShop, useConsoleShop } from '../support/console-shop.js';
import { signedInAs } from '../support/sign-in.js';
import { track } from '../support/track.js';

const DAY_MS = 86_400_000;

const shop = useConsoleShop({ email: 'console@example.com', fill: fillShop });

/** Forty people over twenty days: visits, sign-ups, purchases, an experiment. */
async function fillShop({ fill }: ConsoleShop): Promise<void> {
  const now = Date.now();
  const events = Array.from({ length: 40 }, (_, user) => {
    const start = now - (user % 20) * DAY_MS - 3_600_000;
    const at = (minutes: number): string => new Date(start + minutes * 60_000).toISOString();
    const own = { user_id: `user-${user}`, session_id: `session-${user}` };
    return [
      { ...own, event_type: 'page_view', time: at(0), event_properties: { plan: user % 3 === 0 ? 'pro' : 'free' } },
      ...(user % 2 === 0 ? [{ ...own, event_type: 'signup', time: at(5) }] : []),
      ...(user % 4 === 0 ? [{ ...own, event_type: 'purchase', time: at(20), event_properties: { price: user } }] : []),
      ...(user === 0 ? [{ ...own, event_type: 'only: here', time: at(1) }] : []),
      {
        ...own,
        event_type: 'service.exposure',
        time: at(1),
        event_properties: { choice_key: 'checkout', variant_key: user % 2 === 0 ? 'control' : 'new' },
      },
    ];
  }).flat();
  await fill(events);
}

const askPath = (q = ''): string => `/ask${q === '' ? '' : `#${new URLSearchParams({ q })}`}`;
const region = ({ page }: ConsoleVisit) => page.getByRole('region', { name: 'Answer' });
const editor = ({ page }: ConsoleVisit) => page.locator('.cm-content[aria-label="Query"]');

async function openEditor(q = ''): Promise<ConsoleVisit> {
  const visited = await shop.visit(askPath(q));
  await editor(visited).waitFor();
  return visited;
}

/** As a person pastes it. Throws when the command fails. */
const runInShell = async (command: string): Promise<void> =>
  void (await promisify(execFile)('/bin/sh', ['-c', command.replace(/^curl/, 'curl --fail --silent')]));

describe('a new project', () => {
  test('has a key and code, names what was rejected, and turns green with the first event', async () => {
    const project = await shop.newProject('New');
    const { page } = await shop.visit('/start', { projectId: project.id });
    await page.getByRole('heading', { name: 'Send your first event' }).waitFor();
    await page.getByRole('button', { name: 'Shell' }).click();
    await page
      .getByRole('code')
      .filter({ hasText: `-H "X-API-Key: ${project.publicKey}"` })
      .first()
      .waitFor();
    const status = page.getByRole('status');
    await status.filter({ hasText: 'Waiting for the first event' }).waitFor();
    expect(await page.getByRole('link', { name: 'Ask about your events' }).count()).toBe(0);
    await track(shop.url, project.publicKey, { events: [{ user_id: 'ada' }] });
    await status.filter({ hasText: /rejected: .*event.type/ }).waitFor();
    const command = page.getByRole('code').filter({ hasText: 'curl' }).first();
    await runInShell((await command.textContent()) ?? '');
    await status.filter({ hasText: 'First event received' }).waitFor();
    await page.getByRole('link', { name: 'Ask about your events' }).waitFor();
    expect(await page.content()).not.toContain(project.secretKey);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText(project.secretKey).waitFor();
  });
});

describe('a new person', () => {
  test('is led to the screen that sends the first event, and later to Ask', async () => {
    const { page } = await shop.visit('', { jar: await signedInAs(shop.url, 'new@example.com') });
    await page.goto(shop.url);
    await page.getByRole('heading', { name: 'Send your first event' }).waitFor();
    await page.goto(shop.url);
    await page.getByRole('textbox', { name: 'Query' }).waitFor();
  });
});

describe('the query', () => {
  test('is judged while it is typed, without a request, and repaired by a click', async () => {
    const visited = await openEditor();
    const { page, requests } = visited;
    await editor(visited).click();
    await page.waitForLoadState('networkidle');
    const before = requests.length;
    await page.keyboard.type('signup | last 7d | count by _contry ');
    await page.getByText('nearest is "_country"').waitFor();
    await page.getByRole('button', { name: 'Replace with _country' }).click();
    expect(await editor(visited).textContent()).toBe('signup | last 7d | count by _country ');
    await page.getByText('nearest is').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    expect(await editor(visited).textContent()).toBe('signup | last 7d | count by _contry ');
    expect(requests.slice(before).map((request) => request.url())).toEqual([]);
  });

  test('completes values of a field from the catalog', async () => {
    const visited = await openEditor();
    await visited.page.waitForLoadState('networkidle');
    await editor(visited).click();
    await visited.page.keyboard.type('signup | where event_properties.plan = "p');
    await visited.page.getByRole('option', { name: '"pro"' }).click();
    expect(await editor(visited).textContent()).toBe('signup | where event_properties.plan = "pro"');
  });

  test('completes an event of this project only; Escape closes, Tab leaves', async () => {
    const visited = await openEditor();
    const { page } = visited;
    await page.waitForLoadState('networkidle');
    await editor(visited).click();
    await page.keyboard.type('onl');
    const option = page.getByRole('listbox').getByRole('option', { name: 'only: here' });
    await option.waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('listbox').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Space');
    await option.waitFor();
    await page.waitForTimeout(100);
    await page.keyboard.press('Enter');
    expect(await editor(visited).textContent()).toBe('"only: here"');
    await page.keyboard.press('Tab');
    await page.locator('button:focus').waitFor();
  });

  test('is run by key and stays in the address, which no request contains', async () => {
    const visited = await openEditor();
    const { page, requests } = visited;
    const q = '* | last 30d | count by event_type';
    await editor(visited).click();
    await page.keyboard.insertText(q);
    await page.keyboard.press('Control+Enter');
    const { total } = await shop.ask(q);
    await region(visited).getByText(`${total} rows`).waitFor();
    expect(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('q')).toBe(q);
    await page.reload();
    await region(visited).getByText(`${total} rows`).waitFor();
    await region(visited).getByRole('cell', { name: 'only: here' }).waitFor();
    for (const request of requests) {
      const sent = `${request.url()} ${JSON.stringify(await request.allHeaders())}`;
      expect(sent).not.toMatch(/last(?:\+|%20| )30d/);
    }
  });

  test('survives a sign-in behind the address', async () => {
    const visited = await shop.visit(askPath('signup | last 30d | count'), { jar: null });
    const { page } = visited;
    expect(new URL(page.url()).pathname).toBe('/login');
    await visited.context.addCookies([
      { name: 'service_session', value: shop.owner.get('service_session') ?? '', url: shop.url },
    ]);
    await page.goto(shop.addressOf(askPath()));
    await region(visited).getByText('20', { exact: true }).waitFor();
    expect(visited.requests.filter((request) => request.url().includes('signup'))).toEqual([]);
  });

  test('starts with a question in words, and is found again in the history', async () => {
    const visited = await openEditor();
    const { page } = visited;
    await page.getByRole('button', { name: /What happens most often/ }).click();
    await region(visited).getByRole('cell', { name: 'page_view' }).waitFor();
    await page.getByRole('button', { name: 'History' }).click();
    await page.getByRole('button', { name: '* | last 30d | count by event_type | top 20' }).waitFor();
  });
});

describe('an answer', () => {
  let shared: ConsoleVisit | undefined;
  /** One page for all modes: it changes what is behind `#` only. */
  async function sharedVisit(path: string): Promise<ConsoleVisit> {
    shared ??= await shop.openBrowser();
    await shared.page.goto(shop.addressOf(path));
    return shared;
  }

  afterAll(async () => {
    if (shared) await closeVisit(shared);
    expect(shared?.complaints).toEqual([]);
  });

  test.each<[q: string, role: 'img' | 'table' | 'list' | 'region', name: RegExp]>([
    ['* | last 20d | count by day', 'img', /count, 21 values from/],
    ['* | last 5d | count by day', 'img', /count, 6 values from/],
    ['* | last 20d | count by day, event_type', 'img', /count/],
    ['* | last 20d | count by day | compare previous', 'img', /count, 21 values from/],
    ['formula count(purchase) / count(signup) | by day | last 20d', 'img', /value/],
    ['sessions | by day | last 20d', 'img', /count, 21 values from/],
    ['funnel page_view -> signup -> purchase | last 30d', 'list', /10 of 40 people reached the last step, 25.0/],
    [
      'retention page_view by week | last 4w',
      'table',
      /Share of each cohort.*; \d+(?:\.\d)?.% of \d+ people returned in week 1/,
    ],
    ['funnel page_view -> signup by day | last 20d', 'img', /Share that reached signup/],
    ['paths from page_view | last 30d', 'img', /Paths of 40 people/],
    ['lifecycle * by week | last 4w', 'img', /users/],
    ['stickiness *', 'img', /users/],
    ['sessions | last 30d', 'img', /Sessions by day: 40/],
    ['choice checkout | results purchase', 'table', /Too early to say/],
    ['user "user-0"', 'region', /\d+ events, the newest on /],
    ['inspect * | last 30d', 'table', /\d+ rows of event_type, .*; the first is page_view, /],
    ['fields', 'table', /\d+ rows of field, .*; the first is /],
  ])('%s is drawn, and its table has the rows of the API', async (q, role, name) => {
    const visited = await sharedVisit(askPath(q));
    const { total, rows } = await shop.ask(q);
    await region(visited)
      .getByText(new RegExp(`^${total} rows?$`))
      .waitFor();
    await region(visited).getByRole(role, { name }).first().waitFor();
    const table = region(visited).getByRole('button', { name: 'Table' });
    if ((await table.count()) > 0) await table.click();
    const cells = region(visited).getByRole('table');
    expect(await cells.getAttribute('aria-rowcount')).toBe(String(rows.length + 1));
  });

  test('has the annotations of the project as numbered lines, with a list of their texts', async () => {
    const store = async (source_yaml: string): Promise<number> => {
      const headers = { 'Content-Type': 'application/json', 'X-API-Key': shop.secretKey };
      const body = JSON.stringify({ source_yaml });
      return (await fetch(`${shop.url}/api/definitions`, { method: 'PUT', headers, body })).status;
    };
    const at = new Date(Date.now() - 3 * DAY_MS).toISOString().slice(0, 10);
    expect(await store(`version: 1\nannotations: [{ at: ${at}, text: Release 2.0 }]\n`)).toBe(201);
    for (const q of ['* | last 20d | count by day', '* | last 5d | count by day']) {
      const visited = await shop.visit(askPath(q));
      await region(visited)
        .getByRole('list', { name: 'Annotations' })
        .getByText(/^\d+ \w+ \d+: Release 2\.0$/)
        .waitFor();
      expect(await region(visited).locator('svg g[transform$=" 0)"] > text').allTextContents()).toEqual(['1']);
      await expectNoFindings(visited);
    }
    expect(await store('version: 1\n')).toBe(200);
  });

  test('marks what is not complete, in the zone of the project', async () => {
    const visited = await shop.visit(askPath('* | last 7d | count by day'));
    await region(visited).getByText('so far.').waitFor();
    await region(visited).getByText('Asia/Tehran').waitFor();
    const whole = await shop.visit(askPath('* | yesterday | count by hour'));
    await region(whole).getByText('24 rows').waitFor();
    await region(whole).getByRole('img').waitFor();
    expect(
      await region(whole)
        .getByText(/so far|Dashed/)
        .count(),
    ).toBe(0);
  });

  test('hatches the periods of a retention that are not over', async () => {
    const visited = await shop.visit(askPath('retention page_view by week | last 2w'));
    const running = region(visited).locator('td[title*="so far"]');
    await running.first().waitFor();
    const cells = await region(visited).locator('tbody td[title]').count();
    expect(await running.count()).toBeGreaterThan(0);
    expect(await running.count()).toBeLessThan(cells);
  });

  test('to a wrong query names each problem once, below the text', async () => {
    const visited = await shop.visit(askPath('signup | count by _contry'));
    const { page } = visited;
    await region(visited).getByRole('alert').filter({ hasText: 'listed below its text' }).waitFor();
    await page.getByText('nearest is "_country"').waitFor();
    expect(await page.getByText('_contry', { exact: false }).filter({ hasText: 'unknown' }).count()).toBe(1);
  });

  test('that is empty says so, and offers a wider range', async () => {
    const visited = await shop.visit(askPath('nothing_like_this # a comment\n| last 2h | count by day'));
    await region(visited).getByRole('status').filter({ hasText: 'No events match' }).waitFor();
    await region(visited).getByRole('button', { name: 'Widen to 30 days' }).click();
    await region(visited).getByRole('button', { name: 'Widen to 90 days' }).waitFor();
    expect(new URLSearchParams(new URL(visited.page.url()).hash.slice(1)).get('q')).toBe(
      'nothing_like_this # a comment\n| last 30d | count by day',
    );
  });

  test.each([
    [504, 'the query took longer than 30 s', {}],
    [503, 'queries are switched off', {}],
    [429, 'too many queries', { 'Retry-After': '60' }],
    [0, 'cannot be reached', {}],
  ])('that failed with %s is an alert with its cause, and never "No events"', async (status, cause, headers) => {
    const visited = await shop.visit(askPath());
    const { page } = visited;
    await page.route('**/query', (route) =>
      status === 0
        ? route.abort()
        : route.fulfill({ status, headers, contentType: 'application/json', body: JSON.stringify({ error: cause }) }),
    );
    await page.goto(shop.addressOf(askPath('signup | count')));
    const alert = region(visited).getByRole('alert');
    await alert.filter({ hasText: cause }).waitFor();
    await alert.getByRole('button', { name: status === 429 ? /Retry in \d+ s/ : 'Retry' }).waitFor();
    expect(await page.getByText('No events').count()).toBe(0);
    if (status === 0) visited.complaints.length = 0;
  });

  test('that takes long can be cancelled, which aborts the request', async () => {
    const visited = await shop.visit(askPath());
    const { page } = visited;
    await page.waitForLoadState('networkidle');
    const { pid } = shop.processes.get('query');
    process.kill(pid, 'SIGSTOP');
    try {
      await page.goto(shop.addressOf(askPath('signup | last 30d | count')));
      const aborted = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/query'));
      await page.getByRole('button', { name: 'Cancel' }).click();
      expect((await aborted).failure()?.errorText).toContain('ABORTED');
      await region(visited).getByRole('status').filter({ hasText: 'Cancelled' }).waitFor();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await page.getByRole('button', { name: 'Run' }).click();
    await region(visited).getByText('20', { exact: true }).waitFor();
  });
});

describe('the frame', () => {
  test('is used by keyboard', async () => {
    const { page } = await openEditor();
    await page.locator('h1').first().waitFor({ state: 'attached' });
    await page.keyboard.press('/');
    await page.locator('.cm-focused').waitFor();
    await page.keyboard.press('Escape');
    await page
      .getByRole('button', { name: 'Run' })
      .focus()
      .catch(() => undefined);
    await page.getByRole('button', { name: 'History' }).focus();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { name: 'Send events' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('ask');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/ask');
  });

  test('of an unknown project or screen leads back', async () => {
    for (const [path, projectId] of [
      ['/ask', '00000000-0000-7000-8000-000000000000'],
      ['/nothing', shop.id],
    ] as const) {
      const { page } = await shop.visit(path, { projectId });
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    }
  });

  test('keeps its menus inside of a narrow page', async () => {
    const { page } = await shop.visit(askPath('* | last 20d | count'), {
      browser: { viewport: { width: 360, height: 800 } },
    });
    for (const name of ['History', 'Share', 'Add to dashboard', 'Time range: last 20d']) {
      const button = page.getByRole('button', { name });
      await button.click();
      const panel = page.locator(`id=${await button.getAttribute('aria-controls')}`);
      const { x, width } = (await panel.boundingBox()) ?? { x: -1, width: 0 };
      expect([name, x >= 0, x + width <= 360]).toEqual([name, true, true]);
      await page.keyboard.press('Escape');
    }
  });

  test('has no finding of axe and no sideways scroll, on a phone and on a desktop, light and dark', async () => {
    const visited = await shop.visit('/start');
    const { page } = visited;
    await page.getByRole('status').filter({ hasText: 'Events are arriving' }).waitFor();
    await expectNoFindings(visited);
    await expectReachByKeyboard(visited);
    for (const q of [
      '',
      '* | last 20d | count by day, event_type',
      'funnel page_view -> signup | last 30d',
      'retention page_view by week | last 4w',
      'choice checkout | results purchase',
      '* | last 30d | count by event_type',
      'nothing_like_this | count',
      'signup | count by _contry',
    ]) {
      await page.goto(shop.addressOf(askPath(q)));
      await editor(visited).waitFor();
      if (q !== '') await region(visited).locator('svg, table, ol, [role=alert]').first().waitFor();
      await expectNoFindings(visited);
      await expectReachByKeyboard(visited);
    }
  });
});
