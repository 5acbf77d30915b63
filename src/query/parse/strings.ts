// String literals of the query language: escape sequences, the blanks around them, and keys of
// properties that are written as one.

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
]);

/**
 * Decodes a complete string token, quotes included. A backslash that begins no escape is kept, so
 * that regular expressions can be written as usual: `"^/\d+$"`.
 */
export function unquote(literal: string): string {
  return literal
    .slice(1, -1)
    .replace(/\\(?:u([0-9A-Fa-f]{4})|([\\"'ntr]))/g, (_, hex: string | undefined, sign: string) =>
      hex === undefined ? (ESCAPES.get(sign) ?? sign) : String.fromCharCode(Number.parseInt(hex, 16)),
    );
}

/**
 * Blanks and comments become single blanks, except in quoted texts, where they are a part of the
 * value.
 */
export const collapseBlanks = (text: string): string =>
  text.replace(/("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?:\s|#[^\n\r]*)+/gs, (_, quoted?: string) => quoted ?? ' ');

const ESCAPED: ReadonlyMap<string, string> = new Map([...ESCAPES].map(([sign, meant]) => [meant, `\\${sign}`]));

/** Encodes any text as a string token: the inverse of `unquote`. */
export function quoteText(text: string): string {
  // Escape control characters and lone surrogates, so that the literal is plain text on one line.
  const escaped = text.replace(
    /[\\"\p{Cc}\u2028\u2029]|\p{Cs}/gu,
    (sign) =>
      ESCAPED.get(sign) ??
      (sign === '"' || sign === '\\' ? `\\${sign}` : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
  return `"${escaped}"`;
}

const BARE_KEY = /^[A-Za-z0-9_.$-]+$/;

/** Quotes a key that the grammar would not read as one name. */
export function propertyName(prefix: string, key: string): string {
  if (BARE_KEY.test(key)) return `${prefix}.${key}`;
  return `${prefix}.${quoteText(key)}`;
}
