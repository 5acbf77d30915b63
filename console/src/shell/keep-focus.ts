// A control that is disabled while its action runs loses the focus in Chromium, without an event:
// it gets the focus back when it is enabled, unless something else has it by then.

export function keepFocus(): void {
  let last: EventTarget | null = null;
  let disabled: EventTarget | null = null;
  document.addEventListener('focusin', ({ target }) => {
    last = target;
  });
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      if (!(target instanceof HTMLElement) || target !== last) continue;
      if (target.matches(':disabled')) disabled = target;
      else if (disabled === target && document.activeElement === document.body) target.focus({ preventScroll: true });
    }
  }).observe(document, { subtree: true, attributeFilter: ['disabled'] });
}
