// People and settings of the console in a real browser: search, timeline, erasure, keys, tokens,
// members, usage, audit trail.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { connectAgent } from '../support/agent.js';
import { expectNoFindings } from '../support/console-axe.js';
import { expectReachByKeyboard } from '../support/console-keyboard.js';
import { type ConsoleShop, useConsoleShop } from '../support/console-shop.js';
import type { CookieJar } from '../support/cookie-jar.js';
import { eventually } from '../support/eventually.js';
import { identify } from '../support/identify.js';
import { track } from '../support/track.js';

const MEMBER = 'member@example.com';
/** An id that no address, query or path may take for something else. */
const ID = 'a|b/ü?"x';

const shop = useConsoleShop({ email: 'owner@example.com', fill: fillShop });
let member: CookieJar;

beforeAll(async () => {
  member = await shop.join(MEMBER, 'member');
});

async function fillShop({ url, publicKey, secretKey, ask }: ConsoleShop): Promise<void> {
  const at = (minutes: number): string => new Date(Date.now() - 3_600_000 + minutes * 60_000).toISOString();
  const events = [
    { event_type: 'visit', device_id: 'phone', session_id: 's1', time: at(0) },
    { event_type: 'signup', device_id: 'phone', user_id: ID, session_id: 's1', time: at(1) },
    { event_type: 'purchase', device_id: 'laptop', user_id: ID, session_id: 's2', time: at(2) },
    { event_type: 'visit', user_id: 'other', time: at(3) },
  ];
  await track(url, publicKey, { events });
  for (const [userId, email, device] of [
    [ID, 'ada@example.com', 'phone'],
    ['other', 'bob@example.org', undefined],
  ]) {
    await identify(url, secretKey, {
      user_id: userId,
      ...(device !== undefined && { device_id: device }),
      user_properties: { email, plan: 'pro' },
    });
  }
  await eventually(async () => {
    const { rows } = await ask(`* | last 30d | where distinct_id = "a|b/ü?\\"x" | count`);
    expect(rows[0]?.count).toBe(3);
    expect((await ask('users | last 1y')).rows).toHaveLength(2);
  });
}

test('each screen says that it loads, and then why it failed', async () => {
  const { page } = await shop.openBrowser();
  let fail = (): void => {};
  let held = Promise.resolve();
  await page.route('**/api/**', async (route) => {
    await held;
    await route.fulfill({
      status: 503,
      contentType: 'application/json',
      body: '{"error":"the store does not answer"}',
    });
  });
  for (const path of [
    ...['/start', '/dashboards', '/dashboards/1', '/live', '/people', '/experiments/button'],
    ...['tokens', 'members', 'domains', 'usage', 'audit', 'delivery'].map((part) => `/settings/${part}`),
  ]) {
    held = new Promise((resolve) => {
      fail = resolve;
    });
    await page.goto(shop.addressOf(path));
    await page.getByRole('status').filter({ hasText: 'Loading' }).first().waitFor();
    fail();
    const alert = page.getByRole('alert').filter({ hasText: 'the store does not answer' }).first();
    if (path === '/live') await page.getByRole('status').filter({ hasText: 'cannot be read at the moment' }).waitFor();
    else await alert.getByRole('button', { name: 'Retry' }).waitFor();
  }
  await page.goto(shop.addressOf('/people#id=other'));
  await page.getByRole('alert').filter({ hasText: 'the store does not answer' }).nth(2).waitFor();
  expect(await page.getByText(/^No /).count()).toBe(0);
  await page.context().close();
});

describe('people', () => {
  test('are found by part of an id or address, or by domain', async () => {
    const visited = await shop.visit('/people');
    const { page } = visited;
    await page.getByRole('link', { name: /bob@example.org/ }).waitFor();
    for (const [words, found, count] of [
      ['ada@', /ada@example.com/, '1 person'],
      ['*@example.org', /bob@example.org/, '1 person'],
      ['b/ü?"', /ada@example.com/, '1 person'],
    ] as const) {
      await page.getByRole('searchbox', { name: 'Find people' }).fill(words);
      await page.getByRole('button', { name: 'Find' }).click();
      await page.getByRole('status').filter({ hasText: count }).waitFor();
      await page.getByRole('link', { name: found }).waitFor();
    }
    await page.getByRole('link', { name: /ada@example.com/ }).click();
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    await page.goBack();
    await page.getByRole('status').filter({ hasText: '1 person' }).waitFor();
    expect(await page.getByRole('searchbox', { name: 'Find people' }).inputValue()).toBe('b/ü?"');
    await page.goBack();
    await expect.poll(() => page.getByRole('searchbox', { name: 'Find people' }).inputValue()).toBe('*@example.org');
    await page.getByRole('searchbox', { name: 'Find people' }).fill('no-such-id');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('status').filter({ hasText: 'No one was found' }).waitFor();
    await page.getByRole('link', { name: 'Open the events of no-such-id' }).waitFor();
    await expectNoFindings(visited);
    await expectReachByKeyboard(visited);
  });

  test('have a timeline, a profile, and devices that say why; a member can look, not erase', async () => {
    const visited = await shop.visit(`/people#${new URLSearchParams({ id: ID })}`, { jar: member });
    const { page, requests } = visited;
    await page.getByRole('heading', { name: 'ada@example.com', level: 1 }).waitFor();
    await page.getByText(ID, { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Timeline' }).getByText('purchase').waitFor();
    await page.getByText('3 events', { exact: false }).first().waitFor();
    await page.getByRole('region', { name: 'Profile' }).getByText('ada@example.com').waitFor();
    const devices = page.getByRole('region', { name: 'Devices' });
    await devices.getByText('laptop').waitFor();
    await devices.getByText('1 event: its anonymous events are joined').waitFor();
    expect(await page.getByRole('button', { name: 'Erase' }).count()).toBe(0);
    const status = await page.evaluate<number>(
      `fetch('/api/projects/${shop.id}/erasures', { method: 'POST', body: '{"user_id":"x"}' }).then(({ status }) => status)`,
    );
    expect(status).toBe(403);
    expect(requests.filter((request) => request.url().includes('%C3%BC'))).toEqual([]);
    await expectNoFindings(visited);
    await expectReachByKeyboard(visited);
  });

  test('who are many, or have many events, are counted although not all are shown', async () => {
    const events = Array.from({ length: 210 }, (_, n) => ({
      ...{ event_type: 'many', user_id: 'busy', time: new Date(Date.now() - 7_200_000 - n).toISOString() },
    }));
    await track(shop.url, shop.publicKey, { events });
    for (let n = 0; n < 51; n++) {
      const user = { user_id: `crowd-${n}`, user_properties: { email: `crowd-${n}@example.net` } };
      expect((await identify(shop.url, shop.secretKey, user)).body).toEqual({ ok: true });
    }
    await eventually(async () => {
      expect((await shop.ask('many | last 30d | count')).rows[0]?.count).toBe(210);
      expect((await shop.ask('users | last 1y | where email_domain = "example.net"')).total).toBe(51);
    });
    const { page } = await shop.visit('/people#id=busy');
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('· 210 events').waitFor();
    await timeline.getByText('Not shown here: 10 older events.').waitFor();
    await page.getByRole('link', { name: 'People', exact: true }).first().click();
    await page.getByRole('searchbox', { name: 'Find people' }).fill('*@example.net');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('status').filter({ hasText: 'The 50 seen most recently of 51 people' }).waitFor();
  });

  test('are exported, and erased after their id has been typed, with a receipt', async () => {
    const visited = await shop.visit(`/people#${new URLSearchParams({ id: ID })}`);
    const { page } = visited;
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export all events' }).click();
    expect((await download).suggestedFilename()).toBe('events.ndjson');

    await page.getByRole('button', { name: 'Erase' }).click();
    const dialog = page.getByRole('dialog', { name: 'Erase this person' });
    const confirm = dialog.getByRole('button', { name: 'Erase for ever' });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('a|b');
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill(ID);
    await expectNoFindings(visited);
    await confirm.click();
    const receipt = page.getByRole('dialog', { name: 'Receipt' });
    await receipt.getByRole('heading', { name: 'Erased' }).waitFor({ timeout: 120_000 });
    await receipt.getByText('Verified', { exact: false }).waitFor();
    expect(await receipt.locator('dl > div').allTextContents()).toEqual([
      'Events3',
      'Device mappings1',
      'Profiles1',
      'Devices1',
    ]);
    await expectNoFindings(visited);
    await receipt.getByRole('button', { name: 'Close' }).click();
    await page.getByText('No events in this time').waitFor();

    await page.goto(shop.addressOf('/settings/audit'));
    await page
      .getByRole('cell', { name: /erased, / })
      .first()
      .waitFor();
    expect(await page.getByText(ID).count()).toBe(0);
    await expectNoFindings(visited);
  });
});

describe('live', () => {
  test('shows an event and a rejected one as they arrive, and stands still while it is paused', async () => {
    const visited = await shop.visit('/live');
    const { page } = visited;
    const log = page.getByRole('log', { name: 'Accepted' });
    await page.getByRole('status').filter({ hasText: 'new ones within' }).waitFor();
    await track(shop.url, shop.publicKey, { event_type: 'fresh', user_id: 'live', event_properties: { n: 1 } });
    await log.getByText('fresh', { exact: true }).waitFor();
    await track(shop.url, shop.publicKey, { events: [{ user_id: 'no-type' }] });
    await page
      .getByRole('region', { name: 'Rejected' })
      .getByText(/event type/)
      .waitFor();
    await log.getByText('fresh', { exact: true }).click();
    await log.getByText('"n": 1').waitFor();
    await expectNoFindings(visited);
    await page.getByRole('button', { name: 'Pause' }).click();
    await track(shop.url, shop.publicKey, { event_type: 'later', user_id: 'live' });
    await page.getByRole('status').filter({ hasText: '1 event more' }).waitFor();
    expect(await log.getByText('later', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Go on' }).click();
    await log.getByText('later', { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Filter' }).fill('"n":1');
    await log.getByText('later', { exact: true }).waitFor({ state: 'detached' });
    await log.getByText('fresh', { exact: true }).waitFor();
  });
});

describe('settings', () => {
  test('import files of another product: checked, imported, and there already the second time', async () => {
    const visited = await shop.visit('/settings/import');
    const { page } = visited;
    const fixtures = join(packageRoot, 'test', 'unit', 'imports', 'sources', 'fixtures');
    const choose = (...names: string[]) =>
      page.getByLabel('Files').setInputFiles(names.map((name) => join(fixtures, name)));
    const shownFor = (name: string) => page.locator('dl > div').filter({ hasText: name }).locator('dd').textContent();
    const isCounted = async () =>
      (await shop.ask('signup | since 2023-01-01 | where event_properties.plan = "pro" | count')).rows[0]?.count;

    await page.getByLabel('From').selectOption('posthog');
    await choose('umami.csv');
    await page.getByRole('button', { name: 'Check the files' }).click();
    await page.getByText('Nothing in these files can be imported').waitFor();
    await page.getByRole('rowheader', { name: 'not JSON' }).waitFor();
    await page.getByRole('cell', { name: /umami\.csv:1/ }).waitFor();
    await expectNoFindings(visited);

    await page.getByLabel('From').selectOption('umami');
    await choose('umami-event-data.csv', 'umami.csv');
    for (const counts of ['3 0', '0 3']) {
      await page.getByRole('button', { name: 'Check the files' }).click();
      await page.getByRole('region', { name: 'Checked: nothing has been stored yet' }).waitFor();
      expect([await shownFor('Events'), await shownFor('Skipped'), await shownFor('People')]).toEqual(['3', '3', '1']);
      await page.getByRole('cell', { name: 'umami-event-data.csv:5, umami.csv:4' }).waitFor();
      await expectNoFindings(visited);
      await page.getByRole('button', { name: 'Import 3 events' }).click();
      await page.getByRole('region', { name: 'Imported' }).waitFor();
      expect(`${await shownFor('Stored now')} ${await shownFor('Already there')}`).toBe(counts);
      await expectNoFindings(visited);
    }
    expect(await isCounted()).toBe(1);
    // The real ones only: a dry run sends nothing.
    const begun = { action: 'import.begun', details: { source: 'umami', files: 2 } };
    const ended = { action: 'import.ended', outcome: 'completed', details: { source: 'umami', events: 3 } };
    await eventually(async () => {
      const trail = await shop.postgres('audit_entries').where('action', 'like', 'import.%').orderBy('at');
      expect(trail).toMatchObject([begun, ended, begun, ended]);
    });
    await page.goto(shop.addressOf('/settings/audit'));
    await page.getByRole('rowheader', { name: 'import.ended' }).first().waitFor();
  });

  test('an import can be cancelled, and is refused with what is wrong', async () => {
    const visited = await shop.visit('/settings/import');
    const { page } = visited;
    await page.getByLabel('From').selectOption('access-log');
    const line = '203.0.113.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "Mozilla/5.0"\n';
    // A path: the bytes of a buffer would go through the connection to the browser.
    const folder = mkdtempSync(join(tmpdir(), 'console-import-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'access.log'), line.repeat(400_000));
    await page.getByLabel('Files').setInputFiles(join(folder, 'access.log'));
    await page.getByRole('button', { name: 'Check the files' }).click();
    await page.getByRole('progressbar', { name: 'Progress of the check' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alert').filter({ hasText: 'Cancelled' }).waitFor();
    await expectNoFindings(visited);

    const send = async (search: string, body: string | Buffer) => {
      const cookie = `service_session=${shop.owner.get('service_session')}`;
      const init = { method: 'POST', headers: { cookie, 'Content-Type': 'application/octet-stream' }, body };
      const response = await fetch(`${shop.url}/api/projects/${shop.id}/imports?${search}`, init);
      return `${response.status} ${await response.text()}`;
    };
    const head = (bytes: number, name = 'a.csv') => `${JSON.stringify([{ name, bytes }])}\n`;
    const refused: readonly (readonly [search: string, body: string, problem: RegExp])[] = [
      ['source=plausible', head(0), /^400 .*sums/],
      ['source=hotjar', head(0), /^400 .*cannot import \\"hotjar\\"; the sources are mixpanel/],
      ['source=umami', 'a,b\n', /^400 .*the first line is not a list of files/],
      ['source=umami', head(0, '../a.csv'), /^400 .*is no name of a file/],
      ['source=umami', head(9), /^400 .*the upload ends within a\.csv/],
      ['source=umami', `${head(1)}ab`, /^400 .*more bytes than its files/],
      ['source=umami', head(2 ** 40), /^413 .*the limit of an upload is 104857600/],
      ['source=umami&timezone=Mars', head(0), /^400 .*is no time zone/],
    ];
    // The cancelled import ends when its thread has.
    await eventually(async () =>
      expect(await send('source=umami&dry_run=true', head(0))).toMatch(/^200 \{"summary":\{"read":0/),
    );
    for (const [search, body, problem] of refused) expect(await send(search, body)).toMatch(problem);
  });

  test('show a token once, and revoke it', async () => {
    const visited = await shop.visit('/settings/tokens');
    const { page } = visited;
    await page.getByRole('textbox', { name: 'Name' }).fill('Robot');
    await page.getByRole('button', { name: 'Create token' }).click();
    const token = (await page.getByText(/^aat_/).first().textContent()) ?? '';
    const use = async () =>
      (await fetch(`${shop.url}/query`, { method: 'POST', headers: { 'X-API-Key': token }, body: '{"q":"*"}' })).status;
    expect(await use()).toBe(200);
    await page.getByRole('rowheader', { name: /Robot/ }).waitFor();
    await expectNoFindings(visited);
    await page.reload();
    await page.getByRole('rowheader', { name: /Robot/ }).waitFor();
    expect(await page.content()).not.toContain(token);
    await page.getByRole('button', { name: 'Revoke Robot' }).click();
    const asking = page.getByRole('dialog', { name: 'Revoke Robot' });
    await expectNoFindings(visited);
    expect(await use()).toBe(200);
    await asking.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('cell', { name: 'Revoked' }).waitFor();
    await eventually(async () => expect(await use()).toBe(401));
  });

  test('connect an agent with a token made in place, by the configuration that is shown', async () => {
    const visited = await shop.visit('/settings/agents');
    const { page } = visited;
    const shown = page.locator('pre').last();
    expect(await shown.textContent()).toContain('Bearer aat_…');
    // For clients that use OAuth.
    expect(await page.locator('pre').first().textContent()).toBe(`${shop.url}/mcp`);
    await page.getByRole('checkbox', { name: 'read and write dashboards' }).check();
    await page.getByRole('button', { name: 'Create token' }).click();
    const token = (await page.getByText(/^aat_\w+$/).textContent()) ?? '';
    expect(await shown.textContent()).toContain(`claude mcp add --transport http analytics ${shop.url}/mcp`);
    expect(await shown.textContent()).toContain(`Authorization: Bearer ${token}`);
    await expectNoFindings(visited);
    for (const client of ['Cursor', 'VS Code', 'Claude Desktop', 'Another client']) {
      await page.getByRole('combobox', { name: 'Client' }).selectOption(client);
      expect(JSON.stringify(JSON.parse((await shown.textContent()) ?? ''))).toContain(`Bearer ${token}`);
    }
    const { url, headers } = JSON.parse((await shown.textContent()) ?? '');
    const agent = await connectAgent(new URL(url).origin, headers);
    expect((await agent.listTools()).map(({ name }) => name)).toContain('save_dashboard');
    const { rows } = await shop.ask('* | last 30d | count');
    const { text } = await agent.call('query', { q: '* | last 30d | count', format: 'json' });
    expect(text).toContain(`"count":${rows[0]?.count},`);
    await agent.close();
  });

  test('list members, invite, and plot usage', async () => {
    const visited = await shop.visit('/settings/members');
    const { page } = visited;
    await page.getByRole('combobox', { name: `Role of ${MEMBER}` }).waitFor();
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('new@example.com');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByText(/\/invitations\//).waitFor();
    const revoke = page.getByRole('button', { name: 'Revoke new@example.com' });
    await revoke.waitFor();
    await expectNoFindings(visited);
    await revoke.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText(/\/invitations\//).waitFor({ state: 'detached' });
    await page.route('**/invitations', (route) => route.fulfill({ status: 503, body: '{"error":"not now"}' }));
    await page.reload();
    await page.getByRole('region', { name: 'Invitations' }).getByRole('alert').filter({ hasText: 'not now' }).waitFor();
    await page.goto(shop.addressOf('/settings/usage'));
    await page.getByRole('img', { name: /Events received by day/ }).waitFor();
    await expectNoFindings(visited);
  });

  test('of a member hold no secret key, and no parts of owners', async () => {
    const { page, context } = await shop.openBrowser({ jar: member });
    const answers: Promise<string>[] = [];
    page.on('response', (response) => answers.push(response.text().catch(() => '')));
    await page.goto(shop.addressOf('/start'));
    await page.getByText('Public key').waitFor();
    await page.goto(shop.addressOf('/settings'));
    await page.getByText('Public key').waitFor();
    await page.getByText('Admins and owners can change these.').waitFor();
    expect(await page.getByText('Secret key').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Members' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    await page.goto(shop.addressOf('/settings/audit'));
    await page.getByText('There is no such part').waitFor();
    const all = (await Promise.all(answers)).join();
    expect(all).toContain(shop.publicKey);
    expect(all).not.toContain(shop.secretKey);
    await context.close();
  });
});
