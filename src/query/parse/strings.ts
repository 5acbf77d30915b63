// Strings of the query language: what the characters between the quotes mean.

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
]);

/**
 * `literal` is a whole string token, quotes included. A backslash that begins no escape is a backslash: people write regular
 * expressions as they know them, `"^/\d+$"`.
 */
export function unquote(literal: string): string {
  return literal
    .slice(1, -1)
    .replace(/\\(?:u([0-9A-Fa-f]{4})|([\\"'ntr]))/g, (_, hex: string | undefined, sign: string) =>
      hex === undefined ? (ESCAPES.get(sign) ?? sign) : String.fromCharCode(Number.parseInt(hex, 16)),
    );
}

const ESCAPED: ReadonlyMap<string, string> = new Map([...ESCAPES].map(([sign, meant]) => [meant, `\\${sign}`]));

/** A whole string token that means `text`, whatever it holds: the reverse of `unquote`. */
export function quoteText(text: string): string {
  // Control characters and halves of surrogate pairs are spelled, so that the literal is plain text on one line.
  const escaped = text.replace(
    /[\\"\p{Cc}\u2028\u2029]|\p{Cs}/gu,
    (sign) =>
      ESCAPED.get(sign) ??
      (sign === '"' || sign === '\\' ? `\\${sign}` : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
  return `"${escaped}"`;
}
