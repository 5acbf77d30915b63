// Tokens of a text, without the tables of a tokenizer.

/**
 * Upper bound of the number of tokens with common tokenizers: one for each sign, each three digits,
 * and each four letters of a word.
 */
export const countTokens = (said: string): number =>
  [...said.matchAll(/[A-Za-z]+|\d{1,3}|[^\sA-Za-z\d]/g)].reduce(
    (sum, [piece]) => sum + (/[A-Za-z]/.test(piece) ? Math.ceil(piece.length / 4) : 1),
    0,
  );
