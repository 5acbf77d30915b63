// URL fragment of a dashboard: the view and the values of variables, as in #v=edit&var.plan=pro.
import type { Values } from './api.js';

export type DashboardView = 'cards' | 'edit' | 'versions';

export interface Address {
  readonly view: DashboardView;
  readonly values: Values;
  /** The card whose form is open while the text is edited. */
  readonly card?: string | undefined;
  /** Where the text is opened: `alerts.low`. */
  readonly at?: string | undefined;
}

const PREFIX = 'var.';

export function parseAddress(fragment: string): Address {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  const view = parameters.get('v');
  const values = [...parameters]
    .filter(([name]) => name.startsWith(PREFIX))
    .map(([name, value]): [string, string] => [name.slice(PREFIX.length), value]);
  return {
    view: view === 'edit' || view === 'versions' ? view : 'cards',
    values: Object.fromEntries(values),
    card: parameters.get('card') ?? undefined,
    at: parameters.get('at') ?? undefined,
  };
}

export function toAddress({ view, values, card, at }: Address): string {
  const parameters = new URLSearchParams();
  if (view !== 'cards') parameters.set('v', view);
  if (card !== undefined) parameters.set('card', card);
  if (at !== undefined) parameters.set('at', at);
  for (const [name, value] of Object.entries(values)) if (value !== '') parameters.set(PREFIX + name, value);
  return `#${parameters}`;
}

export function setAddress(address: Address): void {
  history.pushState(null, '', toAddress(address));
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}
