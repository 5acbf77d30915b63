// Size of the browser script.
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildBrowserScript } from '../../../clients/browser/build.mjs';

test('the browser script has at most 2,660 bytes compressed, and a source map of its own sources', async () => {
  const { script, map } = await buildBrowserScript();
  expect(gzipSync(script, { level: 9 }).length).toBeLessThanOrEqual(2660);
  expect((JSON.parse(map) as { sources: string[] }).sources).toContain('clients/browser/src/queue.ts');
});
