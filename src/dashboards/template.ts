// Parses a template into text and placeholders: `{{name}}`, `{{name.stage}}`, `{{name.fragment}}`
// and `{{name.<fragment>_fragment}}`. fill-template.ts replaces them.

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string; readonly offset: number }
  | {
      readonly kind: 'placeholder';
      readonly raw: string;
      readonly name: string;
      /** What follows the dot; undefined for the plain value. */
      readonly facet: string | undefined;
      readonly offset: number;
    }
  /** A placeholder inside quotes, where it is not replaced, or an invalid one. */
  | { readonly kind: 'mistake'; readonly isQuoted: boolean; readonly raw: string; readonly offset: number };

// Matches strings and comments exactly as the lexer of the query language does
// (grammar/query.grammar), because a value inserted inside quotes would end them.
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

function toPart({ 0: raw, index: offset, groups = {} }: RegExpExecArray): TemplatePart | undefined {
  if (groups.comment !== undefined) return undefined;
  if (groups.string !== undefined) {
    const quoted = IN_STRING.exec(raw);
    if (quoted === null) return undefined;
    return { kind: 'mistake', isQuoted: true, raw: quoted[0], offset };
  }
  const inside = INSIDE.exec(groups.inside ?? '')?.groups;
  if (inside?.name === undefined) return { kind: 'mistake', isQuoted: false, raw, offset };
  return { kind: 'placeholder', raw, name: inside.name, facet: inside.facet, offset };
}

/**
 * An unclosed end of a fragment, which would extend into the following text and hide or expose a
 * placeholder.
 */
export function findOpenEnd(fragment: string): string | undefined {
  if ([...fragment.matchAll(TOKEN)].some(({ groups }) => groups?.comment !== undefined)) return 'a comment';
  return /["']/.test(fragment.replaceAll(TOKEN, '')) ? 'a quote that is not closed' : undefined;
}
