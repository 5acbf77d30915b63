// What a backup of a stopped service refuses before it copies anything.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StepProgress } from '../../../src/platform/progress.js';
import { backUpStopped } from '../../../standalone/backup/back-up-stopped.js';
import { openDataDirectory, readOrCreateSecrets } from '../../../standalone/data-directory.js';
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
  expect(existsSync(beside)).toBe(true);
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
