// What a backup of a stopped service refuses before it copies anything, and what it has.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StepProgress } from '../../../src/platform/progress.js';
import { backUpStopped } from '../../../standalone/backup/back-up-stopped.js';
import { openDataDirectory, readOrCreateSecrets } from '../../../standalone/data-directory.js';
import { InstanceLock, tryReadLock } from '../../../standalone/instance-lock.js';
import { StartProblem } from '../../../standalone/problem.js';

let folder: string;
let data: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'back-up-stopped-'));
  data = join(folder, 'data');
  readOrCreateSecrets(openDataDirectory(data));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const backUpTo = (archive: string): Promise<string | undefined> =>
  backUpStopped(openDataDirectory(data), archive, {
    progress: new StepProgress({ write: () => {} }),
    signal: new AbortController().signal,
  });

test('a file in the data directory is refused, one beside it is written', async () => {
  const inside = join(data, 'backup.tar.gz');
  await expect(backUpTo(inside)).rejects.toThrow(
    new StartProblem(`${inside} is in ${data}, all of which it would contain: name a file elsewhere.`),
  );
  expect(readdirSync(data).sort()).toEqual(['logs', 'secrets.json']);
  const beside = join(folder, 'data.tar.gz');
  await backUpTo(beside);
  const { stdout } = spawnSync('tar', ['-tf', beside], { encoding: 'utf8' });
  expect(stdout.trim().split('\n').sort()).toEqual(['./', './secrets.json']);
});

test('a service that starts meanwhile is refused, and so is a backup while one runs', async () => {
  const lock = await InstanceLock.take(data);
  const beside = join(folder, 'data.tar.gz');
  await expect(backUpTo(beside)).rejects.toThrow(`${data} is in use by another instance`);
  expect(existsSync(beside)).toBe(false);
  lock.release();
  // Takes longer than the next lines.
  writeFileSync(join(data, 'large'), randomBytes(8_000_000));
  const writing = backUpTo(beside);
  await vi.waitFor(() => expect(tryReadLock(data)).toBeDefined(), { interval: 1, timeout: 10_000 });
  await expect(InstanceLock.take(data)).rejects.toThrow(`${data} is in use by another instance`);
  await writing;
  (await InstanceLock.take(data)).release();
});

test('a folder of an engine that is a link is refused, because the archive would lack its data', async () => {
  mkdirSync(join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'elsewhere'), join(data, 'clickhouse'));
  await expect(backUpTo(join(folder, 'data.tar.gz'))).rejects.toThrow(
    new StartProblem(
      `${join(data, 'clickhouse')} is a link, whose data the file would lack: run the backup while the service runs.`,
    ),
  );
  expect(readdirSync(folder).sort()).toEqual(['data', 'elsewhere']);
});
