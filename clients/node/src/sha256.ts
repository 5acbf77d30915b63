// Synchronous SHA-256: crypto.subtle is asynchronous and requires https. Written for size, because
// it is part of the browser script: constants are computed instead of listed.

const primes: number[] = [];
for (let candidate = 2; !primes[63]; candidate++) {
  if (primes.every((prime) => candidate % prime)) primes.push(candidate);
}

/** Initial state and round constants: the first 32 fractional bits of roots of primes. */
const fractionsOfRoots = (degree: number): number[] => primes.map((prime) => (prime ** (1 / degree) * 2 ** 32) | 0);

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

type State = [number, number, number, number, number, number, number, number, ...number[]];

/** Digest as eight signed 32-bit words. */
export const sha256 = (bytes: Uint8Array): number[] => {
  // Padding: a 1 bit, zeros, and the length in bits, to blocks of 16 words.
  const size = ((bytes.length + 72) >> 6) << 4;
  const text = Array(size).fill(0);
  // Shift counts use the last five bits: 24, 16, 8, 0, repeating.
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
      // The first 16 words are the message; the others are derived.
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
      // Shift the state by one word. Sums of a block stay far below 2^53, so they are exact without
      // truncation; bitwise operators truncate to 32 bits.
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
