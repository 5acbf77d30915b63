// "Load the demo" of the console in a real browser: a load that fails and is tried again, progress,
// the questions with their answers, a worker that is killed meanwhile, and the deletion.
import { expect, test } from 'vitest';
import { createOrganization } from '../../src/accounts/store.js';
import { QUESTIONS } from '../../src/demo/stories.js';
import { send } from '../support/accounts.js';
import { expectNoFindings } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';

const LOADED_WITHIN_MS = 180_000;

/** A demo that was left behind by a killed worker counts until its data is deleted. */
const PROJECTS_MAX = 5;

const shop = useConsoleShop({
  email: 'demo@example.com',
  env: () => ({ DEMOS_PER_DAY_MAX: '2', PROJECTS_PER_ORGANIZATION_MAX: String(PROJECTS_MAX) }),
});

const demos = (): Promise<{ id: string; name: string }[]> =>
  shop.postgres('projects').where({ is_demo: true }).whereNull('deleted_at').select('id', 'name');

const call = (method: string) =>
  send(shop.url, `${method} /api/orgs/${shop.organizationId}/demo`, {
    session: shop.owner.get('service_session') ?? '',
  });

test('a load that fails says why and leaves no project; it is tried again by the same button', async () => {
  const ofShop = { organization_id: shop.organizationId };
  const count = async (): Promise<number> => Number((await shop.postgres('projects').where(ofShop).count())[0]?.count);
  while ((await count()) < PROJECTS_MAX) await shop.newProject('Filler');
  const visited = await shop.visit('/start');
  const { page } = visited;
  await page.getByRole('button', { name: 'Load the demo' }).click();
  const alert = page
    .getByRole('alert')
    .filter({ hasText: `The demo shop was not loaded: an organization has at most ${PROJECTS_MAX}` });
  await alert.waitFor();
  await expectNoFindings(visited);
  await page.reload();
  await alert.waitFor();
  expect(await demos()).toEqual([]);

  const other = await createOrganization(shop.postgres, { name: 'Other' });
  await shop
    .postgres('projects')
    .where({ ...ofShop, name: 'Filler' })
    .update({ organization_id: other.id });
  await page.getByRole('button', { name: 'Load the demo' }).click();
  await page.getByRole('progressbar', { name: 'Loading the demo shop' }).waitFor();
  await alert.waitFor({ state: 'detached' });
}, 240_000);

test('the demo is loaded with its progress, although the worker is killed, and its questions are answered', async () => {
  const visited = await shop.visit('/start');
  const { page } = visited;
  await page.getByRole('heading', { name: 'Try it with sample data' }).waitFor();
  await page.getByRole('progressbar', { name: 'Loading the demo shop' }).waitFor();
  await page
    .getByRole('status')
    .filter({ hasText: /[1-9][\d,]* events sent/ })
    .waitFor({ timeout: LOADED_WITHIN_MS });
  await expectNoFindings(visited);
  expect((await call('POST')).body.status).toBe('loading');
  expect((await call('DELETE')).body.error).toContain('is being loaded');

  await shop.processes.get('worker').kill();
  await shop.processes.start('worker');
  // Another page shows the same progress.
  await page.reload();
  await page.getByText('The demo shop is ready.').waitFor({ timeout: LOADED_WITHIN_MS });
  expect(await demos()).toHaveLength(1);
  await expectNoFindings(visited);

  const questions = page.getByRole('region', { name: 'Try it with sample data' }).getByRole('listitem');
  expect(await questions.allTextContents()).toEqual(QUESTIONS.map(({ question }) => question));
  for (const { question } of QUESTIONS) {
    await page.getByRole('link', { name: question }).click();
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByText(/rows read/).waitFor();
    expect(await answer.getByRole('alert').count()).toBe(0);
    await page.goBack();
  }
}, 300_000);

test('the demo shop shows its questions before the first query, and its dashboards', async () => {
  const [demo] = await demos();
  const visited = await shop.visit('/ask', { projectId: demo?.id ?? '' });
  const { page } = visited;
  // For a person who has not been here, it is the only project with events.
  const first = await shop.openBrowser();
  await first.page.goto(`${shop.url}/`);
  await first.page.waitForURL(shop.addressOf('/ask', demo?.id));
  await first.page.context().close();
  await page.getByRole('region', { name: 'Questions about the demo shop' }).getByRole('button').nth(4).waitFor();
  await expectNoFindings(visited);
  await page.getByRole('button', { name: 'What did the sale bring?' }).click();
  await page.getByRole('region', { name: 'Answer' }).getByRole('img').waitFor();
  await page.goto(shop.addressOf('/dashboards', demo?.id));
  // Only cohorts are wider than their card: those of paths have room.
  await page.getByRole('link', { name: 'Demo shop, growth' }).click();
  await page.getByRole('region', { name: 'What people do after signing up' }).scrollIntoViewIfNeeded();
  await page.getByRole('region', { name: 'Steps by position' }).getByRole('img').waitFor();
  const [whole, shown] = await page.evaluate<[number, number]>(`(() => {
    const { scrollWidth, clientWidth } = document.querySelector('[aria-label="Steps by position"]');
    return [scrollWidth, clientWidth];
  })()`);
  expect(whole).toBe(shown);

  // No heading stands over questions that could not be loaded.
  await page.route('**/demo', (route) => route.fulfill({ status: 503, json: { error: 'not now' } }));
  await page.goto(shop.addressOf('/start', demo?.id));
  await page.getByRole('link', { name: 'Open the demo shop' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Questions to ask it' }).count()).toBe(0);
});

test('there is one at most, which is deleted where it was loaded, and few are loaded in a day', async () => {
  expect(await call('POST')).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('has a demo project already') },
  });
  const [demo] = await demos();
  const visited = await shop.visit('/start', { projectId: demo?.id ?? '' });
  const { page } = visited;
  await page.getByRole('heading', { name: 'This is the demo shop' }).waitFor();
  await page.getByRole('button', { name: 'Delete the demo shop' }).click();
  await expectNoFindings(visited);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete it' }).click();
  // It leads to another project.
  await page.waitForURL(({ pathname }) => /\/start$/.test(pathname) && !pathname.includes(String(demo?.id)));
  expect(await demos()).toEqual([]);
  expect((await call('DELETE')).status).toBe(404);

  await page.goto(shop.addressOf('/start'));
  await page.getByRole('button', { name: 'Load the demo' }).click();
  await page.getByRole('alert').filter({ hasText: 'the limit is 2 per day for an organization' }).waitFor();
  await expectNoFindings(visited);
}, 240_000);
