// The text of a template in pieces: what the author wrote, and the placeholders between. `{{name}}`, `{{name.stage}}`,
// `{{name.fragment}}` and `{{name.<fragment>_fragment}}`. What a placeholder is replaced with is the variable's business.

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string; readonly offset: number }
  | {
      readonly kind: 'placeholder';
      readonly spelling: string;
      readonly name: string;
      /** What stands after the dot; undefined for the plain value. */
      readonly facet: string | undefined;
      readonly offset: number;
    }
  /** A placeholder inside of quotes, where it would not be replaced, or one that is misspelled. */
  | { readonly kind: 'mistake'; readonly isQuoted: boolean; readonly spelling: string; readonly offset: number };

// The strings and comments of the query language, told from the rest exactly as its lexer does (grammar/query.grammar):
// a value that were placed inside of quotes would end them.
const TOKEN =
  /(?<string>"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*')|(?<comment>#[^\n\r]*)|\{\{(?<inside>[^{}]*)\}\}/g;
const INSIDE = /^\s*(?<name>[a-z][a-z0-9_]*)(?:\.(?<facet>[a-z][a-z0-9_]*))?\s*$/;
const IN_STRING = /\{\{\s*[a-z][a-z0-9_.]*\s*\}\}/;

export function parseTemplate(template: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const match of template.matchAll(TOKEN)) {
    const part = toPart(match);
    if (part === undefined) continue;
    if (match.index > end) parts.push({ kind: 'text', text: template.slice(end, match.index), offset: end });
    parts.push(part);
    end = match.index + match[0].length;
  }
  if (end < template.length) parts.push({ kind: 'text', text: template.slice(end), offset: end });
  return parts;
}

function toPart({ 0: spelling, index: offset, groups = {} }: RegExpExecArray): TemplatePart | undefined {
  if (groups.comment !== undefined) return undefined;
  if (groups.string !== undefined) {
    const quoted = IN_STRING.exec(spelling);
    if (quoted === null) return undefined;
    return { kind: 'mistake', isQuoted: true, spelling: quoted[0], offset };
  }
  const inside = INSIDE.exec(groups.inside ?? '')?.groups;
  if (inside?.name === undefined) return { kind: 'mistake', isQuoted: false, spelling, offset };
  return { kind: 'placeholder', spelling, name: inside.name, facet: inside.facet, offset };
}

/** What of a fragment would reach into the text behind it, and swallow a placeholder or set it free. */
export function findOpenEnd(fragment: string): string | undefined {
  if ([...fragment.matchAll(TOKEN)].some(({ groups }) => groups?.comment !== undefined)) return 'a comment';
  return /["']/.test(fragment.replaceAll(TOKEN, '')) ? 'a quote that is not closed' : undefined;
}
