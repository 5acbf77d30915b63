// Computed numbers as an answer shows them.

/**
 * Significant digits of a computed number. A double has nearly 16; a sum of ten million terms loses
 * about three of them, in an order that differs between runs.
 */
export const COMPUTED_DIGITS = 13;

/** 551.5799999999999 → 551.58. Whole numbers stay exact. */
export const roundNumber = (number: number): number =>
  Number.isInteger(number) ? number : Number(number.toPrecision(COMPUTED_DIGITS));
