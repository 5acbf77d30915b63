// Line reader of the import, for any chunk size.
import { expect, test } from 'vitest';
import { readLines } from '../../../../src/imports/input/line-reader.js';

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function read(text: string | Buffer, size: number) {
  const lines = [];
  for await (const line of readLines(chunksOf(Buffer.from(text), size), { lineBytesMax: 10 })) lines.push(line);
  return lines;
}

const CASES: readonly (readonly [rule: string, text: string, lines: readonly string[]])[] = [
  ['nothing', '', []],
  ['lines', 'a\nb\n', ['a', 'b']],
  ['an empty line', 'a\n\nb\n', ['a', '', 'b']],
  ['the last line without an end', 'a\nb', ['a', 'b']],
  ['carriage returns', 'a\r\nb\r\n', ['a', 'b']],
  ['a byte order mark', '\uFEFFa\n', ['a']],
  ['characters of several bytes', 'яя\nя\n', ['яя', 'я']],
  ['a line beyond the limit', 'abcdefghijKLM\nx\n', ['abcdefghij', 'x']],
];

test.each(CASES)('readLines() for any chunk size: %s', async (_rule, text, expected) => {
  for (const size of [1, 2, 3, 100]) expect((await read(text, size)).map((line) => line.text)).toEqual(expected);
});

test('a line has its number and whether it is terminated or cut', async () => {
  expect(await read('abcdefghijKLM\nx', 4)).toEqual([
    { text: 'abcdefghij', number: 1, isTerminated: true, isCut: true },
    { text: 'x', number: 2, isTerminated: false, isCut: false },
  ]);
});

test('invalid UTF-8 is replaced by U+FFFD', async () => {
  expect((await read(Buffer.from([0x61, 0xff, 0x0a]), 1))[0]?.text).toBe('a\uFFFD');
});
