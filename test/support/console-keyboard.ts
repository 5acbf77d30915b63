// Looks at a page of the console as people do who use no mouse.
import { expect } from 'vitest';
import type { ConsoleVisit } from './console.js';

/**
 * Tab reaches every control that is seen, in a circle, and each shows that it has the focus
 * (WCAG 2.2, 2.1.1, 2.1.2 and 2.4.7).
 */
export async function expectReachByKeyboard({ page }: ConsoleVisit): Promise<void> {
  let controls = await page.evaluate<number>(WATCH);
  // Two more, for the frame of the browser, which has the focus after the last control.
  for (let pressed = 0; pressed < controls + 2; pressed += 1) {
    await page.keyboard.press('Tab');
    // Parts that are loaded meanwhile have controls, too.
    controls = await page.evaluate<number>('window.countControls()');
  }
  expect(await page.evaluate<string[]>('window.focusFindings()'), page.url()).toEqual([]);
}

/** Records what gets the focus. Returns the number of controls. */
const WATCH = `(() => {
  const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex], [contenteditable=true]';
  const isReached = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && element.tabIndex >= 0 && !element.matches(':disabled') && element.closest('[inert]') === null;
  const groupOf = (element) => (element.type === 'radio' ? element.name : '');
  const nameOf = (element) => element.outerHTML.slice(0, 160);
  // A dialog keeps the focus.
  const frame = document.querySelector('dialog:modal') ?? document.body;
  const controlsNow = () => [...frame.querySelectorAll(CONTROLS)].filter(isReached);
  const controls = controlsNow();
  window.countControls = () => controlsNow().length;
  const unmarked = [];
  const reached = new Set();
  document.activeElement?.blur();
  document.addEventListener('focusin', ({ target }) => {
    reached.add(target);
    // The mark may be around the field.
    const marks = [target, target.parentElement, target.parentElement?.parentElement].filter(Boolean);
    const isMarked = marks.some((element) => {
      const style = getComputedStyle(element);
      return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
    });
    // The editor is in a shadow tree, and its caret marks it.
    if (!isMarked && target.shadowRoot === null) unmarked.push('no mark of the focus: ' + nameOf(target));
  });
  window.focusFindings = () => {
    const groups = new Set([...reached].map(groupOf).filter(Boolean));
    // A control that is removed meanwhile, such as an item of a list, counts as reached.
    const missed = controls.filter((element) => element.isConnected && !reached.has(element) && !groups.has(groupOf(element)));
    return [...unmarked, ...missed.map((element) => 'Tab does not reach: ' + nameOf(element))].slice(0, 8);
  };
  return controls.length;
})()`;
