// Entry of the script: the functions of `window.service` (none throws), the replay of calls made
// before it was loaded, and page views.
import { choice } from './choice.js';
import { isAllowed } from './consent.js';
import { forgetIdentity } from './identity.js';
import { flush, leave } from './queue.js';
import { type PageFunction, report, service, settings, trackUrl } from './settings.js';
import { consentEntry } from './storage.js';
import { address, identify, PAGE_VIEW, track } from './track.js';

declare global {
  interface Document {
    /** Whether the browser has prerendered the page. */
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

/** Sends one page view per address change. */
const view = guard(() => {
  // `#section` is the same page, `#/route` is a different one.
  const page = address().split(/#(?!\/)/)[0];
  if (settings.auto === 'false' || document.prerendering || !isAllowed() || page === viewed) return;
  track(PAGE_VIEW, { previous_url: viewed });
  viewed = page;
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
    // Without consent this only drops the queue.
    leave();
    forgetIdentity();
  },
  /** Mark of a loaded script with this key and destination. */
  [trackUrl]: track,
  /** A call that the stub recorded before the script was loaded. */
  push: ([name, ...args]: [string, ...unknown[]]) => (service[name] as PageFunction)(...args),
};

// A page may run the tag again, for example when it replaces its body: one copy must send.
if (!service[trackUrl]) {
  for (const name in functions) service[name] = guard(functions[name] as PageFunction);
  // Recorded calls come first: one may be optOut.
  (service as unknown as unknown[]).splice?.(0).forEach(service.push as PageFunction);
  view();

  document.addEventListener('prerenderingchange', view);
  // From the back/forward cache: others have been viewed when they load.
  addEventListener('pageshow', () => viewed || view());
  // A page that becomes visible again can wait for responses.
  addEventListener('visibilitychange', () => document.hidden && leave());
  addEventListener('pagehide', () => {
    // A page from the back/forward cache counts as a new view.
    viewed = undefined;
    leave();
  });

  if (settings.spa !== 'false') {
    for (const name of ['pushState', 'replaceState'] as const) {
      const change = history[name];
      history[name] = (...args) => {
        change.apply(history, args);
        // Delay: the page may set its new title, or redirect.
        setTimeout(view);
      };
    }
    addEventListener('popstate', () => setTimeout(view));
  }
}
