// Copies of the stores that a backup has left in the data directory: removed, unless it runs.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { engineStageOf, removeLeftCopies, STAGE_FOLDER } from '../../../standalone/backup/left-copies.js';
import { type DataDirectory, locateDataDirectory } from '../../../standalone/data-directory.js';
import { InstanceLock } from '../../../standalone/instance-lock.js';

let directory: DataDirectory;
let copies: readonly string[];

beforeEach(() => {
  directory = locateDataDirectory(mkdtempSync(join(tmpdir(), 'left-copies-')));
  copies = [join(directory.path, STAGE_FOLDER), engineStageOf(directory)];
  for (const copy of copies) mkdirSync(join(copy, 'postgres'), { recursive: true });
});

afterEach(() => rmSync(directory.path, { recursive: true, force: true }));

test('the copies of a killed backup are removed, and nothing else', () => {
  removeLeftCopies(directory);
  expect(copies.filter(existsSync)).toEqual([]);
  expect(existsSync(directory.clickhouse)).toBe(true);
});

test('the copies of a running backup are left alone', async () => {
  const lock = await InstanceLock.take(String(copies[0]));
  removeLeftCopies(directory);
  expect(copies.filter(existsSync)).toEqual(copies);
  lock.release();
});
