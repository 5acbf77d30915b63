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
    await expectNoSidewaysScroll(visited);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await findingsOf(visited, { runOnly: ['color-contrast'] }), `dark, ${page.url()}`).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** A page that is too wide fails with its address, width and the element that reaches furthest. */
export async function expectNoSidewaysScroll({ page }: ConsoleVisit): Promise<void> {
  expect(await page.evaluate<string[]>(WIDEST), `scrolls sideways: ${page.url()}`).toEqual([]);
}

/** Elements in a box that cuts them off or scrolls by itself do not widen the page. */
const WIDEST = `(() => {
  const { documentElement: root, body } = document;
  if (root.scrollWidth <= innerWidth) return [];
  const isCut = (element) => {
    for (let at = element.parentElement; at !== null && at !== body; at = at.parentElement) {
      if (getComputedStyle(at).overflowX !== 'visible') return true;
    }
    return false;
  };
  const rightOf = (element) => element.getBoundingClientRect().right;
  const all = [...body.querySelectorAll('*')].filter((element) => !isCut(element));
  const widest = all.reduce((most, element) => (rightOf(element) >= rightOf(most) ? element : most), body);
  return [root.scrollWidth + ' of ' + innerWidth + ' px: ' + widest.outerHTML.slice(0, 200)];
})()`;

/** Only findings leave the page: to transfer what passed takes longer than the check itself. */
function findingsOf({ page }: ConsoleVisit, options: { readonly runOnly?: readonly string[] } = {}): Promise<string[]> {
  const run = JSON.stringify({ ...options, resultTypes: ['violations'], selectors: false });
  return page.evaluate<string[]>(`axe.run(${run}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' ; ')))`);
}
