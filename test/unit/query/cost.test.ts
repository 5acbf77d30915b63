// Bounds of compilation work: the number of problems reported, and of parser recoveries.
// test/slow/query/cost.test.ts measures the time.
import { expect, test, vi } from 'vitest';
import { parser } from '../../../grammar/parser.js';
import { QUERY_BYTES_MAX } from '../../../src/query/limits.js';
import { scan } from '../../../src/query/parse/scan.js';
import { problemsOf } from './compiling.js';
import { NASTY_TEXTS } from './nasty-texts.js';

const texts = Object.entries(NASTY_TEXTS);
const PROBLEMS_MAX = 20;
const RECOVERED_TOKENS_MAX = 501;
const RECOVERED_CHARACTERS_MAX = 4_000;

/** Compiles each text once and records its problems and the texts that the parser read. */
const compiled = texts.map(([name, text]) => {
  const parse = vi.spyOn(parser, 'parse');
  const problems = problemsOf(text);
  const parsed = parse.mock.calls.map(([read]) => String(read));
  parse.mockRestore();
  return [name, { text, problems, parsed }] as const;
});

test.each(compiled)('%s: reports a bounded number of problems with position and hint', (_, { text, problems }) => {
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(QUERY_BYTES_MAX);
  expect(problems.length).toBeLessThanOrEqual(PROBLEMS_MAX);
  for (const { message, hint, column } of problems) {
    expect(message.length).toBeLessThan(200);
    expect(hint).not.toBe('');
    expect(column).toBeGreaterThan(0);
  }
});

// A single token may be longer than that.
test.each(compiled)('%s: error recovery reads a bounded part', (_, { parsed }) => {
  for (const read of parsed) {
    const { starts } = scan(read);
    const errorAt = firstErrorOf(read);
    const recovered = starts.filter((start) => start >= errorAt);
    expect(recovered.length).toBeLessThanOrEqual(RECOVERED_TOKENS_MAX);
    expect((recovered.at(-1) ?? 0) - errorAt).toBeLessThanOrEqual(RECOVERED_CHARACTERS_MAX);
  }
});

function firstErrorOf(text: string): number {
  const parsing = parser.configure({ strict: true }).startParse(text);
  try {
    while (!parsing.advance());
    return text.length;
  } catch {
    return parsing.parsedPos;
  }
}
