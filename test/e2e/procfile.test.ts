// The Procfile under a runner from the registry, as README.md starts it on a server: `release` on
// empty databases, then one process of each other line, `doctor` and `invite` beside them, until
// SIGTERM.
import { type ChildProcess, execFile as execFileCallback, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { eventually } from '../support/eventually.js';
import { inherited } from '../support/inherited.js';
import { createEmptyDatabases, type TestDatabases } from '../support/stack.js';
import { takePort } from '../support/take-port.js';
import { createTestProject, track } from '../support/track.js';

// The same in README.md, which does not name the version.
const RUNNER = 'foreman@3.0.1';
const execFile = promisify(execFileCallback);
const KINDS = ['web', 'query', 'worker'] as const;

let databases: TestDatabases;
let ports: Record<(typeof KINDS)[number], number>;
const folder = mkdtempSync(join(tmpdir(), 'event-analytics-e2e-'));
const groups: number[] = [];

beforeAll(async () => {
  databases = await createEmptyDatabases();
  ports = { web: await takePort(), query: await takePort(), worker: await takePort() };
});

afterAll(async () => {
  for (const group of groups) if (isRunning(group)) process.kill(-group, 'SIGKILL');
  await databases?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  /** Of the runner and of all processes. */
  readonly output: () => string;
}

/** In a process group of its own, which a service manager signals as a whole. */
function start(...processes: string[]): Run {
  // Not the settings of this folder.
  const runner = ['--yes', '--loglevel=error', RUNNER, 'start', '--env', join(folder, '.env'), '--raw'];
  const child = spawn('npx', [...runner, processes.join(',')], {
    cwd: packageRoot,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: settings(),
  });
  groups.push(child.pid ?? 0);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, ended, output: () => output };
}

const settings = (): Record<string, string | undefined> => ({
  ...inherited('PATH', 'HOME', 'NODE_EXTRA_CA_CERTS'),
  ...databases.env,
  ...{ PORT: String(ports.web), QUERY_PORT: String(ports.query), WORKER_PORT: String(ports.worker) },
  ...{ QUERY_URL: urlOf('query'), PUBLIC_URL: urlOf('web') },
});

/** Resolves with its standard output. */
const runCommand = async (name: string, ...args: string[]): Promise<string> => {
  const command = ['tools/run.mjs', `dist/cli/${name}.js`, ...args];
  return (await execFile(process.execPath, command, { cwd: packageRoot, env: settings() })).stdout;
};

const urlOf = (kind: (typeof KINDS)[number]): string => `http://127.0.0.1:${ports[kind]}`;

/** Whether a process of the group is left. */
function isRunning(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

test('a runner of Procfiles migrates, starts and ends the whole service', { timeout: 240_000 }, async () => {
  const release = start('release=1');
  expect({ status: await release.ended, output: release.output() }).toEqual({
    status: 0,
    output: expect.stringContaining('Exited Successfully'),
  });

  const service = start(...KINDS.map((kind) => `${kind}=1`));
  try {
    for (const kind of KINDS)
      await eventually(async () => expect((await fetch(`${urlOf(kind)}/readyz`)).status).toBe(200));
  } catch (error) {
    throw new Error(service.output(), { cause: error });
  }
  const { secretKey } = await createTestProject(databases);
  const sent = await track(`${urlOf('web')}`, secretKey, { event_type: 'signup' });
  expect(sent.status).toBe(200);
  await eventually(async () => {
    const response = await fetch(`${urlOf('web')}/query`, {
      method: 'POST',
      headers: { 'X-API-Key': secretKey },
      body: JSON.stringify({ q: 'signup | count', format: 'json' }),
    });
    expect(await response.json()).toMatchObject({ rows: [{ value: 1 }] });
  });
  // By the process of its own line, not by `web`.
  expect(await (await fetch(`${urlOf('query')}/metrics`)).text()).toMatch(/^query_duration_seconds_count.* [1-9]/m);

  // Fails with the advice when a check has failed.
  expect(await runCommand('doctor')).toContain('✓ ClickHouse');
  const link = (await runCommand('invite', 'you@example.com')).trim();
  expect(new URL(link).origin).toBe(urlOf('web'));
  expect(await (await fetch(link, { headers: { Accept: 'text/html' } })).text()).toContain('you@example.com');

  const group = service.child.pid ?? 0;
  process.kill(-group, 'SIGTERM');
  await service.ended;
  await eventually(() => expect(isRunning(group)).toBe(false));
  expect(service.output()).not.toMatch(/"level":[56]0|Error/);
});
