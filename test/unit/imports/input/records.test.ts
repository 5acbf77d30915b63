// Reader of JSON objects of the import: one a line, or elements of one array.
import { expect, test } from 'vitest';
import { readJsonLines } from '../../../../src/imports/input/records.js';
import { inputOf } from '../../../support/imports.js';

const RECORDS = [{ n: 1 }, { n: [{ of: 2 }] }];
const NUMBERED = RECORDS.map((value, index) => ({ line: index + 1, value }));

const read = async (text: string) => {
  const records = [];
  for await (const record of readJsonLines(inputOf(text))) records.push(record);
  return records;
};

test.each([
  ['lines', RECORDS.map((record) => JSON.stringify(record)).join('\n')],
  ['lines of Windows', RECORDS.map((record) => `${JSON.stringify(record)}\r\n`).join('')],
  ['lines of classic Mac OS', RECORDS.map((record) => `${JSON.stringify(record)}\r`).join('')],
  ['objects over many lines', RECORDS.map((record) => `${JSON.stringify(record, undefined, 2)}\n`).join('')],
  ['an array in one line', JSON.stringify(RECORDS)],
  ['an array in many lines, with a byte order mark', `\uFEFF${JSON.stringify(RECORDS, undefined, 2)}\n`],
])('readJsonLines() reads %s', async (_form, text) => {
  expect(await read(text)).toEqual(NUMBERED);
});

test.each(['{"n":1}\n{"n":', '{"n":1}\r{"n":', '{\n"n":1}\n{\n"n"', '[{"n":1},{"n"'])(
  'a file that ends within an object is no whole file: %j',
  async (text) => {
    await expect(read(text)).rejects.toThrow(/^(?:line|object) 2 is not complete$/);
  },
);

test('another line that is not JSON is named, and so is a last one', async () => {
  const problem = 'not JSON';
  expect(await read('{"n":\n{"n":1}\n<html>')).toEqual([
    { line: 1, problem },
    { line: 2, value: { n: 1 } },
    { line: 3, problem },
  ]);
});

test.each(['[{"n":1}]]\n{"n":2}', '{\n"n":1}]\n{"n":2}'])(
  'a bracket too many between objects is named: %j',
  async (text) => {
    expect(await read(text)).toEqual([
      { line: 1, value: { n: 1 } },
      { line: 2, value: { n: 2 } },
      { line: 2, problem: 'not JSON: text outside of the objects' },
    ]);
  },
);

test('after a bracket too many, an array that is not closed is still named', async () => {
  await expect(read('[{"n":1}]]\n[{"n":2}')).rejects.toThrow('the array is not closed after object 2');
});
