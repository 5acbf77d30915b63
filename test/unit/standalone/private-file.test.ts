// The files of secrets and keys: on disk before they take the place of the earlier ones.
import fs, { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { writePrivateFile } from '../../../standalone/data-directory.js';

test('writePrivateFile() flushes the file before it is renamed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'private-file-'));
  // Not vi.mock(): another file may have loaded the module in this thread.
  const written = vi.spyOn(fs, 'writeFileSync');
  syncBuiltinESMExports();
  try {
    writePrivateFile(join(folder, 'secrets.json'), { key: 'value' });
    expect(JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'))).toEqual({ key: 'value' });
    const options = { mode: 0o600, flush: true };
    expect(written).toHaveBeenCalledWith(join(folder, 'secrets.json.new'), expect.any(String), options);
  } finally {
    written.mockRestore();
    syncBuiltinESMExports();
    rmSync(folder, { recursive: true });
  }
});
