// URL fragment of the definitions: the view, and the line at which the text is opened.

export type DefinitionsView = 'list' | 'edit' | 'versions';

export interface Address {
  readonly view: DefinitionsView;
  readonly line?: number | undefined;
}

export function parseAddress(fragment: string): Address {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  const view = parameters.get('v');
  const line = Number(parameters.get('line'));
  return {
    view: view === 'edit' || view === 'versions' ? view : 'list',
    line: Number.isInteger(line) && line > 0 ? line : undefined,
  };
}

export function toAddress({ view, line }: Address): string {
  if (view === 'list') return '#';
  return `#v=${view}${line === undefined ? '' : `&line=${line}`}`;
}

export function setAddress(address: Address): void {
  history.pushState(null, '', toAddress(address));
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}
