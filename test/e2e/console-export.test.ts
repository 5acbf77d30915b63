// The console's export of a project, in a real browser: what it downloads, and for whom.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectNoFindings } from '../support/console-axe.js';
import { useConsoleShop } from '../support/console-shop.js';
import { eventually } from '../support/eventually.js';
import { identify } from '../support/identify.js';

const shop = useConsoleShop({
  email: 'export@example.com',
  fill: async (service) => {
    await service.fill([
      { event_type: 'old', user_id: 'ada', time: '2026-01-31T23:59:59Z' },
      { event_type: 'new', user_id: 'ada', time: '2026-02-01T00:00:00Z' },
    ]);
    await identify(service.url, service.publicKey, { user_id: 'ada', user_properties: { plan: 'pro' } });
    await eventually(async () => expect((await service.ask('users | count')).rows[0]?.count).toBe(1));
  },
});

/** Lines of the file that the link downloads. */
async function download(page: Page, link: string): Promise<{ name: string; lines: Record<string, unknown>[] }> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: link }).click()]);
  const text = await readFile(await file.path(), 'utf8');
  return {
    name: file.suggestedFilename(),
    lines: text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

test('downloads all events, those of some days, and the profiles', async () => {
  const visited = await shop.visit('/settings/export');
  const { page } = visited;
  const all = await download(page, 'Download events');
  expect(all.name).toBe('events.ndjson');
  expect(all.lines.map((event) => event.event_type).sort()).toEqual(['new', 'old']);
  await page.getByLabel('From').fill('2026-02-01');
  expect((await download(page, 'Download events')).lines.map((event) => event.event_type)).toEqual(['new']);
  await page.getByLabel('Before').fill('2026-02-01');
  await page.getByText('"From" must be earlier than "Before".').waitFor();
  expect(await page.getByRole('link', { name: 'Download events' }).count()).toBe(0);
  await expectNoFindings(visited);
  const people = await download(page, 'Download devices and profiles');
  expect(people).toMatchObject({
    name: 'identities.ndjson',
    lines: [{ user_id: 'ada', user_properties: { plan: 'pro' } }],
  });
});

test('is not shown to a member, and its address says that the role may not open it', async () => {
  const member = await shop.join('member@example.com', 'member');
  const { page } = await shop.visit('/settings/export', { jar: member });
  await page.getByText('There is no such part, or your role may not open it.').waitFor();
  expect(await page.getByRole('link', { name: 'Export' }).count()).toBe(0);
});
