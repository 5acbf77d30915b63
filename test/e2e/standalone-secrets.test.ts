// Secrets of `npm start`: on the terminal, in files, in command lines.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { eventually } from '../support/eventually.js';
import { OTHER_ACCOUNT_ID } from '../support/other-account.js';
import { type StandaloneKeys, startStandalone, type TestStandalone } from '../support/stack-standalone.js';
import { takePort } from '../support/take-port.js';

const directory = mkdtempSync(join(tmpdir(), 'event-analytics-e2e-'));
let standalone: TestStandalone;
let file: StandaloneKeys;

beforeAll(async () => {
  // Created with permissions for other users.
  chmodSync(directory, 0o755);
  standalone = await startStandalone({ dataDirectory: directory });
  file = await standalone.ready();
});

afterAll(async () => {
  standalone.signal('SIGTERM');
  await standalone.ended();
  rmSync(directory, { recursive: true, force: true });
});

const run = (script: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [join(packageRoot, script), ...args], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: directory },
  });
const shownKeys = async (): Promise<string> => (await run('tools/start.mjs', '--keys')).stdout;
const secretsOf = (text: string): string[] => text.match(/\b(?:sk|ak)_[0-9A-Za-z]{32}\b/g) ?? [];

async function rotate(path: string): Promise<Record<string, string>> {
  const response = await fetch(`${file.url}${path}`, { method: 'POST', headers: { 'x-api-key': file.admin_key } });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, string>;
}

describe('keys of npm start', () => {
  test('are printed on a terminal at the first start only, and never to a log', async () => {
    expect(secretsOf(standalone.output())).toEqual([]);
    expect(standalone.output()).toContain('npm start -- --keys');
    const other = mkdtempSync(join(tmpdir(), 'event-analytics-e2e-'));
    try {
      expect(secretsOf(await startOnTerminal(other))).toHaveLength(2);
      expect(secretsOf(await startOnTerminal(other))).toEqual([]);
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  }, 240_000);

  test('are printed by --keys, in their current values', async () => {
    expect(secretsOf(await shownKeys())).toEqual([file.secret_key, file.admin_key]);
    const { secret_key: rotated } = await rotate(`/api/admin/projects/${file.project_id}/rotate-secret-key`);
    expect(rotated).not.toBe(file.secret_key);
    expect(secretsOf(await shownKeys())).toEqual([rotated, file.admin_key]);
  });

  test('of an import are the current ones', async () => {
    await rotate(`/api/admin/projects/${file.project_id}/rotate-secret-key`);
    const log = join(directory, 'access.log');
    writeFileSync(log, '203.0.113.7 - - [10/Oct/2026:13:55:36 +0000] "GET /a HTTP/1.1" 200 12 "-" "Mozilla/5.0"\n');
    const runs = [
      { project: [], stored: 1, known: 0 },
      { project: ['--project', file.project_id], stored: 0, known: 1 },
    ];
    for (const { project, stored, known } of runs) {
      const { stdout } = await run('tools/run.mjs', 'dist/cli/import.js', 'access-log', log, ...project);
      expect(stdout).toMatch(/^events +1$/m);
      expect(stdout).toMatch(new RegExp(`^stored +${stored}\nthere already +${known}$`, 'm'));
    }
  });

  test('an unknown option is refused', async () => {
    await expect(run('tools/start.mjs', '--key')).rejects.toMatchObject({
      stderr: expect.stringContaining('npm start has no option --key; it has --keys, --lost and --yes.'),
    });
  });
});

test("npm start removes other users' access to DATA_DIR and everything in it", () => {
  const paths = [directory, ...readdirSync(directory).map((name) => join(directory, name))];
  const modes = paths.map((path) => [path, statSync(path).mode & 0o077] as const);
  expect(modes.filter(([path, mode]) => mode !== 0 && !path.endsWith('access.log'))).toEqual([]);
});

// Only the owner of a folder may change its mode. Root creates one for a process of another user.
test.runIf(process.getuid?.() === 0)('npm start refuses a DATA_DIR that it cannot close to other users', () => {
  const open = mkdtempSync(join(tmpdir(), 'event-analytics-e2e-'));
  chmodSync(open, 0o755);
  const { status, stderr } = spawnSync(process.execPath, [join(packageRoot, 'dist/standalone/main.js')], {
    cwd: '/',
    env: { PATH: process.env.PATH, DATA_DIR: open },
    ...{ uid: OTHER_ACCOUNT_ID, gid: OTHER_ACCOUNT_ID, encoding: 'utf8' },
  });
  rmSync(open, { recursive: true });
  expect(stderr).toMatch(`${open} is open to other users of this machine (mode 755) and cannot be closed: `);
  expect(status).toBe(1);
});

test('no command line contains a secret', () => {
  const secrets = Object.values(JSON.parse(readFileSync(join(directory, 'secrets.json'), 'utf8')) as object).map(
    String,
  );
  expect(secrets.length).toBeGreaterThan(4);
  const pids = [...standalone.pids().values()];
  expect(pids).toHaveLength(7);
  for (const pid of pids) {
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    for (const secret of [...secrets, file.secret_key, file.admin_key]) expect(commandLine).not.toContain(secret);
  }
});

test('the environment of an engine contains no secret of the service', () => {
  for (const name of ['postgres', 'redis', 'clickhouse']) {
    const environment = readFileSync(`/proc/${standalone.pids().get(name)}/environ`, 'utf8');
    expect(environment).not.toMatch(/SECRET|PASSWORD|DATABASE_URL|IDP_/);
  }
});

/** Its output on a pseudo-terminal, until it has said that it is ready and stopped. */
async function startOnTerminal(dataDirectory: string): Promise<string> {
  const port = String(await takePort());
  const child = spawn('script', ['-qefc', `exec "${process.execPath}" tools/start.mjs`, '/dev/null'], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDirectory, PORT: port },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await eventually(() => expect(output).toContain('keeps the data.'), 60_000);
  const lock = JSON.parse(readFileSync(join(dataDirectory, 'instance.lock'), 'utf8')) as { holder: { pid: number } };
  process.kill(lock.holder.pid, 'SIGTERM');
  await ended;
  return output;
}

test('the program `script`, which provides a terminal, is installed', () =>
  expect(spawnSync('script', ['--version']).status).toBe(0));
