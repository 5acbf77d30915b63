// When text counts as a number: written by the rule that the worker stores by and that the compiler reads by.

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** A whole decimal number, finite, without blanks; no hexadecimals, and no words such as "inf" and "nan". */
export function tryParseNumberText(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}
