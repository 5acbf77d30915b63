// Escaping HTML templates: a tagged template whose values are escaped unless they are Html
// themselves.

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | readonly Part[];

/**
 * Escapes every value except Html. Lists are joined, undefined becomes empty. Attributes must use
 * double quotes.
 */
export const html = (strings: TemplateStringsArray, ...values: readonly Part[]): Html =>
  new Html(String.raw({ raw: strings }, ...values.map(toText)));

function toText(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return part.map(toText).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
