// The examples, run with the packed clients only: installed offline in empty folders, against the
// real processes.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { packageRoot } from '../../src/platform/paths.js';
import { launchBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { runProgram } from '../support/programs.js';
import { startScriptedServer } from '../support/scripted-server.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { takePort } from '../support/take-port.js';
import { createTestProject } from '../support/track.js';

let databases: TestDatabases;
let processes: ProcessGroup;
let project: NewProject;
let folder: string;
const started: ChildProcess[] = [];

beforeAll(async () => {
  databases = await createTestDatabases();
  project = await createTestProject(databases);
  processes = await startProcesses(databases.env);
  folder = mkdtempSync(join(tmpdir(), 'event-analytics-examples-'));
});

afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await processes?.stop();
  await databases?.close();
  rmSync(folder, { recursive: true, force: true });
});

const fromRoot = (...path: string[]): string => join(packageRoot, ...path);

/** The rows of a query, once there are any and they pass. */
const answered = (q: string, expected: readonly object[]) =>
  eventually(async () => {
    const response = await fetch(`${processes.url}/query`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': project.secretKey },
      body: JSON.stringify({ q, format: 'json' }),
    });
    const { rows } = (await response.json()) as { rows: unknown };
    expect(rows).toMatchObject(expected);
  }, 30_000);

test('the static page example sends page views and identifies a user', async () => {
  const site = await startScriptedServer();
  const page = readFileSync(fromRoot('examples', 'static-page', 'index.html'), 'utf8');
  site.pages.set(
    '/',
    page.replace('http://localhost:8080', processes.url).replace('pk_YOUR_PUBLIC_KEY', project.publicKey),
  );
  const browser = await launchBrowser();
  try {
    const tab = await browser.newPage();
    await tab.goto(site.url);
    await tab.click('#buy');
    await tab.click('#sign-in');
    await tab.click('#buy');
    expect(await tab.textContent('#offer')).toMatch(/Shipping/);
    await tab.goto('about:blank');
    // Checked before the browser is closed, which then sends the events left by the page.
    await answered('* | last 1h | count by event_type', [
      { event_type: 'purchase', count: 2 },
      { event_type: 'page_view', count: 1 },
      { event_type: 'service.exposure', count: 1 },
    ]);
    // Events before the sign-in count for Ada as well.
    await answered('purchase | last 1h | count by distinct_id', [{ distinct_id: 'ada', count: 2 }]);
  } finally {
    await browser.close();
    await site.close();
  }
});

test('the Express example works with the packed Node client', { timeout: 240_000 }, async () => {
  const app = join(folder, 'express');
  cpSync(fromRoot('examples', 'express'), app, { recursive: true });
  const packed = runProgram(
    'npm',
    ['pack', '--silent', fromRoot('clients', 'node'), '--pack-destination', folder],
    'npm',
  );
  const archive = join(folder, packed.trim().split('\n').at(-1) ?? '');
  writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }');
  runProgram(
    'npm',
    ['install', '--prefix', app, '--offline', '--no-audit', '--no-fund', '--loglevel=error', archive],
    'npm',
  );
  expect(readdirSync(join(app, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    'event-analytics-node',
  ]);
  symlinkSync(fromRoot('node_modules', 'express'), join(app, 'node_modules', 'express'));

  const port = await takePort();
  const env = {
    PATH: process.env.PATH,
    SERVICE_URL: processes.url,
    SERVICE_KEY: project.secretKey,
    PORT: String(port),
  };
  const child = spawn(process.execPath, ['app.js'], { cwd: app, env, stdio: 'inherit' });
  started.push(child);
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    const response = await fetch(`${url}/sign-up`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ userId: 'grace', deviceId: 'd-7', email: 'grace@example.com', plan: 'pro' }),
    });
    expect(response.status).toBe(201);
  });
  const variants = new Set<string>();
  for (let n = 0; n < 3; n += 1) variants.add(await (await fetch(`${url}/checkout/grace`)).text());
  expect(variants.size).toBe(1);
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
  await answered('signup | last 1h | count by event_properties.plan', [{ count: 1 }]);
  await answered('choice checkout | last 1h | count by user_id', [{ user_id: 'grace', count: 1 }]);
  await answered('users | where email_domain = "example.com" | where user_id = "grace"', [{ user_id: 'grace' }]);
});

test('the example of Express builds the Node client of a fresh clone when it starts', { timeout: 240_000 }, () => {
  const clone = join(folder, 'clone');
  const [client, built] = [fromRoot('clients', 'node'), fromRoot('clients', 'node', 'dist')];
  cpSync(client, join(clone, 'clients', 'node'), { recursive: true, filter: (path) => path !== built });
  cpSync(fromRoot('tsconfig.json'), join(clone, 'tsconfig.json'));
  symlinkSync(fromRoot('node_modules'), join(clone, 'node_modules'));
  const app = join(clone, 'examples', 'express');
  const manifest = JSON.parse(readFileSync(fromRoot('examples', 'express', 'package.json'), 'utf8'));
  const { 'event-analytics-node': source } = manifest.dependencies;
  mkdirSync(app, { recursive: true });
  const offline = { ...manifest, dependencies: { 'event-analytics-node': source } };
  writeFileSync(join(app, 'package.json'), JSON.stringify(offline));
  cpSync(fromRoot('examples', 'express', '.npmrc'), join(app, '.npmrc'));
  const quiet = ['--prefix', app, '--loglevel=error'];
  runProgram('npm', ['install', ...quiet, '--offline', '--no-audit', '--no-fund', '--ignore-scripts'], 'npm');
  writeFileSync(join(app, 'app.js'), "import { Client } from 'event-analytics-node'; console.log(typeof Client);");
  expect(runProgram('npm', ['start', ...quiet, '--silent'], 'npm').trim()).toBe('function');
  // The clone stays clean.
  expect(existsSync(join(app, 'package-lock.json'))).toBe(false);
});

test('the packed Node client is ESM and CommonJS with types, and can be bundled for browsers', async () => {
  const app = join(folder, 'express');
  writeFileSync(
    join(app, 'plain.cjs'),
    "const { Client } = require('event-analytics-node'); const c = new Client({ key: 'k', host: 'http://x' }); console.log(c.assign('a', ['b'], { user_id: 'u' }).variant_key); c.close();",
  );
  expect(runProgram(process.execPath, [join(app, 'plain.cjs')], 'nodejs').trim()).toBe('b');
  const installed = join(app, 'node_modules', 'event-analytics-node', 'dist');
  for (const form of ['esm', 'cjs']) expect(existsSync(join(installed, form, 'index.d.ts'))).toBe(true);
  const { outputFiles } = await build({
    stdin: { contents: "export { Client } from 'event-analytics-node'", resolveDir: app },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
  });
  expect(outputFiles[0]?.text).not.toContain('node:');
});

test('npm run types writes the types of the events that were sent', async () => {
  const sent = await fetch(`${processes.url}/track?wait=1`, {
    method: 'POST',
    headers: { 'X-API-Key': project.secretKey },
    body: JSON.stringify({ event_type: 'typed event', event_properties: { plan: 'pro', 'Seat Count': 5 } }),
  });
  expect(await sent.json()).toEqual({ accepted: 1, counted: true });
  const types = (...args: string[]) => {
    const key = ['--url', processes.url, '--key', project.secretKey];
    return runProgram(process.execPath, [fromRoot('dist', 'cli', 'types.js'), ...key, ...args], 'nodejs');
  };
  await eventually(() =>
    expect(types()).toContain('"typed event": {\n    "Seat Count"?: number;\n    plan?: string;\n  };'),
  );
  expect(types('--language', 'python')).toContain('event_type: Literal["typed event"]');
});

test('the Python example works with the packed Python client', { timeout: 240_000 }, async () => {
  const environment = join(folder, 'venv');
  // A venv without pip is created quickly; the pip of the machine installs into it.
  runProgram('python3', ['-m', 'venv', '--without-pip', environment], 'python3-venv');
  const python = join(environment, 'bin', 'python');
  const pip = ['-m', 'pip', '--disable-pip-version-check', '-q'];
  runProgram(
    'python3',
    [...pip, 'wheel', '--no-index', '--no-deps', '-w', folder, fromRoot('clients', 'python')],
    'python3-pip',
  );
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl')) ?? '';
  runProgram('python3', [...pip, '--python', python, 'install', '--no-index', join(folder, wheel)], 'python3-pip');
  const script = fromRoot('examples', 'python', 'report.py');
  // The other examples have purchases, too, and the script prints the first answer with rows.
  const { secretKey } = await createTestProject(databases);
  // Asynchronous, so that this process stays responsive.
  const child = spawn(python, [script], {
    env: { SERVICE_URL: processes.url, SERVICE_KEY: secretKey },
    cwd: folder,
  });
  started.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await new Promise((resolve) => child.once('close', resolve));
  expect(output).toMatch(/\| tools +\| +99\.9 \|/);
  expect(output).toMatch(/\| books +\| +12\.5 \|/);
  expect(output).not.toContain('Warning');
});
