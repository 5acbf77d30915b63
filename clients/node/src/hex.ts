// Words of 32 bits as text.

/** Eight digits for each word, signed or not. */
export const toHex = (words: Iterable<number>): string =>
  [...words].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
