// The form of a new alert or report that the address opens: `#new=…` with what it begins with, the
// query of an alert or the dashboard of a report.
import { useFragment } from '../ask/permalink.js';

/** Null while the form is closed. */
export const useNew = (): string | null => new URLSearchParams(useFragment().replace(/^#/, '')).get('new');

/** Undefined closes it. */
export function openNew(wanted: string | undefined): void {
  history.replaceState(null, '', wanted === undefined ? location.pathname : `#new=${encodeURIComponent(wanted)}`);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

/** State of a link that opens a form from another screen. */
export const LINKED = { isLinked: true } as const;

/** Closes the form, and returns to the screen whose link opened it. */
export function cancelNew(): void {
  if ((history.state as Partial<typeof LINKED> | null)?.isLinked) history.back();
  else openNew(undefined);
}
