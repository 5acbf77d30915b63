// Permalink of a query: reads and writes the URL fragment, which browsers never send to the server:
// #q=…&tz=…&view=…
import { useSyncExternalStore } from 'react';

export type View = 'chart' | 'table';

export interface Asked {
  readonly q: string;
  /** Absent: the zone of the project. */
  readonly tz?: string | undefined;
  readonly view?: View | undefined;
}

export function toFragment({ q, tz, view }: Asked): string {
  const parameters = new URLSearchParams({ q });
  if (tz !== undefined) parameters.set('tz', tz);
  if (view === 'table') parameters.set('view', view);
  return `#${parameters}`;
}

export function parseFragment(fragment: string): Asked {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  return {
    q: parameters.get('q') ?? '',
    tz: parameters.get('tz') ?? undefined,
    view: parameters.get('view') === 'table' ? 'table' : undefined,
  };
}

/**
 * The last two are events of wouter: a link to the same screen drops the fragment without a
 * `hashchange`.
 */
const CHANGES = ['hashchange', 'popstate', 'pushState', 'replaceState'];

function subscribe(listen: () => void): () => void {
  for (const change of CHANGES) window.addEventListener(change, listen);
  return () => {
    for (const change of CHANGES) window.removeEventListener(change, listen);
  };
}

export const useFragment = (): string => useSyncExternalStore(subscribe, () => location.hash);

/** `replace` for what is no step of its own, such as the view. */
export function setFragment(asked: Asked, { replace = false } = {}): void {
  const fragment = toFragment(asked);
  if (fragment === location.hash) return;
  if (replace) history.replaceState(null, '', fragment);
  else history.pushState(null, '', fragment);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}
