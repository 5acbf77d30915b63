// Parses a template into text and placeholders: `{{name}}`, `{{name.stage}}`, `{{name.fragment}}`
// and `{{name.<fragment>_fragment}}`. fill-template.ts replaces them.
import { unquote } from '../query/parse/strings.js';

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string; readonly offset: number }
  | {
      readonly kind: 'placeholder';
      readonly raw: string;
      readonly name: string;
      /** What follows the dot; undefined for the plain value. */
      readonly facet: string | undefined;
      /** The quoted text around it, which is a part of the placeholder, and its decoded parts. */
      readonly literal?: { readonly text: string; readonly before: string; readonly after: string };
      /** The word `last` before it, with blanks, which is a part of the placeholder. */
      readonly last?: string;
      readonly offset: number;
    }
  /** A placeholder inside quotes that is not one plain value, or an invalid one. */
  | { readonly kind: 'mistake'; readonly isQuoted: boolean; readonly raw: string; readonly offset: number };

// Matches strings and comments exactly as the lexer of the query language does
// (grammar/query.grammar), because a value inserted inside quotes would end them.
const TOKEN =
  /(?<string>"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*')|(?<comment>#[^\n\r]*)|(?<last>(?<![\w.])last\s+(?=\{\{\s*\w+\s*\}\}))?\{\{(?<inside>[^{}]*)\}\}/g;
const INSIDE = /^\s*(?<name>[A-Za-z][A-Za-z0-9_]*)(?:\.(?<facet>[A-Za-z][A-Za-z0-9_]*))?\s*$/;
const IN_STRING = /\{\{\s*(?<name>[A-Za-z][A-Za-z0-9_]*)(?<facet>\.[A-Za-z0-9_.]*)?\s*\}\}/g;

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
    return toLiteral(raw, offset);
  }
  const inside = INSIDE.exec(groups.inside ?? '')?.groups;
  if (inside?.name === undefined) return { kind: 'mistake', isQuoted: false, raw, offset };
  const { last } = groups;
  const placeholder = { kind: 'placeholder', name: inside.name, facet: inside.facet, offset } as const;
  return last === undefined ? { ...placeholder, raw } : { ...placeholder, raw: raw.slice(last.length), last };
}

/** The quotes are decoded, so that a backslash before the value cannot become a part of it. */
function toLiteral(text: string, offset: number): TemplatePart | undefined {
  const [found, another] = text.matchAll(IN_STRING);
  if (found?.groups?.name === undefined) return undefined;
  const { 0: raw, index, groups } = found;
  if (another !== undefined || groups.facet !== undefined) return { kind: 'mistake', isQuoted: true, raw, offset };
  const quote = text.charAt(0);
  const before = unquote(text.slice(0, index) + quote);
  const after = unquote(quote + text.slice(index + raw.length));
  return {
    kind: 'placeholder',
    raw,
    name: groups.name as string,
    facet: undefined,
    literal: { text, before, after },
    offset,
  };
}

/**
 * An unclosed end of a fragment, which would extend into the following text and hide or expose a
 * placeholder.
 */
export function findOpenEnd(fragment: string): string | undefined {
  if ([...fragment.matchAll(TOKEN)].some(({ groups }) => groups?.comment !== undefined)) return 'a comment';
  return /["']/.test(fragment.replaceAll(TOKEN, '')) ? 'a quote that is not closed' : undefined;
}
