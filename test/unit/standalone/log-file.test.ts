// Log files of child processes: append and rotation.
import {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LogFile } from '../../../standalone/log-file.js';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'log-file-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('LogFile appends after a restart', () => {
  const path = join(directory, 'logs', 'web.log');
  for (const line of ['first', 'second']) {
    const log = new LogFile(path);
    log.write(line);
    log.close();
  }
  expect(readFileSync(path, 'utf8')).toBe('first\nsecond\n');
});

test('LogFile keeps three files of about 10 MiB', () => {
  const log = new LogFile(join(directory, 'web.log'));
  const line = 'x'.repeat(1024 * 1024 - 1);
  for (let written = 0; written < 50; written++) log.write(line);
  log.close();
  const names = readdirSync(directory).sort();
  expect(names).toEqual(['web.log', 'web.log.1', 'web.log.2']);
  const mebibytes = names.map((name) => statSync(join(directory, name)).size / (1024 * 1024));
  // Eleven lines a file, of which the last one has found ten.
  expect(mebibytes).toEqual([6, 11, 11]);
});

test('LogFile goes on after a rotation that failed, and closes no file of another', () => {
  const path = join(directory, 'web.log');
  const log = new LogFile(path);
  log.write('x'.repeat(11 * 1024 * 1024));
  // A file cannot be renamed to a folder.
  writeFileSync(`${path}.1`, '');
  mkdirSync(`${path}.2`);
  log.write('lost');
  // It gets the lowest free descriptor, which is that of a file closed too early.
  const other = openSync(directory, 'r');
  log.write('lost');
  expect(fstatSync(other).isDirectory()).toBe(true);
  closeSync(other);
  rmSync(`${path}.2`, { recursive: true });
  log.write('written');
  log.close();
  expect(readFileSync(path, 'utf8')).toBe('written\n');
});
