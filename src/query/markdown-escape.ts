// Escapes text from events, profiles and queries for a Markdown document: a table cell, a heading,
// a line. The text cannot end its cell or line, and no renderer creates a link, an image, HTML or
// emphasis from it. Invisible characters become visible escapes (`\u202e`), so that a language
// model reads nothing that a person does not see.
//
// Only characters that would have an effect are escaped, because people read the raw text as well:
// `https://x.com/a_b?c=d` is unchanged. GitHub turns a bare URL into a link. That is accepted: it
// shows its target, and nothing is fetched before a person follows it, unlike with
// `[bank](http://…)` and `![](http://…)`.

/** Text without any of these needs no escape. */
const SUSPICIOUS = /[^\x20-\x7e]|[\\|[\]<`*~_&]/;

/**
 * Control characters, line and paragraph separators, and characters without a glyph: bidi controls,
 * zero widths, tags.
 */
const INVISIBLE = '[\\p{Cc}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\uFFF9-\\uFFFB]';
/**
 * Joiners between letters of scripts without case or between parts of an emoji, and variation
 * selectors of emojis.
 */
export const IN_PLACE =
  '(?<=[\\p{Lo}\\p{M}\\p{Extended_Pictographic}\\p{Emoji_Modifier}])[\\u200C\\u200D](?=[\\p{Lo}\\p{Extended_Pictographic}])' +
  '|(?<=\\p{Emoji})[\\uFE0E\\uFE0F]';
/** Emphasis ends only after a non-space character, and that of `_` not inside a word. */
const EMPHASIS_END = '(?<=[^\\p{Zs}\\t])(?:[*~]|_(?![\\p{L}\\p{N}])|_(?=\\p{Default_Ignorable_Code_Point}))';
const MARKUP = `[\\\\[\\]<\`]|${EMPHASIS_END}|&(?=#?\\w+;)`;

const ESCAPED = new RegExp(`(?<kept>${IN_PLACE})|(?<break>\\r\\n|\\r|\\n)|(?<invisible>${INVISIBLE})|${MARKUP}`, 'gu');

/** Escapes text of a heading or in the middle of a line. */
export function escapeMarkdown(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  return text.replace(ESCAPED, (found, ...rest) => {
    const { kept, break: lineBreak, invisible } = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    if (kept !== undefined) return kept;
    if (lineBreak !== undefined) return '\\n';
    if (invisible === undefined) return `\\${found}`;
    return invisible === '\t' ? ' ' : toEscape(invisible);
  });
}

export const escapeCell = (text: string): string => escapeMarkdown(text).replaceAll('|', '\\|');

/** For a separate line, which could otherwise begin a heading, a list, a quotation or a fence. */
export const escapeLine = (text: string): string =>
  escapeMarkdown(text.trimStart())
    .replace(/^[#>+=*~-]/, '\\$&')
    .replace(/^(\d+)(?=[.)])/, '$1\\');

const HIDDEN = new RegExp(`(?<kept>${IN_PLACE})|(?<invisible>${INVISIBLE})`, 'gu');

/** Only makes invisible characters visible, for texts that are not shown as Markdown. */
export function revealInvisible(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  return text.replace(HIDDEN, (found, ...rest) => {
    const { kept, invisible } = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    return kept !== undefined || invisible === undefined ? found : toEscape(invisible);
  });
}

/** In the syntax of query strings: `\u202e`. */
function toEscape(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
