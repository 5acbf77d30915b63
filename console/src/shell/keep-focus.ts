// The browser takes the focus from a control that is disabled while its action runs, without an
// event: it gets the focus back when it is enabled, unless something else has it by then. From a
// control that is removed, the focus goes to what is next to it.

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';

export function keepFocus(): void {
  let last: EventTarget | null = null;
  let disabled: EventTarget | null = null;
  document.addEventListener('focusin', ({ target }) => {
    last = target;
  });
  // A click beside all controls takes the focus from them.
  document.addEventListener('pointerdown', ({ target }) => {
    if (last instanceof Node && !last.contains(target as Node)) last = null;
  });
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      if (!(target instanceof HTMLElement) || target !== last) continue;
      if (target.matches(':disabled')) disabled = target;
      else if (disabled === target && isLost()) target.focus({ preventScroll: true });
    }
    if (last instanceof Element && !last.isConnected && isLost())
      neighbourOf(last, changes)?.focus({ preventScroll: true });
  }).observe(document, { subtree: true, childList: true, attributeFilter: ['disabled'] });
}

const isLost = (): boolean => document.activeElement === document.body;

/** What has come into its place, or the next control, or the one before, or the screen. */
function neighbourOf(gone: Element, changes: readonly MutationRecord[]): HTMLElement | undefined {
  const place = changes.findLast(
    ({ target, removedNodes }) => target.isConnected && [...removedNodes].some((node) => node.contains(gone)),
  );
  if (place === undefined) return undefined;
  const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
  const main = document.getElementById('main');
  let next = place.nextSibling;
  for (let scope = place.target as Element | null; scope !== null && scope !== main; scope = scope.parentElement) {
    const controls = [...scope.querySelectorAll<HTMLElement>(CONTROLS)].filter(
      (each) => !each.matches(':disabled') && each.checkVisibility(),
    );
    const instead = controls.find((each) => added.includes(each) && each.parentElement === place.target);
    const known = controls.filter((each) => !added.some((node) => node.contains(each)));
    const behind = next;
    const found = instead ?? known.find((each) => behind !== null && isAt(behind, each)) ?? known.at(-1);
    if (found !== undefined) return found;
    next = scope.nextSibling;
  }
  return main ?? undefined;
}

/** Whether `node` is the place, in it or behind it. */
const isAt = (place: Node, node: Node): boolean =>
  place === node || (place.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
