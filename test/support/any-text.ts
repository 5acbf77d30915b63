// Random texts of any characters. The unit `binary` of fast-check is a table of 1.1 million
// characters, which costs a second of CPU time in each test file.
import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 } as const;
const CODE_POINTS = 0x110000;

/** Every code point that may stand alone. */
const character = fc.nat(CODE_POINTS - SURROGATES.count - 1).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  (text) => {
    const point = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (point === undefined || String.fromCodePoint(point) !== text) throw new Error('this is not one character');
    if (point < SURROGATES.first) return point;
    if (point < SURROGATES.first + SURROGATES.count) throw new Error('a surrogate may not stand alone');
    return point - SURROGATES.count;
  },
);

/** At most so many code points; short texts and names such as `__proto__` are more frequent. */
export const anyText = (maxLength: number): fc.Arbitrary<string> => fc.string({ unit: character, maxLength });
