// Maps a character of a YAML text value to its offset in the document, reversing quotes, escapes,
// folded lines and indentation. Used to locate problems of queries in the document, and to replace
// parts of them there.

/** A scalar as raw source text, and its value. */
export interface RawText {
  readonly type: 'PLAIN' | 'QUOTE_SINGLE' | 'QUOTE_DOUBLE' | 'BLOCK_LITERAL' | 'BLOCK_FOLDED';
  readonly raw: string;
  readonly value: string;
}

/** The offset in `raw` of the character at `offset` of `value`. */
export function offsetInRaw(text: RawText, offset: number): number {
  const isBlock = text.type === 'BLOCK_LITERAL' || text.type === 'BLOCK_FOLDED';
  return isBlock ? offsetInBlock(text, offset) : offsetInFlow(text, offset);
}

/** A part of a value as it is written in a scalar of this type. */
export function escapeInRaw(type: RawText['type'], text: string): string {
  if (type === 'QUOTE_SINGLE') return text.replaceAll("'", "''");
  return type === 'QUOTE_DOUBLE' ? text.replace(/["\\]/g, '\\$&') : text;
}

const isBlank = (sign: string | undefined): boolean => sign !== undefined && /\s/.test(sign);

/**
 * Blocks have no escapes: only whitespace differs, so runs of whitespace correspond to each other.
 */
function offsetInBlock({ raw, value }: RawText, offset: number): number {
  let at = raw.indexOf('\n') + 1;
  while (isBlank(raw[at]) && !isBlank(value[0])) at++;
  for (let index = 0; index < offset; ) {
    if (isBlank(value[index])) {
      while (index < offset && isBlank(value[index])) index++;
      // The last blank of a run precedes the next word, whatever was folded or indented in between.
      if (index === offset && isBlank(value[index])) return at;
      while (isBlank(raw[at])) at++;
    } else {
      index++;
      at++;
    }
  }
  return at;
}

const ESCAPE = /\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|\r?\n[ \t]*|[\s\S])/uy;
const FOLD = /[ \t]*\r?\n\s*/uy;

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function offsetInFlow({ type, raw }: RawText, offset: number): number {
  let at = type === 'PLAIN' ? 0 : 1;
  for (let index = 0; index < offset && at < raw.length; ) {
    const step = stepInFlow(type, raw, at);
    at += step.raw;
    index += step.value;
  }
  return at;
}

/** How many characters the next piece takes in the raw text, and in the value. */
function stepInFlow(type: RawText['type'], raw: string, at: number): { raw: number; value: number } {
  const fold = matchAt(FOLD, raw, at);
  // One line break is a blank; of several, the first is dropped.
  if (fold !== undefined) return { raw: fold.length, value: Math.max(1, fold.split('\n').length - 2) };
  if (type === 'QUOTE_SINGLE' && raw.startsWith("''", at)) return { raw: 2, value: 1 };
  const escaped = type === 'QUOTE_DOUBLE' ? matchAt(ESCAPE, raw, at) : undefined;
  if (escaped === undefined) return { raw: 1, value: 1 };
  if (escaped.includes('\n')) return { raw: escaped.length, value: 0 };
  const isAstral = escaped.startsWith('\\U') && Number.parseInt(escaped.slice(2), 16) > 0xffff;
  return { raw: escaped.length, value: isAstral ? 2 : 1 };
}
