// The files of secrets and keys: on disk before they take the place of the earlier ones.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { writePrivateFile } from '../../../standalone/data-directory.js';

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return { ...fs, writeFileSync: vi.fn(fs.writeFileSync) };
});

test('writePrivateFile() flushes the file before it is renamed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'private-file-'));
  try {
    writePrivateFile(join(folder, 'secrets.json'), { key: 'value' });
    expect(JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'))).toEqual({ key: 'value' });
    const options = { mode: 0o600, flush: true };
    expect(writeFileSync).toHaveBeenCalledWith(join(folder, 'secrets.json.new'), expect.any(String), options);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
