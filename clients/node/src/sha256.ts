// SHA-256 in one call, because an assignment is needed at once and crypto.subtle only answers later, and only on https.
// Written to be small, as it travels in the browser script: the constants are worked out instead of listed.

const primes: number[] = [];
for (let candidate = 2; !primes[63]; candidate++) {
  if (primes.every((prime) => candidate % prime)) primes.push(candidate);
}

/** The first 32 bits of the fractions of roots of primes: they start the digest and stir each round. */
const fractionsOfRoots = (degree: number): number[] => primes.map((prime) => (prime ** (1 / degree) * 2 ** 32) | 0);

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

type State = [number, number, number, number, number, number, number, number, ...number[]];

/** The digest as eight words of 32 bits, signed. */
export const sha256 = (bytes: Uint8Array): number[] => {
  // A bit that is set, and the length in bits, end the text in blocks of 16 words.
  const size = ((bytes.length + 72) >> 6) << 4;
  const text = Array(size).fill(0);
  // Of what a word is shifted by, the last five bits count: 24, 16, 8, 0, and again.
  [...bytes, 128].map((byte, index) => (text[index >> 2] |= byte << (24 - 8 * index)));
  text[size - 1] = bytes.length * 8;

  let digest = fractionsOfRoots(2).slice(0, 8);
  for (let block = 0; block < size; block += 16) {
    const words: number[] = text.slice(block, block + 16);
    let state = digest as State;
    fractionsOfRoots(3).forEach((constant, round) => {
      const early = words[round - 15] as number;
      const late = words[round - 2] as number;
      const first = state[0];
      const fifth = state[4];
      // The first 16 words are the text's, and the others follow from them.
      words[round] ??=
        ((words[round - 16] as number) +
          (words[round - 7] as number) +
          (rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)) +
          (rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10))) |
        0;
      constant +=
        (words[round] as number) +
        state[7] +
        (rotate(fifth, 6) ^ rotate(fifth, 11) ^ rotate(fifth, 25)) +
        ((fifth & state[5]) ^ (~fifth & state[6]));
      // Every word moves on by one; what is behind the eighth is not looked at again. Sums of a block stay far below 2^53,
      // so they are exact without being cut to 32 bits, which bitwise operators do by themselves.
      state = [
        constant +
          (rotate(first, 2) ^ rotate(first, 13) ^ rotate(first, 22)) +
          ((first & state[1]) | (state[2] & (first | state[1]))),
        ...state,
      ];
      state[4] += constant;
    });
    digest = digest.map((word, index) => (word + (state[index] as number)) | 0);
  }
  return digest;
};
