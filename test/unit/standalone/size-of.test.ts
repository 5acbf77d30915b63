// The size of a folder whose content another process changes.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sizeOf } from '../../../standalone/backup/size-of.js';

const root = mkdtempSync(join(tmpdir(), 'size-of-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('counts the files of all folders, and nothing of a folder that does not exist', () => {
  const folder = join(root, 'still', 'deep');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'a'), 'abc');
  writeFileSync(join(root, 'still', 'b'), 'de');
  expect(sizeOf(join(root, 'still'))).toBe(5);
  expect(sizeOf(join(root, 'none'))).toBe(0);
});

test('does not fail while folders come and go', async () => {
  const busy = join(root, 'busy');
  mkdirSync(busy);
  const script = `const fs = require('fs');
    for (let n = 0; ; n += 1) {
      const name = ${JSON.stringify(busy)} + '/' + n;
      if (n === 0) process.stdout.write('begun');
      fs.mkdirSync(name + '/part', { recursive: true });
      fs.rmSync(name, { recursive: true });
    }`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  try {
    for (let n = 0; n < 5000; n += 1) sizeOf(busy);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
});
