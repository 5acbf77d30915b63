// Experiments and Data of the console in a real browser: what they show is what the API answers.
import { describe, expect, test } from 'vitest';
import { createRedis } from '../../src/platform/redis/client.js';
import type { ConsoleVisit } from '../support/console.js';
import { expectNoFindings, expectNoSidewaysScroll } from '../support/console-axe.js';
import { expectReachByKeyboard } from '../support/console-keyboard.js';
import { type ConsoleShop, useConsoleShop } from '../support/console-shop.js';
import { eventually } from '../support/eventually.js';
import { startNight } from '../support/keeping.js';
import { track } from '../support/track.js';

const DAY_MS = 86_400_000;
/** A key with signs that a path encodes. */
const ODD = 'a/b 50%?ü#';
/** A text that looks like a list of the language. */
const LIST = '["a","b"]';

const shop = useConsoleShop({ email: 'experiments@example.com', fill: fillShop });

function fillShop({ fill }: ConsoleShop): Promise<void> {
  return fill([
    ...experiment('button', { control: [150, 45, 3], green: [150, 90, 4] }),
    ...experiment('uneven', { control: [300, 60, 0], other: [120, 24, 0] }),
    ...experiment('same', { control: [120, 40, 0], other: [120, 41, 0] }),
    ...experiment(ODD, { control: [4, 1, 0], other: [5, 1, 0] }),
    {
      ...{ event_type: 'users', user_id: 'ada', time: new Date(Date.now() - DAY_MS).toISOString() },
      event_properties: { tags: LIST },
    },
  ]);
}

type Counts = readonly [people: number, purchases: number, errors: number];

/** People of each variant, exposed eight days ago; some of them buy, some meet an error. */
function experiment(key: string, variants: Readonly<Record<string, Counts>>): object[] {
  const at = (hours: number): string => new Date(Date.now() - 8 * DAY_MS + hours * 3_600_000).toISOString();
  return Object.entries(variants).flatMap(([variant, [people, purchases, errors]]) =>
    Array.from({ length: people }, (_, person) => {
      const own = { user_id: `${key}-${variant}-${person}` };
      return [
        {
          ...own,
          event_type: 'service.exposure',
          time: at(0),
          event_properties: { choice_key: key, variant_key: variant },
        },
        ...(person < purchases
          ? [{ ...own, event_type: 'purchase', time: at(1), event_properties: { price: 7 } }]
          : []),
        ...(person < errors ? [{ ...own, event_type: 'error', time: at(2) }] : []),
      ];
    }).flat(),
  );
}

const verdict = ({ page }: ConsoleVisit) => page.getByRole('region', { name: 'Result' }).locator('p').first();

describe('experiments', () => {
  test('are listed with their variants, and open by their key', async () => {
    const { page } = await shop.visit('/experiments');
    const list = page.getByRole('list', { name: 'Experiments' });
    await list.getByRole('link', { name: 'button' }).waitFor();
    const card = list.getByRole('article').filter({ has: page.getByRole('link', { name: 'uneven' }) });
    expect(await card.getByText('420 people').count()).toBe(1);
    expect(await card.getByRole('list', { name: 'Variants' }).getByRole('listitem').allTextContents()).toEqual([
      'control30071.4\u202f%',
      'other12028.6\u202f%',
    ]);
    expect(await card.getByRole('img', { name: 'Exposures of uneven by day, 1 day' }).count()).toBe(1);
    await list.getByRole('link', { name: ODD }).click();
    await page.getByRole('heading', { name: ODD, level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: ODD, level: 1 }).waitFor();
    await page.getByText('Too early to say').first().waitFor();
  });

  test('say the verdict first, with the numbers of the API, and the goal that was guessed', async () => {
    const visited = await shop.visit('/experiments/button');
    const { page } = visited;
    await verdict(visited).filter({ hasText: '“green” is better than “control”' }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Goal' }).inputValue()).toBe('purchase');
    const { rows } = await shop.ask('choice button | results purchase | last 30d');
    const table = page.getByRole('table', { name: /is better than/ });
    for (const row of rows) {
      const cells = table.getByRole('row').filter({ hasText: String(row.variant_key) });
      expect(await cells.getByRole('cell').first().textContent()).toBe(`${row.conversions} of ${row.exposures}`);
    }
    const axis = page.getByRole('table', { name: 'Differences from the control' }).locator('svg text');
    expect((await axis.allTextContents())[1]).toBe('0 points');
    const query = page.getByRole('region', { name: 'Query' });
    expect(await query.getByRole('code').textContent()).toBe('choice button | results purchase | last 30d | plan 10%');
    await query.getByRole('link', { name: 'Open in Ask' }).click();
    await page.getByRole('region', { name: 'Answer' }).getByText('“green” is better').waitFor();
  });

  test('compare what is chosen, and keep it in the address', async () => {
    const visited = await shop.visit('/experiments/button#goal=purchase');
    const { page } = visited;
    await verdict(visited).waitFor();
    await page.getByRole('combobox', { name: 'Guards' }).selectOption('error');
    const guards = page.getByRole('table', { name: 'Guards' });
    await guards.getByRole('row').filter({ hasText: 'error' }).getByText('No difference proven').waitFor();
    await page.getByRole('combobox', { name: 'Measure' }).selectOption({ label: 'Sum per person of' });
    await page.getByText('choice button | results sum(purchase, price) | last 30d | guard error | plan 10%').waitFor();
    await page.getByRole('columnheader', { name: 'Mean' }).waitFor();
    await page.reload();
    expect(await page.getByRole('combobox', { name: 'Property' }).inputValue()).toBe('price');
    await page.getByRole('button', { name: 'Remove the guard error' }).click();
    await guards.waitFor({ state: 'detached' });
    await page.goto(shop.addressOf('/experiments/button#goal=purchase&measure=sum'));
    await page.reload();
    await page.getByRole('status').filter({ hasText: 'Choose a property with numbers' }).waitFor();
  });

  test('whose split is wrong say so above all else', async () => {
    const visited = await shop.visit('/experiments/uneven#goal=purchase');
    const { page } = visited;
    await page.getByRole('alert').filter({ hasText: 'The result is not valid' }).waitFor();
    await page.getByText('Not as the weights say').waitFor();
  });

  test('without a difference do not claim one', async () => {
    const visited = await shop.visit('/experiments/same#goal=purchase');
    const { page } = visited;
    await verdict(visited).filter({ hasText: 'No difference is proven: “other” is between -' }).waitFor();
    const { plan } = await shop.ask('choice same | results purchase | last 30d | plan 20%');
    await page.getByRole('combobox', { name: 'Lift to find' }).selectOption('20%');
    const { units_left: left } = plan as { units_left: number };
    expect(left).toBeGreaterThan(0);
    await page.getByText(`${left.toLocaleString('en')} more people are needed, about`).waitFor();
  });

  test('that no one was exposed to say what to try', async () => {
    const { page } = await shop.visit('/experiments/missing#goal=purchase');
    await page.getByRole('status').filter({ hasText: 'No exposure of “missing”' }).waitFor();
  });
});

describe('data', () => {
  test('lists the events with the figures of the API, and finds them by name', async () => {
    const { page } = await shop.visit('/data');
    const events = page.getByRole('region', { name: 'Events' });
    await events.getByRole('link', { name: 'purchase' }).waitFor();
    const { rows } = await shop.ask('inspect * | last 30d');
    for (const row of rows) {
      const cells = events.getByRole('row').filter({ has: page.getByRole('link', { name: String(row.event_type) }) });
      expect(await cells.getByRole('cell').nth(1).getAttribute('title')).toBe(Number(row.users).toLocaleString('en'));
    }
    await page.getByRole('searchbox', { name: 'Search' }).fill('PURCH');
    await events.getByRole('status').filter({ hasText: '1 of' }).waitFor();
    expect(await events.getByRole('row').count()).toBe(2);
    await page.getByRole('searchbox', { name: 'Search' }).fill('nothing like this');
    await events.getByRole('status').filter({ hasText: 'No name matches' }).waitFor();
  });

  test('shows the properties of an event with coverage and samples, which become questions', async () => {
    const { page } = await shop.visit('/data');
    await page.getByRole('link', { name: 'purchase' }).click();
    const properties = page.getByRole('region', { name: 'Properties of purchase' });
    const [row] = (await shop.ask('inspect purchase | last 30d')).rows;
    const item = properties.getByRole('listitem').filter({ hasText: 'price' });
    await item.getByText(`number · Values: ${row?.distinct}`).waitFor();
    expect(await item.getByText('100.0').count()).toBe(1);
    await page.getByRole('region', { name: 'purchase', exact: true }).getByRole('img').waitFor();
    await item.getByRole('link', { name: '7', exact: true }).click();
    await page.getByRole('region', { name: 'Answer' }).getByRole('img').waitFor();
    expect(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('q')).toBe(
      'purchase | last 30d | where event_properties.price = 7 | count by day',
    );
  });

  test('asks for a text that looks like a list as it is', async () => {
    const { page } = await shop.visit('/data#part=events&name=users');
    const answer = page.getByRole('region', { name: 'Answer' }).getByRole('img', { name: /31 values from 0 to 1,/ });
    await page.getByRole('link', { name: LIST, exact: true }).click();
    await answer.waitFor();
    await page.goto(shop.addressOf('/data#part=properties&name=event_properties.tags'));
    await page.getByRole('region', { name: 'event_properties.tags' }).getByRole('button', { name: LIST }).click();
    await answer.waitFor();
  });

  test('asks about an event that has the name of a source', async () => {
    const { page } = await shop.visit('/data#part=events&name=users');
    await page.getByRole('region', { name: 'users', exact: true }).getByRole('link', { name: 'Ask about it' }).click();
    await page
      .getByRole('region', { name: 'Answer' })
      .getByRole('img', { name: /count, 31 values/ })
      .waitFor();
  });

  test('shows the most frequent values of a property', async () => {
    const { page } = await shop.visit('/data#part=properties');
    const table = page.getByRole('region', { name: 'Properties' });
    await table.getByRole('link', { name: 'event_properties.choice_key' }).click();
    const values = page.getByRole('region', { name: 'event_properties.choice_key' });
    const { rows } = await shop.ask(
      '* | last 30d | where event_properties.choice_key exists | count by event_properties.choice_key',
    );
    await values.getByRole('cell', { name: String(rows[0]?.['event_properties.choice_key']), exact: true }).waitFor();
    expect(await values.getByRole('table').getAttribute('aria-rowcount')).toBe(String(rows.length + 1));
    await values.getByRole('button', { name: 'uneven' }).click();
    await page.getByRole('region', { name: 'Answer' }).getByRole('img').waitFor();
  });

  test('shows rejected events with the reason, what to change, and samples', async () => {
    const { page } = await shop.visit('/data#part=rejected');
    await page.getByRole('status').filter({ hasText: 'Nothing was rejected' }).waitFor();
    await track(shop.url, shop.publicKey, { events: [{ user_id: 'nameless', timestamp: 1 }, 7] });
    await page.getByRole('list', { name: 'Newest samples' }).getByText('nameless').waitFor();
    const reasons = page.getByRole('list', { name: 'Reason' });
    await reasons.getByText('Each event has an event_type').waitFor();
    await reasons.getByRole('img', { name: 'event_type missing by day: 1 in 30 days' }).waitFor();
    await page.getByRole('list', { name: 'Ignored fields' }).getByText('Send it as time.').waitFor();
  });

  test('that fails says so, as Experiments does, and one Retry asks for all again', async () => {
    const { page } = await shop.visit('/data');
    await page.getByRole('region', { name: 'Events' }).waitFor();
    let isDown = true;
    await page.route(/\/(catalog|query)$/, (route) =>
      isDown ? route.fulfill({ status: 503, json: { error: 'the events cannot be read' } }) : route.fallback(),
    );
    for (const [path, shown] of [
      ['/data', page.getByRole('region', { name: 'Events' })],
      ['/experiments', page.getByRole('list', { name: 'Experiments' })],
    ] as const) {
      isDown = true;
      await page.goto('about:blank');
      await page.goto(shop.addressOf(path));
      await page.getByRole('alert').filter({ hasText: 'the events cannot be read' }).waitFor();
      // Each of these screens asks two things at once.
      await page.waitForLoadState('networkidle');
      isDown = false;
      await page.getByRole('button', { name: 'Retry' }).click();
      await shown.waitFor();
    }
  });
});

test('drop rules are listed with what they have dropped, by day, and how long events are kept', async () => {
  const source =
    "version: 1\ndrop:\n  - { event: debug, about: 'of developers' }\nbots: drop\nkeep: { default: 400d }\n";
  const stored = await fetch(`${shop.url}/api/definitions`, {
    method: 'PUT',
    headers: { 'X-API-Key': shop.secretKey },
    body: JSON.stringify({ source_yaml: source }),
  });
  expect(stored.status).toBe(201);
  // The processes know a new rule within a second, and write counts once a second.
  await eventually(async () => {
    const { body } = await track(shop.url, shop.secretKey, { events: [{ event_type: 'debug' }] });
    expect(body).toMatchObject({ accepted: 0, dropped: 1 });
  });
  await eventually(async () => {
    const answer = await fetch(`${shop.url}/api/definitions/dropped`, { headers: { 'X-API-Key': shop.secretKey } });
    expect(await answer.json()).toMatchObject({ rules: [{ event: 'debug', events: 1 }] });
  });
  const old = [700, 800].map((days) => ({
    ...{ event_type: 'old_view', user_id: 'old' },
    time: new Date(Date.now() - days * DAY_MS).toISOString(),
  }));
  expect((await track(shop.url, shop.secretKey, { events: old })).body).toEqual({ accepted: 2 });
  await eventually(async () => {
    expect((await shop.ask('old_view | since 2000-01-01 | count')).rows[0]?.count).toBe(2);
  });
  const visited = await shop.visit('/definitions', {
    browser: { permissions: ['clipboard-read', 'clipboard-write'], viewport: { width: 360, height: 800 } },
  });
  const { page } = visited;
  // It says so for two seconds, and nothing beside it moves.
  const besides = page.getByRole('button', { name: 'Versions' });
  const place = await besides.boundingBox();
  const copied = page
    .getByRole('button', { name: 'Copied' })
    .waitFor()
    .then(() => besides.boundingBox());
  await page.getByRole('button', { name: 'Copy YAML' }).click();
  expect(await copied).toEqual(place);
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(source);
  await page.getByRole('button', { name: 'Copy YAML' }).waitFor();
  const rules = page.getByRole('list', { name: 'Dropped events' });
  await rules.getByRole('img', { name: 'event: debug by day: 1 in 30 days' }).waitFor();
  await rules.getByText('of developers').waitFor();
  await rules.getByRole('listitem').filter({ hasText: 'Bots' }).getByText('Dropped', { exact: true }).waitFor();
  const kept = page.getByRole('list', { name: 'Kept events' });
  await kept.getByRole('heading', { name: 'All events' }).waitFor();
  await kept.getByText('kept for 400 days').waitFor();
  await kept.getByText('2 to delete').waitFor();

  const { project_id: projectId } = await shop.postgres('definitions').first('project_id');
  const redis = createRedis(shop.config);
  await startNight({ postgres: shop.postgres, redis }, projectId);
  redis.disconnect();
  await eventually(async () => {
    const { deleted_at: deletedAt } = await shop.postgres('keep_receipts').first('deleted_at');
    expect(deletedAt).not.toBeNull();
  }, 120_000);
  await page.reload();
  await kept.getByText('0 to delete').waitFor();
  const night = page.getByRole('region', { name: 'Deleted by night' }).getByRole('row').nth(1);
  await night.getByRole('cell', { name: 'old_view 2' }).waitFor();
  await night.getByRole('cell', { name: /^(Deleted|Removed from files) / }).waitFor();
  await expectNoFindings(visited);
});

test('no screen has a finding of axe, or scrolls sideways', async () => {
  const visited = await shop.visit('/experiments');
  const { page } = visited;
  for (const [path, ready] of [
    ['/experiments', 'article'],
    ['/experiments/button#goal=purchase&guard=error', 'table'],
    ['/experiments/uneven#goal=purchase', '[role=alert]'],
    ['/experiments/missing#goal=purchase', '[role=status] h2'],
    ['/data', 'table'],
    ['/data#part=events&name=purchase', 'li strong'],
    ['/data#part=properties&name=_country', 'section h3'],
    ['/data#part=rejected', 'main p'],
  ] as const) {
    await page.goto(shop.addressOf(path));
    await page.locator(ready).first().waitFor();
    await page.waitForLoadState('networkidle');
    await expectNoFindings(visited);
    await expectReachByKeyboard(visited);
  }
});

test('charts that are not drawn again yet do not widen a page that becomes narrow', async () => {
  const visited = await shop.visit('/experiments');
  const { page } = visited;
  // Charts keep the width that they were drawn with first.
  await page.addInitScript('window.ResizeObserver = class { observe() {} disconnect() {} unobserve() {} }');
  for (const path of ['/data#part=events&name=purchase', '/experiments/button#goal=purchase']) {
    await page.setViewportSize({ width: 1440, height: 800 });
    await page.goto(shop.addressOf(path));
    await page.locator('figure svg').first().waitFor();
    await page.setViewportSize({ width: 360, height: 800 });
    await expectNoSidewaysScroll(visited);
  }
});
