// Readers of the record formats that sources share. A record that cannot be read is named by its
// line, and reading goes on.

import { isObject, type JsonObject } from '../../platform/json-object.js';
import type { ReadRecord } from '../source.js';
import { peek } from './decode.js';
import type { InputFile } from './input-files.js';
import { readJsonObjects } from './json-values.js';
import { CARRIAGE_RETURN, readLines } from './line-reader.js';

/** Longer lines are refused: the service takes requests of 5 MiB. */
const RECORD_BYTES_MAX = 5 * 1024 * 1024;

/**
 * One JSON object a line. An array of objects, and objects that begin with a line of their own as
 * `jq` writes them, are read as well; the line is then the number of the object. Rejects when the
 * file ends within an object.
 */
export async function* readJsonLines(
  file: InputFile,
  { recordBytesMax = RECORD_BYTES_MAX }: { recordBytesMax?: number } = {},
): AsyncGenerator<ReadRecord<JsonObject>, void, undefined> {
  const { first, all } = await peek(file.open());
  if (IS_OVER_LINES.test(first.toString('utf8').trimStart())) {
    yield* readJsonObjects(all);
    return;
  }
  const lines = readLines(all, { lineBytesMax: recordBytesMax, ...findLineEnd(first) });
  for await (const { text, number: line, isCut, isTerminated } of lines) {
    if (isCut) yield { line, problem: `longer than ${recordBytesMax} bytes` };
    else if (text.trim() !== '') {
      const record = { line, ...tryParseObject(text) };
      if ('problem' in record && !isTerminated && text.startsWith('{')) throw new Error(`line ${line} is not complete`);
      yield record;
    }
  }
}

const IS_OVER_LINES = /^(?:\[|\{[ \t]*[\r\n])/;

/** JSON has neither byte inside of a text. */
const findLineEnd = (first: Buffer): { lineEnd?: number } =>
  first.includes('\r') && !first.includes('\n') ? { lineEnd: CARRIAGE_RETURN } : {};

function tryParseObject(text: string): { value: JsonObject } | { problem: string } {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { value } : { problem: 'not a JSON object' };
  } catch {
    return { problem: 'not JSON' };
  }
}
