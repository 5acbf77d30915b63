// Looks at a page of the console as axe does, on a phone and on a desktop, light and dark.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'vitest';
import type { ConsoleVisit } from './console.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** No finding, and no sideways scroll. */
export async function expectNoFindings(visited: ConsoleVisit): Promise<void> {
  const { page } = visited;
  for (const width of [360, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findingsOf(visited, 'axe.run()'), page.url()).toEqual([]);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await findingsOf(visited, 'axe.run({ runOnly: ["color-contrast"] })'), `dark, ${page.url()}`).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

async function findingsOf({ page }: ConsoleVisit, run: string): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResult>(run);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' ; ')}`);
}
