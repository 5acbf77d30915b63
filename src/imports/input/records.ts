// Readers of the record formats that sources share. A record that cannot be read is named by its
// line, and reading goes on.

import type { ReadRecord } from '../source.js';
import { isObject, type JsonObject } from '../values.js';
import { peek } from './decode.js';
import type { InputFile } from './input-files.js';
import { readJsonObjects } from './json-values.js';
import { readLines } from './line-reader.js';

/** Longer lines are refused: the service takes requests of 5 MiB. */
const RECORD_BYTES_MAX = 5 * 1024 * 1024;

/** One JSON object a line, or one array of objects, whose line is then the number of the object. */
export async function* readJsonLines(
  file: InputFile,
  { recordBytesMax = RECORD_BYTES_MAX }: { recordBytesMax?: number } = {},
): AsyncGenerator<ReadRecord<JsonObject>, void, undefined> {
  const { first, all } = await peek(file.open());
  if (first.toString('utf8').trimStart().startsWith('[')) {
    yield* readJsonObjects(all);
    return;
  }
  for await (const { text, number: line, isCut } of readLines(all, { lineBytesMax: recordBytesMax })) {
    if (isCut) yield { line, problem: `longer than ${recordBytesMax} bytes` };
    else if (text.trim() !== '') yield { line, ...tryParseObject(text) };
  }
}

function tryParseObject(text: string): { value: JsonObject } | { problem: string } {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { value } : { problem: 'not a JSON object' };
  } catch {
    return { problem: 'not JSON' };
  }
}
