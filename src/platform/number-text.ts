// The rule for text that counts as a number, shared by the worker, which stores by it, and the
// compiler, which reads by it.

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** Matches a finite decimal number without blanks; no hexadecimal, no "inf" or "nan". */
export function tryParseNumberText(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** The number of a cell of an answer, also as text; null for anything else. */
export function numberOfCell(cell: unknown): number | null {
  if (typeof cell === 'string') return tryParseNumberText(cell) ?? null;
  return typeof cell === 'number' ? cell : null;
}
