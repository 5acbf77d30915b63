// Looks at a page of the console as axe does, on a phone and on a desktop, light and dark.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'vitest';
import type { ConsoleVisit } from './console.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** No finding, and no sideways scroll. */
export async function expectNoFindings(visited: ConsoleVisit): Promise<void> {
  const { page } = visited;
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(AXE);
  for (const width of [360, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findingsOf(visited), page.url()).toEqual([]);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await findingsOf(visited, { runOnly: ['color-contrast'] }), `dark, ${page.url()}`).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Only findings leave the page: to transfer what passed takes longer than the check itself. */
function findingsOf({ page }: ConsoleVisit, options: { readonly runOnly?: readonly string[] } = {}): Promise<string[]> {
  const run = JSON.stringify({ ...options, resultTypes: ['violations'], selectors: false });
  return page.evaluate<string[]>(`axe.run(${run}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' ; ')))`);
}
