// Reader of CSV of the import, for any chunk size.
import { expect, test } from 'vitest';
import { type CsvRow, readCsv } from '../../../../src/imports/input/csv.js';
import type { ReadRecord } from '../../../../src/imports/source.js';

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function read(text: string, size: number, columns?: readonly string[]): Promise<ReadRecord<CsvRow>[]> {
  const records = [];
  const file = { name: 'events.csv', open: () => chunksOf(Buffer.from(text), size) };
  const [header = ''] = text.replace('\uFEFF', '').split(/\r?\n/);
  const form = { columns: columns ?? header.split(/[,;\t]/) };
  for await (const record of readCsv(file, form)) records.push(record);
  return records;
}

const row = (line: number, value: CsvRow): ReadRecord<CsvRow> => ({ line, value });
const problem = (line: number, text: string): ReadRecord<CsvRow> => ({ line, problem: `not CSV: ${text}` });
const OTHER_COLUMNS = 'another number of columns than the header';

const CASES: readonly (readonly [rule: string, text: string, records: readonly ReadRecord<CsvRow>[]])[] = [
  ['nothing', '', []],
  ['a header alone', 'a,b\n', []],
  ['rows', 'a,b\n1,2\n3,\n', [row(2, { a: '1', b: '2' }), row(3, { a: '3', b: '' })]],
  ['the last row without an end', 'a\n1', [row(2, { a: '1' })]],
  ['carriage returns', 'a,b\r\n1,2\r\n', [row(2, { a: '1', b: '2' })]],
  ['a byte order mark', '\uFEFFa\n1\n', [row(2, { a: '1' })]],
  ['characters of several bytes', 'я\nяя\n', [row(2, { я: 'яя' })]],
  ['quoted delimiters and quotes', 'a,b\n"1,2","say ""x"""\n', [row(2, { a: '1,2', b: 'say "x"' })]],
  ['quotes inside of a field', 'a,b\nx "y" z,2\n', [row(2, { a: 'x "y" z', b: '2' })]],
  [
    'the line at which a row ends',
    'a,b\n1,"x\n\ny"\n3,4\n',
    [row(4, { a: '1', b: 'x\n\ny' }), row(5, { a: '3', b: '4' })],
  ],
  [
    'rows that do not fit the header, in their place',
    'a,b\n1,2\n3\n4,5,6\n\n7,8\n',
    [
      row(2, { a: '1', b: '2' }),
      problem(3, OTHER_COLUMNS),
      problem(4, OTHER_COLUMNS),
      problem(5, OTHER_COLUMNS),
      row(6, { a: '7', b: '8' }),
    ],
  ],
  [
    'the marks of databases for no value',
    'a,b,c,d\nNULL,\\N,\\Nx,"NULLS"\n',
    [row(2, { a: '', b: '', c: '\\Nx', d: 'NULLS' })],
  ],
  ['a short last row that is terminated', 'a,b\n1,2\n3\n', [row(2, { a: '1', b: '2' }), problem(3, OTHER_COLUMNS)]],
  ['a column twice', 'a,a\n1,2\n', [row(2, { a: '2' })]],
];

test.each(CASES)('readCsv() for any chunk size: %s', async (_rule, text, expected) => {
  for (const size of [1, 2, 3, 100]) expect(await read(text, size), `chunks of ${size}`).toEqual(expected);
});

test.each([
  ['a quote', 'a,b\n1,2\n3,"4\n5,6\n', 'the row after line 2 is not complete: a quote is not closed'],
  ['a quote of the first row', 'a,b\n"1', 'the row after line 1 is not complete: a quote is not closed'],
  ['a row', 'a,b,c\n1,2,3\n4,5', 'line 3 is not complete: it has fewer columns than the header'],
])('a file that ends within %s is refused after its rows, for any chunk size', async (_within, text, message) => {
  for (const size of [1, 2, 3, 100]) await expect(read(text, size), `chunks of ${size}`).rejects.toThrow(message);
});

test('the row in which a file ends is named once', async () => {
  const file = { name: 'events.csv', open: () => chunksOf(Buffer.from('a,b,c\n1,2,3\n4\n5,6'), 2) };
  const records: ReadRecord<CsvRow>[] = [];
  const reading = async () => {
    for await (const record of readCsv(file, { columns: ['a'] })) records.push(record);
  };
  await expect(reading()).rejects.toThrow('line 4 is not complete');
  expect(records).toEqual([row(2, { a: '1', b: '2', c: '3' }), problem(3, OTHER_COLUMNS)]);
});

test('a last row of too many columns is no end within a row', async () => {
  expect(await read('a,b\n1,2,3', 100)).toEqual([problem(2, OTHER_COLUMNS)]);
});

test.each([
  ['semicolons', 'a;b\n1,5;"x;y"\n', { a: '1,5', b: 'x;y' }],
  ['tabs', 'a\tb\n1\t2;3\n', { a: '1', b: '2;3' }],
  ['commas, where the header has one', 'a,b;c\n1,2\n', { a: '1', 'b;c': '2' }],
])('columns may be separated by %s', async (_by, text, expected) => {
  expect(await read(text, 100)).toEqual([row(2, expected)]);
});

test('a column may have any name', async () => {
  const [record] = await read('__proto__,constructor\n1,2\n', 100);
  expect(Object.entries((record as { value: CsvRow }).value)).toEqual([
    ['__proto__', '1'],
    ['constructor', '2'],
  ]);
});

test('a quote that is never closed ends at the record limit', async () => {
  const records = await read(`a\n1\n"${'x'.repeat(1024 * 1024 + 1)}\n2\n`, 65_536);
  expect(records[0]).toEqual(row(2, { a: '1' }));
  expect(records[1]).toEqual(problem(3, 'a quote is not closed'));
});

test.each([
  ['several rows', '1,2\n3,4\n'],
  ['one row without an end', '1,2'],
])('a file of %s without a header is refused', async (_of, text) => {
  for (const size of [1, 100]) {
    await expect(read(text, size, ['a', 'c'])).rejects.toThrow(
      'line 1 is not the header, which has a or c: add the line with the names of the columns',
    );
  }
});

test('a header needs one of the columns, in any place', async () => {
  expect(await read('b,a\n1,2\n', 100, ['a', 'c'])).toEqual([row(2, { b: '1', a: '2' })]);
});
