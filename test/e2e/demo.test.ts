// `npm run demo` against the processes of the service: runs the command as a process, asks its
// questions over HTTP, and checks that each answer shows the pattern that the data was made with.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireProject } from '../../src/accounts/projects.js';
import { createOrganization, createProject } from '../../src/accounts/store.js';
import { QUESTIONS } from '../../src/demo/stories.js';
import { type ProjectId, toProjectId } from '../../src/platform/ids.js';
import { packageRoot } from '../../src/platform/paths.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { eventually } from '../support/eventually.js';
import { pressCtrlC, shellStatusOf } from '../support/press-ctrl-c.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

type Row = Readonly<Record<string, unknown>>;

let databases: TestDatabases;
let processes: ProcessGroup;
let postgres: Postgres;
let otherId: ProjectId;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  const organization = await createOrganization(postgres, { name: 'Own', isStandalone: true });
  const own = { organizationId: organization.id, name: 'Demo shop', secretKeyBase: databases.config.SECRET_KEY_BASE };
  otherId = (await createProject(postgres, own)).id;
  processes = await startProcesses(databases.env);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const demo = (...args: string[]): Promise<Ended> => start(...args).ended;

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(...args: string[]): { readonly interrupt: () => void; readonly ended: Promise<Ended> } {
  const child = spawn(process.execPath, [join(packageRoot, 'dist', 'cli', 'demo.js'), ...args], {
    env: { ...process.env, ...databases.env, SERVICE_URL: processes.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (status, signal) => resolve({ status: shellStatusOf(status, signal), ...output })),
  );
  return { interrupt: () => void pressCtrlC(child), ended };
}

const demoProjects = (): Promise<{ id: string; name: string; deleted_at: Date | null }[]> =>
  postgres('projects').where({ is_demo: true }).orderBy('id').select('id', 'name', 'deleted_at');

async function ask(q: string): Promise<{ rows: readonly Row[] } & Row> {
  const [project] = (await demoProjects()).filter(({ deleted_at: deletedAt }) => deletedAt === null);
  const reading = { viewer: 'admin_key', secretKeyBase: databases.config.SECRET_KEY_BASE } as const;
  const { secret_key: key } = await requireProject(postgres, toProjectId(project?.id ?? ''), reading);
  const response = await fetch(`${processes.url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key ?? '' },
    body: JSON.stringify({ q, format: 'json', limit: 1000 }),
  });
  const text = await response.text();
  expect(response.status, `${q}: ${text}`).toBe(200);
  return JSON.parse(text);
}

const askAbout = (word: string) => {
  const found = QUESTIONS.filter(({ question }) => question.includes(word));
  expect(found).toHaveLength(1);
  return ask(found[0]?.q ?? '');
};

describe('npm run demo', () => {
  test('creates the project, its events and dashboards, and prints the questions', async () => {
    const { status, stdout, stderr } = await demo('--people', '4000');
    expect({ status, stderr: stderr.replaceAll(/^.*events\/s.*\n/gm, '') }).toEqual({ status: 0, stderr: '' });
    for (const { question, q } of QUESTIONS) expect(stdout).toContain(`  ${question}\n    ${q}\n`);
    expect(QUESTIONS).toHaveLength(5);
    const [count] = (await ask('* | last 91d | count')).rows;
    expect(stdout).toContain(` ${String(count?.value).replace(/(\d{3})$/, ',$1')} events`);
    const [project] = await demoProjects();
    const stored = await postgres('dashboards').where({ project_id: project?.id }).orderBy('key').select('key');
    expect(stored.map(({ key }) => key)).toEqual(['demo-growth', 'demo-shop']);
  }, 240_000);

  test('"Which campaign" shows customers from the newsletter and few from the largest campaign', async () => {
    const { rows } = await askAbout('Which campaign');
    const step = (campaign: string, number: number) =>
      rows.find((row) => row['event_properties.utm_campaign'] === campaign && row.step === number);
    expect(step('latte-art', 1)?.users).toBeGreaterThan(2 * Number(step('monthly-letter', 1)?.users));
    expect(step('monthly-letter', 2)?.rate).toBeGreaterThan(5 * Number(step('latte-art', 2)?.rate));
    expect(step('monthly-letter', 3)?.users).toBeGreaterThan(5 + Number(step('latte-art', 3)?.users));
  });

  test('"Why do fewer" shows one browser version', async () => {
    const { rows } = await askAbout('Why do fewer');
    const purchases = rows.filter(({ step }) => step === 2);
    const [worst, ...others] = [...purchases]
      .filter(({ _browser_version: version }) => ['26.1', '26.0', '142.0.0.0'].includes(String(version)))
      .sort((a, b) => Number(a.rate) - Number(b.rate));
    expect(worst?._browser_version).toBe('26.1');
    const errors = await ask('checkout_error[message = "payment form did not respond"] | last 30d | count by _browser');
    expect(errors.rows.map(({ _browser: browser }) => browser)).toEqual(['Mobile Safari']);
    expect(others.length).toBeGreaterThanOrEqual(1);
    for (const { rate } of others) expect(rate).toBeGreaterThan(2 * Number(worst?.rate));
  });

  test('"one page" shows that the treatment is better', async () => {
    const answer = await askAbout('one page');
    expect(answer.decision_status).toBe('treatment_better');
    expect(answer.rows.map(({ variant_key: key }) => key)).toEqual(['control', 'one-page']);
  });

  test('"Which plan" shows that few businesses bring most revenue', async () => {
    const { rows } = await askAbout('Which plan');
    expect(rows[0]?.['user.plan']).toBe('business');
    expect(Number(rows[0]?.value)).toBeGreaterThan(1.3 * Number(rows[1]?.value));
    const people = await ask('users | last 90d | count by plan');
    expect(people.rows.at(-1)?.plan).toBe('business');
  });

  test('"the sale" shows twice the purchases on its four days', async () => {
    const { rows } = await askAbout('the sale');
    const totals = rows.map(({ value }) => Number(value)).sort((a, b) => b - a);
    const median = totals[Math.floor(totals.length / 2)];
    expect(totals[0]).toBeGreaterThan(2 * Number(median));
    const firstDayMs = Math.floor(Date.now() / 86_400_000 - 89) * 86_400_000;
    const best = rows.find(({ value }) => value === totals[0]);
    const saleDays = [63, 64, 65, 66].map((day) => new Date(firstDayMs + day * 86_400_000).toISOString().slice(0, 10));
    expect(saleDays).toContain(best?.day);
  });

  test('enriches events with countries, browsers, pages and sessions', async () => {
    const countries = await ask('* | last 90d | unique by _country | top 3');
    expect(countries.rows.map(({ _country: country }) => country).sort()).toEqual(['DE', 'GB', 'US']);
    expect((await ask('* | last 90d | where _browser = "Firefox" | count')).rows[0]?.value).toBeGreaterThan(100);
    expect((await ask('* | last 90d | where _path = "/checkout" | count')).rows[0]?.value).toBeGreaterThan(100);
    const sources = await ask('signup | last 90d | count by session.utm_source');
    expect(sources.rows.map((row) => row['session.utm_source'])).toContain('newsletter');
  });

  test('creates dashboards of all card kinds, and every card has rows', async () => {
    const [project] = await demoProjects();
    const stored: { config: { sections: { cards: { id: string; kind: string; query?: string }[] }[] } }[] =
      await postgres('dashboard_versions')
        .join('dashboards', 'dashboards.id', 'dashboard_id')
        .where({ project_id: project?.id })
        .select('config');
    const cards = stored.flatMap(({ config }) => config.sections.flatMap(({ cards: ofSection }) => ofSection));
    expect(new Set(cards.map(({ kind }) => kind)).size).toBe(13);
    for (const { id, query } of cards) {
      if (query === undefined) continue;
      const filled = query.replaceAll('{{range.stage}}', '| last 30d').replaceAll(/\{\{[\w.]+\}\}/g, '');
      expect((await ask(filled)).rows.length, `${id}: ${filled}`).toBeGreaterThan(0);
    }
  });

  test('fails without changes when a demo project exists', async () => {
    const { status, stderr } = await demo('--people', '50');
    expect(status).toBe(1);
    expect(stderr).toContain('has a demo project already');
    expect(await demoProjects()).toHaveLength(1);
  });

  test('--refresh replaces and --delete deletes the demo project, and no other of the same name', async () => {
    expect((await demo('--refresh', '--people', '50')).status).toBe(0);
    const [first, second] = await demoProjects();
    expect([first?.deleted_at === null, second?.deleted_at === null]).toEqual([false, true]);

    expect((await demo('--delete')).stdout).toContain(`deleted the project "Demo shop" (${second?.id})`);
    expect((await demo('--delete')).stdout).toBe('there is no demo project\n');
    expect((await demoProjects()).filter(({ deleted_at: deletedAt }) => deletedAt === null)).toEqual([]);
    const [other] = await postgres('projects').where({ id: otherId }).select('deleted_at', 'is_demo');
    expect(other).toEqual({ deleted_at: null, is_demo: false });
  });

  test('leaves no project after Ctrl-C, and begins again', async () => {
    const existing = async () => (await demoProjects()).filter(({ deleted_at: deletedAt }) => deletedAt === null);
    const interrupted = start('--people', '4000');
    await eventually(async () => expect(await existing()).toHaveLength(1));
    interrupted.interrupt();
    const stderr = 'interrupted; the incomplete demo project is deleted: run the same command again\n';
    expect(await interrupted.ended).toEqual({ status: 130, stdout: '', stderr });
    expect(await existing()).toEqual([]);
    expect((await demo('--people', '50')).status).toBe(0);
    expect((await demo('--delete')).status).toBe(0);
  });

  test('leaves no project when the service refuses the events', async () => {
    const { status, stderr } = await demo('--people', '50', '--url', `${processes.url}/elsewhere`);
    expect(status).toBe(1);
    expect(stderr).toContain('refused the events');
    expect((await demoProjects()).filter(({ deleted_at: deletedAt }) => deletedAt === null)).toEqual([]);
  });
});
