// SHA-256 in one call, because an assignment is needed at once and crypto.subtle only answers later, and only on https.
// Written to be small, as it travels in the browser script: the constants are worked out instead of listed.

const primes: number[] = [];
for (let candidate = 2; primes.length < 64; candidate++) {
  if (primes.every((prime) => candidate % prime)) primes.push(candidate);
}

/** The first 32 bits of the fractions of roots of primes: they start the digest and stir each round. */
const fractionsOfRoots = (degree: number): number[] => primes.map((prime) => (prime ** (1 / degree) * 2 ** 32) | 0);

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

/** The digest as eight words of 32 bits, signed. */
export const sha256 = (bytes: Uint8Array): number[] => {
  // A bit that is set, and the length in bits, end the text in blocks of 64 bytes.
  const size = ((bytes.length + 72) >> 6) << 6;
  const text = new DataView(new ArrayBuffer(size));
  [...bytes, 128].map((byte, index) => text.setUint8(index, byte));
  text.setUint32(size - 4, bytes.length * 8);

  let digest = fractionsOfRoots(2).slice(0, 8);
  for (let block = 0; block < size; block += 64) {
    const words: number[] = [];
    let state = digest;
    fractionsOfRoots(3).forEach((constant, round) => {
      // The first 16 words are the text's; what is read here before the start of the array is not used.
      const early = words[round - 15] as number;
      const late = words[round - 2] as number;
      words[round] =
        round < 16
          ? text.getUint32(block + 4 * round)
          : ((words[round - 16] as number) +
              (rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)) +
              (words[round - 7] as number) +
              (rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10))) |
            0;
      const [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
      const mixed =
        h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + constant + (words[round] as number);
      state = [
        (mixed + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)))) | 0,
        a,
        b,
        c,
        (d + mixed) | 0,
        e,
        f,
        g,
      ];
    });
    digest = digest.map((word, index) => (word + (state[index] as number)) | 0);
  }
  return digest;
};
