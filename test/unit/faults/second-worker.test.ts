// The second worker of a fault run: it does not start once it is stopped.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSecondWorker } from '../../../faults/second-worker.js';
import { SERVICE_ENVIRONMENT_FILE } from '../../../src/platform/paths.js';

test('stop() before the process has started leaves none behind', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'second-worker-'));
  const [mark, preload] = [join(directory, 'started'), join(directory, 'preload.cjs')];
  try {
    writeFileSync(join(directory, SERVICE_ENVIRONMENT_FILE), '{}');
    writeFileSync(preload, `require('node:fs').writeFileSync(${JSON.stringify(mark)}, '');`);
    const worker = startSecondWorker(directory, { NODE_OPTIONS: `--require ${preload}` });
    expect(worker.pid).toBeUndefined();
    await worker.stop();
    expect(existsSync(mark)).toBe(false);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
