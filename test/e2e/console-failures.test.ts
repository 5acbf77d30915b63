// What fails in the console is said where it was asked for: a query or a change that is never
// answered, or whose answer breaks off.
import { randomUUID } from 'node:crypto';
import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { askPath, region } from '../support/console-ask.js';
import { useConsoleShop } from '../support/console-shop.js';

const PERSON = 'user-1';

const shop = useConsoleShop({
  email: 'failures@example.com',
  fill: ({ fill }) =>
    fill(Array.from({ length: 6 }, (_, index) => ({ event_type: 'purchase', user_id: `user-${index}` }))),
});

const SOURCE = `version: 1
title: Sales
sections:
  - title: Numbers
    cards:
      - {id: orders, title: Orders, kind: metric, viz: number, query: 'purchase | last 7d | count'}
`;

async function createDashboard(): Promise<string> {
  const response = await fetch(`${shop.url}/api/projects/${shop.id}/dashboards?key=failures-${randomUUID()}`, {
    method: 'POST',
    headers: { Cookie: `service_session=${shop.owner.get('service_session')}`, Origin: shop.url },
    body: JSON.stringify({ source_yaml: SOURCE, visibility: 'project' }),
  });
  return ((await response.json()) as { dashboard: { id: string } }).dashboard.id;
}

/** The limits of requests, in the page, are this much shorter: one of a minute is half a second. */
const shortenLimits = (page: Page) =>
  page.addInitScript(
    'AbortSignal.timeout = (wait => (ms) => (window.limitMs = ms, wait(ms / 120)))(AbortSignal.timeout.bind(AbortSignal));',
  );

const LATE = 'the service did not answer in time';

test('a query that is never answered fails after the time that the service has for it, and is retried', async () => {
  const { page } = await shop.openBrowser();
  await shortenLimits(page);
  const queries = '**/api/**/query';
  await page.route(queries, () => undefined);
  await page.goto(shop.addressOf(`/dashboards/${await createDashboard()}`));
  const card = page.getByRole('region', { name: 'Orders' });
  await card.getByRole('alert').filter({ hasText: LATE }).waitFor();
  const { QUERY_WAIT_MS, QUERY_TIMEOUT_MS } = shop.config;
  expect(await page.evaluate<number>('window.limitMs')).toBeGreaterThan(QUERY_WAIT_MS + QUERY_TIMEOUT_MS);
  await page.unroute(queries);
  await card.getByRole('button', { name: 'Retry' }).click();
  await card.getByText('6', { exact: true }).waitFor();

  await page.route(queries, () => undefined);
  for (const path of [
    '/people',
    `/people#id=${PERSON}`,
    '/experiments',
    '/data',
    askPath('purchase | last 7d | count'),
  ]) {
    await page.goto(shop.addressOf(path));
    await page.getByRole('alert').filter({ hasText: LATE }).first().waitFor();
  }
  await page.context().close();
});

test('an answer that breaks off is called so, and nothing of it is shown', async () => {
  const { page } = await shop.openBrowser();
  const cut = async (route: Route): Promise<void> => {
    const response = await route.fetch();
    const body = await response.body();
    await route.fulfill({ response, body: body.subarray(0, body.length / 2) });
  };
  await page.route(/\/api\/.*\/(query|tokens|exports)$/, cut);
  await page.goto(shop.addressOf(askPath('purchase | last 7d | count')));
  await region({ page } as never)
    .getByRole('alert')
    .filter({ hasText: 'the answer broke off' })
    .waitFor();
  await page.goto(shop.addressOf('/settings/tokens'));
  await page.getByRole('alert').filter({ hasText: 'the answer broke off' }).waitFor();
  await page.context().close();
});
