// `npm start`: normal use at the terminal, restarts and failures.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot, SERVICE_ENVIRONMENT_FILE } from '../../src/platform/paths.js';
import { findProcess } from '../../standalone/process-identity.js';
import { launchBrowser } from '../support/browser.js';
import { shellBlocksOf } from '../support/documentation.js';
import { eventually } from '../support/eventually.js';
import { inherited } from '../support/inherited.js';
import { type StandaloneKeys, startStandalone, type TestStandalone } from '../support/stack-standalone.js';

const directories: string[] = [];
const started: TestStandalone[] = [];

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'event-analytics-e2e-'));
  directories.push(directory);
  return directory;
}

async function start(
  dataDirectory: string,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<TestStandalone> {
  const standalone = await startStandalone({ dataDirectory, env, args });
  started.push(standalone);
  return standalone;
}

async function stopAll(): Promise<void> {
  for (const standalone of started.splice(0)) {
    standalone.signal('SIGTERM');
    await standalone.ended();
  }
}

async function track(file: StandaloneKeys, insertId: string): Promise<void> {
  const response = await fetch(`${file.url}/track`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': file.public_key },
    body: JSON.stringify({ event_type: 'signup', user_id: 'ada', insert_id: insertId }),
  });
  expect([response.status, await response.text()]).toEqual([200, '{"accepted":1}']);
}

async function countOf(file: StandaloneKeys): Promise<unknown> {
  const response = await fetch(`${file.url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': file.secret_key },
    body: JSON.stringify({ q: 'signup | last 1d | count', format: 'json' }),
  });
  const answer = (await response.json()) as { rows?: { value: number }[] };
  if (answer.rows === undefined) throw new Error(JSON.stringify(answer));
  return answer.rows[0]?.value;
}

const isRunning = (pid: number): boolean => findProcess(pid) !== undefined;

afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

describe('npm start', () => {
  const directory = newDirectory();
  let standalone: TestStandalone;
  let file: StandaloneKeys;

  beforeAll(async () => {
    standalone = await start(directory);
    file = await standalone.ready();
  });
  afterAll(stopAll);

  test('prints its address and the next steps', { timeout: 240_000 }, () => {
    const output = standalone.output();
    for (const part of [`${file.url}/login`, file.public_key, 'npm start -- --keys', 'npm run demo', 'access-log']) {
      expect(output).toContain(part);
    }
    // As it is pasted: the query counts the event of the line above it.
    const pasted = output.split('\n').filter((line) => /^ {2}(?:export|eval|curl) /.test(line));
    const { stdout } = spawnSync('bash', ['-ec', pasted.join('\n')], {
      cwd: packageRoot,
      encoding: 'utf8',
      env: inherited('PATH', 'HOME', 'NODE_EXTRA_CA_CERTS'),
    });
    expect(stdout).toMatch(/^\{"accepted":1,"counted":true\}\n[\s\S]*signup +\| +1 /);
  });

  // npm may install and build first, on a busy machine beside other tests.
  test('does what the README says, in a second terminal', { timeout: 240_000 }, () => {
    const [start, second = ''] = shellBlocksOf('README.md');
    expect(start).toBe('npm start\n');
    const { status, stdout, stderr } = spawnSync('bash', ['-ec', second], {
      cwd: packageRoot,
      encoding: 'utf8',
      env: { ...inherited('PATH', 'HOME', 'NODE_EXTRA_CA_CERTS'), DATA_DIR: directory },
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    // The answers stand in the order of the commands: the query counts the event at once.
    expect(stdout).toMatch(
      /"counted":true\}\n[\s\S]*\| team +\| +1 \|[\s\S]*\{"ok":true\}[\s\S]*The project "Demo shop"/,
    );
  });

  test('marks its build by each of its processes, so that newer builds keep its files', () => {
    const builds = readdirSync(join(packageRoot, 'dist', 'builds'), { recursive: true, encoding: 'utf8' });
    const marks = builds.map((path) => basename(path));
    for (const name of ['web', 'query', 'worker', 'sign-in']) {
      expect(marks).toContain(`used-by-${standalone.pids().get(name)}`);
    }
  });

  test('lets a developer sign in with a browser, run a query and sign out', async () => {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 360, height: 800 } });
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('request', (request) => {
        if (new URL(request.url()).hostname !== '127.0.0.1') complaints.push(request.url());
      });
      const isTooWide = () => page.evaluate('document.documentElement.scrollWidth > innerWidth');

      await page.goto(file.url);
      expect(await isTooWide()).toBe(false);
      await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).click();
      await page.getByRole('link', { name: 'Sign in with the local provider' }).click();
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(`${file.url}/projects/${file.project_id}/ask`);
      const query = page.locator('.cm-content[aria-label="Query"]');
      await query.click();
      await page.keyboard.insertText('signup | last 7d | count');
      await page.keyboard.press('Control+Enter');
      await page.getByRole('region', { name: 'Answer' }).getByText('1 row', { exact: true }).waitFor();
      expect(await isTooWide()).toBe(false);
      expect(complaints).toEqual([]);

      await page.goto(`${file.url}/projects/${file.project_id}/start`);
      await page.getByText(file.public_key, { exact: true }).first().waitFor();
      expect(await page.content()).not.toContain(file.secret_key);
      expect(await isTooWide()).toBe(false);

      await page.getByRole('button', { name: /^Account/ }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { level: 1, name: 'Ask your product a question.' }).waitFor();
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  test('stores its keys in files that only their owner can read', () => {
    for (const name of ['standalone.json', 'secrets.json']) {
      expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    }
    expect(Object.keys(file)).toEqual([
      ...['url', 'organization_id', 'project_id', 'public_key', 'secret_key', 'admin_key'],
    ]);
  });

  test('gives its stores and its address to commands in a second terminal', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['dist/src/platform/migrate.js', '--wait'], {
      cwd: packageRoot,
      encoding: 'utf8',
      env: { ...inherited('PATH'), DATA_DIR: directory },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('migrated');
    const settings: unknown = JSON.parse(readFileSync(join(directory, SERVICE_ENVIRONMENT_FILE), 'utf8'));
    expect(settings).toMatchObject({ PUBLIC_URL: file.url });
  });

  test('refuses a second instance on the same DATA_DIR', async () => {
    const second = await start(directory);
    expect(await second.ended()).toBe(1);
    expect(second.output()).toMatch(/is in use by another instance \(process \d+\)\.\n$/);
    expect((await fetch(`${file.url}/readyz`)).status).toBe(200);
  });

  test('exits with a message when the port is in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const second = await start(newDirectory(), { PORT: String(port) });
    expect(await second.ended()).toBe(1);
    expect(second.output()).toBe(
      `Port ${port} of 127.0.0.1 cannot be used: it is taken by another program; set PORT to another one.\n`,
    );
    taken.close();
  });

  test.each([
    ['PUBLIC_URL', 'localhost:80', 'PUBLIC_URL is localhost:80; it has to be an address like https://analytics'],
    ['REDIS_URL', 'localhost:6379', 'Redis (REDIS_URL) is not an address like redis://localhost:6379: localhost:6379'],
    ['IDP_PRESET', 'google', 'Sign-in is configured in part: IDP_PRESET without IDP_CLIENT_ID.'],
    ['HOST', '192.0.2.1', '; set HOST to an address of this machine.'],
  ])('exits with a message when %s is %s', async (name, value, problem) => {
    const second = await start(newDirectory(), { [name]: value });
    expect(await second.ended()).toBe(1);
    expect(second.output()).toContain(problem);
    expect(second.output()).not.toContain('    at ');
  });

  test('exits with what a process says about a wrong setting', async () => {
    const second = await start(newDirectory(), { FEATURES_OFF: 'reports' });
    expect(await second.ended()).toBe(1);
    expect(second.output()).toMatch(
      /web did not start: it ended with status 1: FEATURES_OFF: there is no feature "rep.*\n$/,
    );
  });

  test('exits with a message when a database is unreachable', async () => {
    const second = await start(newDirectory(), { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(await second.ended()).toBe(1);
    expect(second.output()).toContain('PostgreSQL (DATABASE_URL) cannot be reached at 127.0.0.1:1: ');
  });

  test.each(['web', 'query', 'worker', 'clickhouse', 'redis', 'postgres'])(
    'restarts a killed %s without losing events',
    async (name) => {
      const before = Number(await eventually(() => countOf(file)));
      const pid = standalone.pids().get(name) ?? 0;
      process.kill(pid, 'SIGKILL');
      await eventually(() => {
        expect(standalone.pids().get(name) ?? pid).not.toBe(pid);
      });
      await eventually(() => track(file, `after-${name}`));
      await eventually(async () => expect(await countOf(file)).toBe(before + 1));
    },
  );

  test('stops every process on Ctrl-C and starts again with its data', async () => {
    const before = await countOf(file);
    await track(file, 'accepted-just-before-the-end');
    const pids = [...standalone.pids().values()];
    expect(pids).toHaveLength(7);
    standalone.signal('SIGINT');
    expect(await standalone.ended()).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);

    standalone = await start(directory);
    const again = await standalone.ready();
    expect({ ...again, url: '' }).toEqual({ ...file, url: '' });
    await eventually(async () => expect(await countOf(again)).toBe(Number(before) + 1));
    file = again;
  });

  test('ends the orphaned processes of an instance that was killed', async () => {
    const before = await eventually(() => countOf(file));
    const { pid } = (JSON.parse(readFileSync(join(directory, 'instance.lock'), 'utf8')) as { holder: { pid: number } })
      .holder;
    const orphans = [...standalone.pids().values()];
    process.kill(pid, 'SIGKILL');
    await standalone.ended();

    standalone = await start(directory);
    file = await standalone.ready();
    expect(orphans.filter(isRunning)).toEqual([]);
    // Queries of the previous tests count toward the rate limit of the key.
    await eventually(async () => expect(await countOf(file)).toBe(before));
  });

  test('does not start without its events, unless an option says so', async () => {
    // Counted every 15 s.
    await eventually(async () => {
      const headers = { 'x-api-key': file.admin_key };
      const response = await fetch(`${file.url}/api/admin/projects/${file.project_id}/usage`, { headers });
      expect(await response.text()).toMatch(/"events_stored":[1-9]/);
    }, 60_000);
    await stopAll();
    rmSync(join(directory, 'clickhouse'), { recursive: true });
    const refused = await start(directory);
    expect(await refused.ended()).toBe(1);
    expect(refused.output()).toMatch(/it has no tables, but \d projects? lives? there: check CLICKHOUSE_URL/);

    standalone = await start(directory, {}, ['--lost', '1']);
    file = await standalone.ready();
    expect(await countOf(file)).toBe(0);
    await track(file, 'after-the-loss');
    await eventually(async () => expect(await countOf(file)).toBe(1));
  });
});

describe('npm start while it is starting', () => {
  afterEach(stopAll);

  test.each([
    ['on Ctrl-C', (standalone: TestStandalone) => standalone.signal('SIGINT')],
    [
      'when its terminal and its parent process end',
      (standalone: TestStandalone) => {
        standalone.closeTerminal();
        standalone.signal('SIGTERM');
      },
    ],
  ])('stops %s and leaves no process', async (_when, end) => {
    const standalone = await start(newDirectory());
    const pids = await eventually(() => {
      const found = [...standalone.pids().values()];
      expect(found.length).toBeGreaterThan(0);
      return found;
    }, 120_000);
    end(standalone);
    expect(await standalone.ended()).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
  });
});
