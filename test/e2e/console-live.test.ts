// What Live says when it has nothing to show, in a real browser.
import { expect, test } from 'vitest';
import { expectNoFindings } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';
import { track } from '../support/track.js';

const shop = useConsoleShop({ email: 'live@example.com' });

test('without events, it leads to how they are sent', async () => {
  const quiet = await shop.newProject('Quiet');
  const visited = await shop.visit('/live', { projectId: quiet.id });
  const { page } = visited;
  const log = page.getByRole('log', { name: 'Accepted' });
  await log.getByText('No event in the last 30 minutes.').waitFor();
  await expectNoFindings(visited);
  await log.getByRole('link', { name: 'Send events' }).click();
  await page.getByRole('heading', { name: 'Send events', level: 1 }).waitFor();
});

test('a filter that nothing matches does not say that nothing came', async () => {
  const { page } = await shop.visit('/live');
  await page.getByRole('status').filter({ hasText: 'new ones within' }).waitFor();
  await track(shop.url, shop.publicKey, { events: [{ event_type: 'fresh', user_id: 'ada' }, { user_id: 'no-type' }] });
  const [log, rejected] = [page.getByRole('log', { name: 'Accepted' }), page.getByRole('region', { name: 'Rejected' })];
  await log.getByText('fresh', { exact: true }).waitFor();
  await rejected.getByText(/event type/).waitFor();
  await page.getByRole('searchbox', { name: 'Filter' }).fill('not there');
  for (const list of [log, rejected]) await list.getByText('Nothing here has the text of the filter.').waitFor();
  expect(await page.getByText('No event in the last 30 minutes.').count()).toBe(0);
});
