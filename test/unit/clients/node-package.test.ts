// The Node client in runtimes without the modules of Node.js.
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, expect, test, vi } from 'vitest';
import { randomId } from '../../../clients/node/src/random-id.js';
import { packageRoot } from '../../../src/platform/paths.js';

afterEach(() => vi.unstubAllGlobals());

test('the client is bundled for edge runtimes, which have no modules of Node.js', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(packageRoot, 'clients', 'node', 'src', 'index.ts')],
    bundle: true,
    platform: 'neutral',
    write: false,
    logLevel: 'silent',
  });
  expect(outputFiles[0]?.text).not.toMatch(/from "node:|process\.\w/);
});

test('ids are random with the global crypto, and without it as in Node 18', () => {
  const ids = new Set<string>();
  for (let n = 0; n < 100; n += 1) {
    if (n === 50) vi.stubGlobal('crypto', undefined);
    ids.add(randomId());
  }
  expect(ids.size).toBe(100);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});
