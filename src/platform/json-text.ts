// Text of JSON bodies: UTF-8 without a byte-order mark, which RFC 8259, section 8.1, lets a parser
// ignore.

export function jsonText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
