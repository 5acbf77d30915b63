// Backup and restore into an empty folder: keys, events, profiles and queued jobs are the same.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { eventually } from '../support/eventually.js';
import { startStandalone, type TestStandalone } from '../support/stack-standalone.js';
import { track } from '../support/track.js';

const root = mkdtempSync(join(tmpdir(), 'event-analytics-e2e-'));
const original = join(root, 'original');
const restored = join(root, 'restored');
const archive = join(root, 'backup.tar.gz');
let running: TestStandalone | undefined;

async function stop(): Promise<void> {
  running?.signal('SIGTERM');
  await running?.ended();
  running = undefined;
}

afterAll(async () => {
  await stop();
  rmSync(root, { recursive: true, force: true });
});

function run(
  command: 'backup' | 'restore',
  dataDirectory: string,
  file = archive,
): { status: number | null; said: string } {
  const { status, stderr } = spawnSync(process.execPath, ['dist/cli/backup.js', command, file], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, DATA_DIR: dataDirectory },
    encoding: 'utf8',
  });
  return { status, said: stderr };
}

async function count(url: string, key: string): Promise<unknown> {
  const body = JSON.stringify({ q: 'signup | last 1d | count', format: 'json' });
  const response = await fetch(`${url}/query`, { method: 'POST', headers: { 'X-API-Key': key }, body });
  return ((await response.json()) as { rows?: { value: number }[] }).rows?.[0]?.value;
}

test('a restored backup has the keys, events, profiles and queued jobs of the original', async () => {
  running = await startStandalone({ dataDirectory: original });
  const file = await running.ready();
  await track(file.url, file.public_key, { events: [{ event_type: 'signup' }, { event_type: 'signup' }] });
  expect(run('backup', original).said).toContain('is in use by another instance');
  await stop();

  expect(run('backup', original)).toMatchObject({ status: 0 });
  expect(statSync(archive).mode & 0o077).toBe(0);
  expect(run('backup', original).said).toContain('exists already');
  expect(run('restore', original).said).toContain('is not empty');
  expect(run('restore', restored)).toMatchObject({ status: 0 });
  rmSync(original, { recursive: true });

  running = await startStandalone({ dataDirectory: restored });
  const { url, secret_key: key } = await running.ready();
  expect(key).toBe(file.secret_key);
  await eventually(async () => expect(await count(url, key)).toBe(2));
});
