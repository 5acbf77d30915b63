// Strings of the query language: what the characters between the quotes mean.

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
]);

/** `literal` is a whole string token, quotes included. A backslash before any other character means that character. */
export function unquote(literal: string): string {
  return literal
    .slice(1, -1)
    .replace(/\\(?:u([0-9A-Fa-f]{4})|([\s\S]))/g, (_, hex: string | undefined, sign: string) =>
      hex === undefined ? (ESCAPES.get(sign) ?? sign) : String.fromCharCode(Number.parseInt(hex, 16)),
    );
}
