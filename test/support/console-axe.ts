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
  expect(await page.evaluate<string[]>(ONLY_BY_MOUSE), `without a keyboard's way: ${page.url()}`).toEqual([]);
  for (const width of [360, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findingsOf(visited), page.url()).toEqual([]);
    await expectNoSidewaysScroll(visited);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await findingsOf(visited, { runOnly: ['color-contrast'] }), `dark, ${page.url()}`).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
  await expectRoomForLargeText(visited);
}

/**
 * Elements that React calls on a click, but that are, contain and belong to no control: marks in a
 * picture, for example. Their listeners stand in the properties that React keeps on an element.
 */
const ONLY_BY_MOUSE = `(() => {
  const CONTROLS = 'a[href], button, input, select, textarea, summary, label, [tabindex], [contenteditable=true]';
  const listens = (element) => {
    const key = Object.keys(element).find((name) => name.startsWith('__reactProps$'));
    return key !== undefined && typeof element[key]?.onClick === 'function';
  };
  return [...document.body.querySelectorAll('*')]
    .filter((element) => listens(element) && element.closest(CONTROLS) === null && element.querySelector(CONTROLS) === null)
    .map((element) => element.outerHTML.slice(0, 160)).slice(0, 8);
})()`;

/**
 * At 200 % of the text size on a desktop, nothing is cut off, no control covers another, and the
 * page does not scroll sideways (WCAG 2.2, 1.4.4).
 */
async function expectRoomForLargeText(visited: ConsoleVisit): Promise<void> {
  const { page } = visited;
  await page.setViewportSize({ width: 1280, height: 800 });
  const browser = await page.context().newCDPSession(page);
  await browser.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } });
  await expectNoSidewaysScroll(visited);
  expect(await page.evaluate<string[]>(CRAMPED), `text at 200 %: ${page.url()}`).toEqual([]);
  await browser.send('Page.setFontSizes', { fontSizes: { standard: 16, fixed: 13 } });
  await browser.detach();
}

/**
 * Text that its own box cuts off, unless a title tells the rest, and controls that share a place.
 */
const CRAMPED = `(() => {
  const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const nameOf = (element) => element.outerHTML.slice(0, 160);
  const SLACK_PX = 2;
  const isCut = (element) => {
    const style = getComputedStyle(element);
    const isTold = element.closest('[title]') !== null || style.clipPath !== 'none';
    return !isTold
      && ((['hidden', 'clip'].includes(style.overflowX) && element.scrollWidth > element.clientWidth + SLACK_PX)
      || (['hidden', 'clip'].includes(style.overflowY) && element.scrollHeight > element.clientHeight + SLACK_PX));
  };
  const texts = [...document.body.querySelectorAll('button, a, label, legend, summary, th, td, h1, h2, h3, h4, p, li, dt, dd, code')];
  const cut = texts.filter((element) => isSeen(element) && isCut(element)).map((element) => 'cut off: ' + nameOf(element));
  const frameOf = (element) => {
    let at = element.parentElement;
    while (at !== null && getComputedStyle(at).overflowX === 'visible') at = at.parentElement;
    return at;
  };
  const controls = [...document.body.querySelectorAll('button, a[href], input, select, textarea')]
    .filter((element) => isSeen(element) && element.closest('[popover], dialog, .cm-editor') === null)
    .map((element) => ({
      element, frame: frameOf(element), box: element.getBoundingClientRect(), position: getComputedStyle(element).position,
    }))
    .filter(({ box, position }) => box.width > SLACK_PX && box.height > SLACK_PX && !['absolute', 'fixed'].includes(position));
  const covered = controls.flatMap((one, index) => controls.slice(index + 1)
    .filter(({ element, box, frame }) => frame === one.frame
      && !one.element.contains(element) && !element.contains(one.element)
      && Math.min(one.box.right, box.right) - Math.max(one.box.left, box.left) > SLACK_PX
      && Math.min(one.box.bottom, box.bottom) - Math.max(one.box.top, box.top) > SLACK_PX)
    .map(({ element }) => nameOf(one.element) + ' covers ' + nameOf(element)));
  return [...cut, ...covered].slice(0, 8);
})()`;

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
