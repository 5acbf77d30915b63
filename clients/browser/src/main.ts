// The script as a page sees it: the functions of `window.service`, none of which ever throws, what was called before it
// was there, and page views.
import { choice } from './choice.js';
import { isAllowed } from './consent.js';
import { forgetIdentity } from './identity.js';
import { flush, leave } from './queue.js';
import { type PageFunction, report, service, settings } from './settings.js';
import { consentEntry } from './storage.js';
import { identify, PAGE_VIEW, track } from './track.js';

declare global {
  interface Document {
    /** Whether the browser has loaded the page ahead of its visit, which may never come. */
    readonly prerendering?: boolean;
  }
}

const guard =
  (run: (...args: never[]) => unknown): PageFunction =>
  (...args) => {
    try {
      return run(...(args as never[]));
    } catch (error) {
      report(error);
    }
  };

let viewed: string | undefined;

/** One page view for an address, until it changes. */
const view = guard(() => {
  // `#section` is the same page, `#/route` one of its own.
  const address = location.href.split(/#(?!\/)/)[0];
  if (settings.auto === 'false' || document.prerendering || !isAllowed() || address === viewed) return;
  track(PAGE_VIEW, { previous_url: viewed });
  viewed = address;
});

const functions: Record<string, (...args: never[]) => unknown> = {
  track,
  identify,
  choice,
  flush,
  reset: forgetIdentity,
  optIn: () => {
    consentEntry('true');
    view();
  },
  optOut: () => {
    consentEntry('false');
    // Now that it is refused, this only lets go of what is queued.
    leave();
    forgetIdentity();
  },
  /** A call that the page noted before the script was there. */
  push: ([name, ...args]: [string, ...unknown[]]) => (service[name] as PageFunction)(...args),
};

for (const name in functions) service[name] = guard(functions[name] as PageFunction);
// First what the page asked for, which may be to track nothing.
(service as unknown as unknown[]).splice?.(0).forEach(service.push as PageFunction);
view();

document.addEventListener('prerenderingchange', view);
addEventListener('pageshow', view);
// Also when it is shown again, which does no harm.
addEventListener('visibilitychange', leave);
addEventListener('pagehide', () => {
  // When it comes back out of memory, it is viewed again.
  viewed = undefined;
  leave();
});

if (settings.spa !== 'false') {
  for (const name of ['pushState', 'replaceState'] as const) {
    const change = history[name];
    history[name] = (...args) => {
      change.apply(history, args);
      // The page gets a moment to give itself its new title, and to redirect.
      setTimeout(view);
    };
  }
  addEventListener('popstate', () => setTimeout(view));
}
