// Hexadecimal text of 32-bit words.

/** Eight digits per word, signed or unsigned. */
export const toHex = (words: Iterable<number>): string =>
  [...words].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
