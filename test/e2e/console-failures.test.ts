// Messages of the console about queries and changes that fail: those that are never answered, or
// whose answer breaks off.
import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { askPath, region } from '../support/console-ask.js';
import { useConsoleShop } from '../support/console-shop.js';
import { createDashboard, SALES } from '../support/create-dashboard.js';

const PERSON = 'user-1';

const shop = useConsoleShop({
  email: 'failures@example.com',
  fill: ({ fill }) =>
    fill(Array.from({ length: 6 }, (_, index) => ({ event_type: 'purchase', user_id: `user-${index}` }))),
});

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
  await page.goto(shop.addressOf(`/dashboards/${await createDashboard(shop, SALES)}`));
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
  const visited = await shop.openBrowser();
  const { page } = visited;
  const cut = async (route: Route): Promise<void> => {
    const response = await route.fetch();
    const body = await response.body();
    await route.fulfill({ response, body: body.subarray(0, body.length / 2) });
  };
  await page.route(/\/api\/.*\/(query|tokens|exports)$/, cut);
  await page.goto(shop.addressOf(askPath('purchase | last 7d | count')));
  await region(visited).getByRole('alert').filter({ hasText: 'the answer broke off' }).waitFor();
  await page.goto(shop.addressOf('/settings/tokens'));
  await page.getByRole('alert').filter({ hasText: 'the answer broke off' }).waitFor();
  await page.context().close();
});

test('a web page that comes instead of an answer is called so, and no change counts as made', async () => {
  const visited = await shop.openBrowser();
  const { page } = visited;
  const signIn = { status: 200, contentType: 'text/html; charset=utf-8', body: '<!doctype html>\n<h1>Sign in</h1>\n' };
  const told = page.getByRole('alert').filter({ hasText: 'a web page came instead of an answer' });
  await page.route(/\/api\/.*\/(query|imports\?.*)$/, (route) => route.fulfill(signIn));
  await page.goto(shop.addressOf(askPath('purchase | last 7d | count')));
  await told.waitFor();
  await page.goto(shop.addressOf('/settings/import'));
  await page.getByLabel('From').selectOption('access-log');
  const buffer = Buffer.from('203.0.113.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "Mozilla/5.0"\n');
  await page.getByLabel('Files').setInputFiles({ name: 'access.log', mimeType: 'text/plain', buffer });
  await page.getByRole('button', { name: 'Check the files' }).click();
  await told.waitFor();
  expect(visited.complaints).toEqual([]);

  await page.unroute(/\/api\/.*\/(query|imports\?.*)$/);
  await page.goto(shop.addressOf('/settings/tokens'));
  await page.getByRole('textbox', { name: 'Name' }).fill('kept');
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('button', { name: 'Revoke kept' }).click();
  await page.route('**/tokens/*', (route) => route.fulfill(signIn));
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'a web page came' }).waitFor();
  await page.context().close();
});

test('files that a proxy refuses as too large lead to its limit', async () => {
  const { page } = await shop.openBrowser();
  const body = '<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n</html>';
  await page.route(/\/imports\?/, (route) => route.fulfill({ status: 413, contentType: 'text/html', body }));
  await page.goto(shop.addressOf('/settings/import'));
  await page.getByLabel('From').selectOption('access-log');
  const buffer = Buffer.from('203.0.113.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "Mozilla/5.0"\n');
  await page.getByLabel('Files').setInputFiles({ name: 'access.log', mimeType: 'text/plain', buffer });
  await page.getByRole('button', { name: 'Check the files' }).click();
  await page.getByRole('alert').filter({ hasText: 'client_max_body_size' }).waitFor();
  await page.context().close();
});

test('queries that are too many for a session fail with the cause after two more tries', async () => {
  const { page } = await shop.openBrowser();
  let asked = 0;
  await page.route('**/api/**/query', (route) => {
    asked += 1;
    return route.fulfill({ status: 429, headers: { 'Retry-After': '60' }, json: { error: 'too many requests' } });
  });
  await page.goto(shop.addressOf('/experiments'));
  await page.getByRole('alert').filter({ hasText: 'too many requests' }).waitFor();
  // Both queries of the screen.
  expect(asked).toBeLessThanOrEqual(2 * 3);
  await page.context().close();
});

test('an error of a gateway, whose form is not that of the service, is told by its status', async () => {
  const { page } = await shop.openBrowser();
  await page.route('**/api/**', (route) =>
    route.fulfill({ status: 503, json: { error: { code: 503, message: 'no healthy upstream' } } }),
  );
  for (const path of ['/dashboards', askPath('purchase | last 7d | count')]) {
    await page.goto(shop.addressOf(path));
    await page.getByRole('alert').filter({ hasText: 'the service answered 503' }).waitFor();
  }
  await page.context().close();
});

test('a change that fails is named, leaves what was typed, and is tried again by the same button', async () => {
  const { page } = await shop.openBrowser();
  let isDown = true;
  await page.route('**/api/**', (route) => {
    const request = route.request();
    const isStep = /dry_run=true|\/dry-run|\/draft|\/quer(?:y|ies)$/.test(request.url());
    const isChange = request.method() !== 'GET' && !isStep;
    return isChange && isDown ? route.fulfill({ status: 500, json: { error: 'internal error' } }) : route.continue();
  });
  const alert = page.getByRole('alert');
  const fails = (action: string) => alert.filter({ hasText: `“${action}” failed: internal error` }).waitFor();
  const id = await createDashboard(shop, SALES);

  const text = page.getByRole('textbox', { name: 'Text of the dashboard' });
  await page.goto(shop.addressOf(`/dashboards/${id}#v=edit`));
  await text.fill(SALES.replace('Numbers', 'Figures'));
  const save = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  };
  await save();
  await fails('Save');
  expect(await text.inputValue()).toContain('Figures');
  isDown = false;
  await save();
  await page.getByRole('heading', { name: 'Figures' }).waitFor();

  isDown = true;
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Delete dashboard' }).click();
  const deletion = page.getByRole('dialog', { name: 'Delete dashboard' });
  await deletion.getByRole('button', { name: 'Delete it' }).click();
  await deletion.getByRole('alert').filter({ hasText: '“Delete dashboard” failed' }).waitFor();
  isDown = false;
  await deletion.getByRole('button', { name: 'Delete it' }).click();
  await page.getByRole('heading', { name: 'Dashboards', exact: true }).waitFor();

  isDown = true;
  await page.goto(shop.addressOf('/settings/tokens'));
  await page.getByLabel('Name').fill('agent');
  await page.getByRole('button', { name: 'Create token' }).click();
  await fails('Create token');
  expect(await page.getByLabel('Name').inputValue()).toBe('agent');
  isDown = false;
  await page.getByRole('button', { name: 'Create token' }).click();
  isDown = true;
  await page.getByRole('button', { name: 'Revoke agent' }).click();
  const revocation = page.getByRole('dialog', { name: 'Revoke agent' });
  await revocation.getByRole('button', { name: 'Revoke', exact: true }).click();
  await revocation.getByRole('alert').filter({ hasText: '“Revoke agent” failed: internal error' }).waitFor();
  await page.context().close();
});

test('a form that changes the text ends the message of a check that failed', async () => {
  const id = await createDashboard(shop, SALES);
  const { page } = await shop.visit(`/dashboards/${id}#v=edit`);
  await page.getByRole('button', { name: 'Edit Orders' }).waitFor();
  await page.route('**/draft', (route) => {
    const isCheck = Object.keys(route.request().postDataJSON()).length === 1;
    return isCheck ? route.fulfill({ status: 503, json: { error: 'try again later' } }) : route.continue();
  });
  await page.getByRole('textbox', { name: 'Text of the dashboard' }).fill(`${SALES}# checked later\n`);
  await page.getByText('try again later').waitFor();
  await page.getByRole('button', { name: 'Edit Orders' }).click();
  const form = page.getByRole('dialog', { name: 'Edit Orders' });
  await form.getByRole('textbox', { name: 'Title' }).fill('All orders');
  await form.getByRole('button', { name: 'Apply' }).click();
  await form.waitFor({ state: 'detached' });
  expect(await page.getByText('try again later').count()).toBe(0);
});

test('a dialog that is opened again has no message of the attempt before', async () => {
  const { page } = await shop.openBrowser();
  await page.route('**/api/**', (route) =>
    route.request().method() === 'DELETE' || route.request().url().endsWith('/rotate-secret-key')
      ? route.fulfill({ status: 500, json: { error: 'internal error' } })
      : route.continue(),
  );
  const expectForgotten = async (path: string, opener: string, confirm: string): Promise<void> => {
    await page.goto(shop.addressOf(path));
    const dialog = page.getByRole('dialog');
    const alert = page.getByRole('alert').filter({ hasText: 'internal error' });
    await page.getByRole('button', { name: opener }).click();
    const name = dialog.locator('label code');
    if ((await name.count()) > 0) await dialog.getByRole('textbox').fill((await name.textContent()) ?? '');
    await dialog.getByRole('button', { name: confirm, exact: true }).click();
    await alert.waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: opener }).click();
    await dialog.waitFor();
    expect(await alert.count()).toBe(0);
  };
  await expectForgotten('/settings', 'Rotate the secret key', 'Rotate');
  await expectForgotten('/settings', 'Delete the project', 'Delete for ever');
  await expectForgotten('/settings/leaving', 'Leave the organization', 'Leave');
  await expectForgotten('/settings/members', 'Remove failures@example.com', 'Remove');
  await page.context().close();
});

test('cards say that they load while the queries of the dashboard are made, and do not move then', async () => {
  const { page } = await shop.openBrowser();
  let isAnswered = (): void => {};
  const answered = new Promise<void>((resolve) => {
    isAnswered = resolve;
  });
  await page.route('**/queries', (route) => answered.then(() => route.continue()));
  await page.route('**/query', () => undefined);
  await page.goto(shop.addressOf(`/dashboards/${await createDashboard(shop, SALES)}`));
  const card = page.getByRole('region', { name: 'Orders' });
  const loading = card.getByRole('status', { name: 'Loading' });
  await loading.waitFor();
  const before = await card.boundingBox();
  const asked = page.waitForRequest('**/query');
  isAnswered();
  await asked;
  await loading.waitFor();
  expect(await card.boundingBox()).toMatchObject({ height: before?.height });

  await page.unroute('**/queries');
  await page.route('**/queries', (route) => route.fulfill({ status: 503, json: { error: 'not now' } }));
  await page.reload();
  await page.getByRole('alert').filter({ hasText: 'not now' }).waitFor();
  expect(await loading.count()).toBe(0);
  await page.context().close();
});

test('what was done although its answer was lost is shown', async () => {
  const { page } = await shop.openBrowser();
  await page.route('**/api/**/tokens', async (route) => {
    if (route.request().method() === 'GET') return route.continue();
    await route.fetch();
    await route.abort();
  });
  await page.goto(shop.addressOf('/settings/tokens'));
  await page.getByLabel('Name').fill('lost answer');
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('alert').filter({ hasText: '“Create token” failed: the service cannot be reached' }).waitFor();
  await page.getByRole('button', { name: 'Revoke lost answer' }).waitFor();
  await page.context().close();
});

test('one cause is told once where events are sent, and retried for all that it concerns', async () => {
  const { page } = await shop.openBrowser();
  await page.route('**/api/**', (route) =>
    route.fulfill({ status: 503, json: { error: 'the store does not answer' } }),
  );
  await page.goto(shop.addressOf('/start'));
  await page.getByRole('alert').waitFor();
  expect(await page.getByText('the store does not answer').count()).toBe(1);
  await page.unroute('**/api/**');
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByRole('status').filter({ hasText: 'Events are arriving: 6' }).waitFor();
  await page.getByText(shop.publicKey).first().waitFor();
  await page.context().close();
});

test('alerts that cannot be read again do not stand there as if they were current, and their screen keeps its heading', async () => {
  const alerts = `alerts:
  - {id: many, query: 'purchase | count', when: value < 0, every: 1d, to: ['https://a.example']}
`;
  await createDashboard(shop, `${SALES}${alerts}`);
  const { page } = await shop.openBrowser();
  const failure = page.getByRole('alert').filter({ hasText: 'the store does not answer' });
  const go = (name: string) =>
    page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name, exact: true }).click();
  const fail = (route: Route) => route.fulfill({ status: 503, json: { error: 'the store does not answer' } });
  const main = page.getByRole('main');
  await page.goto(shop.addressOf('/alerts'));
  const link = main.getByRole('link', { name: 'many', exact: true });
  await link.waitFor();
  await go('Data');
  await page.route(/\/api\/.*\/(alerts|definitions)$/, fail);
  await go('Alerts');
  await failure.waitFor();
  await link.click();
  await main.getByRole('heading', { name: 'many', exact: true }).waitFor();
  await failure.waitFor();
  for (const name of ['Alerts', 'Definitions']) {
    await page.goto(shop.addressOf(`/${name.toLowerCase()}`));
    await failure.waitFor();
    await main.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  }
  await page.unroute(/\/api\/.*\/(alerts|definitions)$/);
  await page.getByRole('button', { name: 'Retry' }).click();
  await failure.waitFor({ state: 'detached' });
  await page.context().close();
});
